import { CodeCell } from '@jupyterlab/cells';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Badges, ErrorButtons } from '../../src/notebook/cell_marks';
import { provenanceMetadata } from '../../src/notebook/provenance';
import { added, edited, failed, finished, moved, output, printed, started } from './events';
import { closeAll, code, type Document, openDocument, Run, trans } from './open_document';

const opened: Document[] = [];

function open(...args: Parameters<typeof openDocument>): Document {
  const document = openDocument(...args);
  opened.push(document);
  return document;
}

afterEach(() => {
  closeAll(opened.splice(0));
});

function texts({ panel }: Document, selector: string): () => (string | undefined)[] {
  return () =>
    panel.content.widgets.map(cell => cell.node.querySelector(selector)?.textContent ?? undefined);
}

describe('badges', () => {
  const marked = (source: string) => ({
    metadata: { cellwright: provenanceMetadata('run-1', 'call-1', source) }
  });

  function withBadges(document: Document): () => (string | undefined)[] {
    const badges = new Badges(document.panel.content, trans);
    document.panel.disposed.connect(() => {
      badges.dispose();
    });
    return texts(document, '.cw-cell-badge');
  }

  it('mark the agent’s cells of a notebook that is opened, and those changed since', async () => {
    const document = open([
      code('a', 'x'),
      code('b', 'y', marked('y')),
      code('c', 'z + 1', marked('z'))
    ]);
    await expect.poll(withBadges(document)).toEqual([undefined, 'AI', 'AI · edited']);
  });

  it('know cells of exports, which do not say what the agent wrote', async () => {
    const document = open([code('a', 'x', { metadata: { cellwright: { origin: 'agent' } } })]);
    await expect.poll(withBadges(document)).toEqual(['AI']);
  });

  it('follow what the person types, and come back with the agent’s text', async () => {
    const document = open([code('a', 'x', marked('x'))]);
    const badges = withBadges(document);
    await expect.poll(badges).toEqual(['AI']);
    document.model.sharedModel.getCell(0).setSource('x2');
    await expect.poll(badges).toEqual(['AI · edited']);
    document.model.sharedModel.getCell(0).setSource('x');
    await expect.poll(badges).toEqual(['AI']);
  });

  it('come with the agent’s work and go when it is taken back', async () => {
    const document = open([code('a', 'x')]);
    const badges = withBadges(document);
    const run = new Run(document.port);
    run.apply(edited('a', 'x', 'x = 1'));
    run.apply(added('b'));
    run.apply(moved('b', ''));
    await expect.poll(badges).toEqual(['AI', 'AI']);
    document.port.undo('run-1');
    await expect.poll(badges).toEqual([undefined]);
  });

  it('go when cellwright is switched off', async () => {
    const document = open([code('a', 'x', marked('x'))]);
    const badges = new Badges(document.panel.content, trans);
    await expect.poll(texts(document, '.cw-cell-badge')).toEqual(['AI']);
    badges.dispose();
    document.model.sharedModel.insertCell(0, code('b', 'y', marked('y')) as never);
    await expect.poll(() => document.panel.content.widgets.length).toBe(2);
    expect(texts(document, '.cw-cell-badge')()).toEqual([undefined, undefined]);
  });
});

