import { type NotebookPanel, NotebookTracker } from '@jupyterlab/notebook';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { OpenNotebooks } from '../../src/notebook/registry';
import { PanelSettings } from '../../src/settings';
import { CellMarks } from '../../src/notebook/cell_marks';
import { code, closeAll, type Document, openDocument, openView, trans } from './open_document';

const opened: Document[] = [];

function open(path: string): Document {
  const document = openDocument([code('a', 'x')], { path });
  opened.push(document);
  return document;
}

afterEach(() => {
  closeAll(opened.splice(0));
});

interface Desk {
  readonly tracker: NotebookTracker;
  readonly notebooks: OpenNotebooks;
  readonly show: (panel: NotebookPanel) => Promise<void>;
}

function desk(): Desk {
  const tracker = new NotebookTracker({ namespace: 'test' });
  const options = { trans, follows: () => false, activate: () => undefined };
  const notebooks = new OpenNotebooks(tracker, options);
  const show = async (panel: NotebookPanel): Promise<void> => {
    await tracker.add(panel);
  };
  return { tracker, notebooks, show };
}

describe('the open notebooks', () => {
  it('are known once they are ready, by their path', async () => {
    const { notebooks, show } = desk();
    const added = vi.fn();
    notebooks.added.connect(added);
    await show(open('one.ipynb').panel);
    await show(open('two.ipynb').panel);
    await expect
      .poll(() => notebooks.all.map(({ path }) => path))
      .toEqual(['one.ipynb', 'two.ipynb']);
    expect(added).toHaveBeenCalledTimes(2);
    expect(notebooks.find('two.ipynb')).toBe(notebooks.all[1]);
    expect(notebooks.find('three.ipynb')).toBeNull();
  });

  it('that were open before are known, too', async () => {
    const tracker = new NotebookTracker({ namespace: 'test' });
    await tracker.add(open('one.ipynb').panel);
    const options = { trans, follows: () => false, activate: () => undefined };
    const notebooks = new OpenNotebooks(tracker, options);
    await expect.poll(() => notebooks.all).toHaveLength(1);
  });

  it('have one that the person looks at', async () => {
    const { tracker, notebooks, show } = desk();
    const changed = vi.fn();
    notebooks.currentChanged.connect(changed);
    const one = open('one.ipynb');
    const two = open('two.ipynb');
    await show(one.panel);
    await show(two.panel);
    await expect.poll(() => notebooks.all).toHaveLength(2);
    two.panel.node.dispatchEvent(new FocusEvent('focus'));
    expect(notebooks.current?.panel ?? null).toBe(tracker.currentWidget);
  });

  it('have one port for two views of a document, which outlives the first', async () => {
    const { notebooks, show } = desk();
    const first = open('one.ipynb');
    const second = openView(first);
    await show(first.panel);
    await show(second);
    await expect.poll(() => notebooks.all).toHaveLength(1);
    await new Promise(resolve => setTimeout(resolve));
    expect(notebooks.all).toHaveLength(1);
    first.panel.dispose();
    await expect.poll(() => notebooks.all[0]?.panel).toBe(second);
    second.dispose();
    expect(notebooks.all).toEqual([]);
  });

  it('are let go of when cellwright is', async () => {
    const { notebooks, show } = desk();
    await show(open('one.ipynb').panel);
    await expect.poll(() => notebooks.all).toHaveLength(1);
    const [port] = notebooks.all;
    notebooks.dispose();
    expect(port?.isDisposed).toBe(true);
    await show(open('two.ipynb').panel);
    await new Promise(resolve => setTimeout(resolve));
    expect(notebooks.all).toEqual([]);
  });
});

describe('the marks on cells', () => {
  const error = { output_type: 'error', ename: 'E', evalue: '', traceback: [] };

  it('follow the setting, and the document', async () => {
    const { tracker, show } = desk();
    const document = openDocument([
      code('a', 'x', { outputs: [error], metadata: { cellwright: { origin: 'agent' } } })
    ]);
    opened.push(document);
    const settings = new PanelSettings();
    const said: unknown[] = [];
    const panel = { open: (draft: unknown) => said.push(draft) };
    const marks = new CellMarks({ tracker, panel, trans, settings });
    await show(document.panel);
    const count = (selector: string) => () => document.panel.node.querySelectorAll(selector).length;
    await expect.poll(count('.cw-cell-badge')).toBe(1);
    await expect.poll(count('.cw-cell-error-bar')).toBe(1);
    document.panel.node.querySelector<HTMLElement>('.cw-cell-error-bar button')?.click();
    expect(said).toHaveLength(1);
    setButtons(settings, false);
    expect(count('.cw-cell-error-bar')()).toBe(0);
    setButtons(settings, true);
    await expect.poll(count('.cw-cell-error-bar')).toBe(1);
    marks.dispose();
    expect(count('.cw-cell-badge, .cw-cell-error-bar')()).toBe(0);
  });
});

/** Change the setting as the settings system does. */
function setButtons(settings: PanelSettings, cellButtons: boolean): void {
  settings.follow({
    composite: { cellButtons },
    changed: { connect: () => true, disconnect: () => true }
  } as never);
}
