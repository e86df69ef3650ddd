import { afterEach, describe, expect, it, vi } from 'vitest';

import { sourceHash } from '../../src/notebook/source_hash';
import { added, failed, output, started } from './events';
import { code, closeAll, type Document, openDocument, Run, trans } from './open_document';

const opened: Document[] = [];

function open(...args: Parameters<typeof openDocument>): Document {
  const document = openDocument(...args);
  opened.push(document);
  return document;
}

afterEach(() => {
  closeAll(opened.splice(0));
});

describe('confirming a cell', () => {
  const confirm = (document: Document, id: string, source: string) =>
    document.port.confirm(id, sourceHash(source), 'message');

  it('is done when it is there as expected', async () => {
    const document = open([code('a', 'x = 1')]);
    expect(await confirm(document, 'a', 'x = 1')).toEqual({ ok: true, reason: '', cells: [] });
  });

  it('fails when the person took it away', async () => {
    const confirmed = await confirm(open([code('a', '')]), 'gone', '');
    expect(confirmed).toEqual({ ok: false, reason: 'gone', cells: [] });
  });

  it('fails when the person made text of it', async () => {
    const document = open([{ id: 'a', cell_type: 'markdown', source: 'x', metadata: {} }]);
    expect(await confirm(document, 'a', 'x')).toMatchObject({ ok: false, reason: 'changed' });
  });

  it('fails in a notebook that must not be changed', async () => {
    const document = open([code('a', 'x')]);
    document.context.contentsModel = { writable: false };
    for (const id of ['a', 'never came']) {
      expect(await confirm(document, id, 'x')).toMatchObject({ ok: false, reason: 'read_only' });
    }
  });

  it('fails when the document was closed', async () => {
    const document = open([code('a', 'x')]);
    document.panel.dispose();
    expect(await confirm(document, 'a', 'x')).toMatchObject({ ok: false, reason: 'closed' });
  });
});

describe('the document', () => {
  it('keeps its name through a rename, and tells of it', () => {
    const { context, port } = open([]);
    const changed = vi.fn();
    port.changed.connect(changed);
    const before = port.notebook;
    context.path = 'elsewhere/other.ipynb';
    context.pathChanged.emit(context.path);
    expect(changed).toHaveBeenCalledOnce();
    expect([port.notebook, port.path]).toEqual([before, 'elsewhere/other.ipynb']);
  });

  it('tells of a new kernel, and of nothing that stays as it is', () => {
    const { context, port } = open([]);
    const changed = vi.fn();
    port.changed.connect(changed);
    expect(port.kernelId).toBe('');
    context.sessionContext.session = { kernel: { id: 'kernel-1' } };
    context.sessionContext.kernelChanged.emit({ newValue: null });
    context.sessionContext.kernelChanged.emit({ newValue: null });
    expect(port.kernelId).toBe('kernel-1');
    expect(changed).toHaveBeenCalledOnce();
  });

  it('tells when it was saved, and not when that failed', () => {
    const { context, port } = open([]);
    const saved = vi.fn();
    port.saved.connect(saved);
    for (const state of ['started', 'failed', 'started', 'completed']) {
      context.saveState.emit(state);
    }
    expect(saved).toHaveBeenCalledOnce();
  });

  it('tells when it was closed, and does nothing after that', () => {
    const { panel, port } = open([code('a', 'x')]);
    const closed = vi.fn();
    port.closed.connect(closed);
    port.beginRun('run-1');
    panel.dispose();
    new Run(port).apply(added('new'));
    port.endRun('run-1');
    expect(closed).toHaveBeenCalledOnce();
    expect(port.isDisposed).toBe(true);
  });

  it('says in a line what each cell is about', () => {
    const { port } = open([
      code('a', '\n\n  import pandas\nx'),
      code('b', `value = ${'1'.repeat(100)}`),
      code('c', '')
    ]);
    const run = new Run(port);
    run.apply(started('c'));
    run.apply(output('c', failed('ValueError', 'no')));
    port.cells();
    expect(port.outline().map(({ label }) => label)).toEqual([
      'import pandas',
      `value = ${'1'.repeat(51)}…`,
      ''
    ]);
    expect(port.outline().map(({ hasError }) => hasError)).toEqual([false, false, true]);
  });
});

describe('revealing a cell', () => {
  it('brings its document to the front, makes it the active one and flashes it', async () => {
    const activate = vi.fn();
    const { panel, port } = open([code('a', ''), code('b', '')], { activate, trans });
    port.reveal('b');
    port.reveal('gone');
    expect(activate).toHaveBeenCalledWith(panel);
    expect(panel.content.activeCellIndex).toBe(1);
    const cell = panel.content.widgets[1];
    await expect.poll(() => cell?.hasClass('cw-mod-flash')).toBe(true);
    await expect.poll(() => cell?.hasClass('cw-mod-flash'), { timeout: 3_000 }).toBe(false);
  });

  it('follows the running cell if the person wants that, without moving their own place', () => {
    let follows = false;
    const { panel, port } = open([code('a', ''), code('b', '')], { follows: () => follows });
    const scroll = vi.spyOn(panel.content, 'scrollToItem').mockResolvedValue();
    const run = new Run(port);
    run.apply(started('b'));
    expect(scroll).not.toHaveBeenCalled();
    follows = true;
    run.apply(started('b'), true);
    expect(scroll).not.toHaveBeenCalled();
    run.apply(started('b'));
    expect(scroll).toHaveBeenCalledWith(1, 'smart');
    expect(panel.content.activeCellIndex).toBe(0);
  });
});