describe('a proposed edit', () => {
  it('shows on its cell as a diff that a screen reader can tell', async () => {
    const document = open([code('a', 'x = 1\ny = 2'), code('b', '')]);
    document.port.propose('a', 'x = 1\ny = 3');
    await expect.poll(texts(document, '.cw-cell-diff')).toEqual([expect.any(String), undefined]);
    const find = (selector: string): Element | null => document.panel.node.querySelector(selector);
    const label = find('.cw-cell-diff[role=group]')?.getAttribute('aria-labelledby');
    expect(find(`#${String(label)}`)?.textContent).toContain('Proposed edit');
    expect(find('del code')?.textContent).toBe('y = 2');
    expect(find('ins code')?.textContent).toBe('y = 3');
  });

  it('spells out what would hide in the text or reorder it', async () => {
    const document = open([code('a', 'x')]);
    document.port.propose('a', 'x # \u202eelif\u200b', true);
    await expect
      .poll(() => document.panel.node.querySelector('ins code')?.textContent)
      .toBe('x # \\u202eelif\\u200b');
  });

  it('keeps the keys that are pressed in it from the notebook', async () => {
    const document = open([code('a', 'x')]);
    document.port.propose('a', 'y');
    const view = (): Element | null =>
      document.panel.node.querySelector('.cw-cell-diff[data-lm-suppress-shortcuts="true"]');
    await expect.poll(view).not.toBeNull();
  });

  it('stands right below the cell’s input', async () => {
    const document = open([code('a', 'x')]);
    document.port.propose('a', 'y');
    await expect.poll(texts(document, '.cw-cell-diff')).toEqual([expect.any(String)]);
    const view = document.panel.node.querySelector('.cw-cell-diff');
    expect(view?.previousElementSibling?.classList).toContain('jp-Cell-inputWrapper');
  });

  it.each([
    ['Accept', true],
    ['Reject', false]
  ])('is answered with %s, and goes', async (label, isAccepted) => {
    const document = open([code('a', 'x')]);
    const answers: unknown[] = [];
    document.port.answered.connect((_, answer) => answers.push(answer));
    document.port.propose('a', 'y');
    const find = (): HTMLButtonElement | undefined =>
      [...document.panel.node.querySelectorAll<HTMLButtonElement>('.cw-cell-diff button')].find(
        button => button.textContent === label
      );
    await expect.poll(find).toBeDefined();
    find()?.click();
    expect(answers, 'it has only just appeared').toEqual([]);
    await expect.poll(() => find()?.ariaDisabled).toBe('false');
    find()?.click();
    expect(answers).toEqual([{ cellId: 'a', isAccepted }]);
    expect(texts(document, '.cw-cell-diff')()).toEqual([undefined]);
  });

  it('is shown anew on a cell that moves, and taken away when it is off the table', async () => {
    const document = open([code('a', 'x'), code('b', 'y')]);
    document.port.propose('a', 'z');
    document.model.sharedModel.moveCell(0, 1);
    await expect.poll(texts(document, '.cw-cell-diff')).toEqual([undefined, expect.any(String)]);
    document.port.propose('a', null);
    expect(texts(document, '.cw-cell-diff')()).toEqual([undefined, undefined]);
  });

  it('of a cell that is gone waits for it to come back', async () => {
    const document = open([code('a', 'x'), code('b', 'y')]);
    document.model.sharedModel.deleteCell(0);
    document.port.propose('a', 'z');
    document.model.sharedModel.undo();
    await expect.poll(texts(document, '.cw-cell-diff')).toEqual([expect.any(String), undefined]);
  });
});

describe('Fix with agent', () => {
  const error = { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: [] };

  it('is offered on cells that failed, asks once, and goes when they run again', async () => {
    const document = open([code('a', 'x', { outputs: [error] }), code('b', 'y')]);
    const fix = vi.fn();
    const buttons = new ErrorButtons(document.panel.content, trans, fix);
    const shown = texts(document, '.cw-cell-error-bar');
    await expect.poll(shown).toEqual(['Fix with agent', undefined]);
    const run = new Run(document.port);
    run.apply(started('a'));
    run.apply(output('a', printed('better')));
    run.apply(finished('a'));
    run.apply(started('b'));
    run.apply(output('b', failed('KeyError', 'k')));
    document.port.cells();
    expect(shown()).toEqual([undefined, undefined]);
    run.apply(finished('b'));
    await expect.poll(shown).toEqual([undefined, 'Fix with agent']);
    const button = document.panel.node.querySelector<HTMLElement>('.cw-cell-error-bar button');
    for (const detail of [1, 2]) {
      button?.dispatchEvent(new MouseEvent('click', { bubbles: true, detail }));
    }
    expect(fix).toHaveBeenCalledOnce();
    expect(fix).toHaveBeenCalledWith(document.panel.content.widgets[1]);
    buttons.dispose();
    expect(shown()).toEqual([undefined, undefined]);
  });

  it('is below the cell’s outputs', async () => {
    const document = open([code('a', 'x', { outputs: [error] })]);
    new ErrorButtons(document.panel.content, trans, () => undefined);
    const bar = (): Element | null => document.panel.node.querySelector('.cw-cell-error-bar');
    await expect.poll(bar).not.toBeNull();
    const cell = document.panel.content.widgets[0];
    expect(cell).toBeInstanceOf(CodeCell);
    expect(bar()?.previousElementSibling?.classList).toContain('jp-Cell-outputWrapper');
  });
});
