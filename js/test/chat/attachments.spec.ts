import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { pass } from './chat_page';
import { cell, FakeNotebook } from './fake_notebooks';
import { NotebookPage } from './notebook_page';

let page: NotebookPage;

beforeEach(async () => {
  vi.useFakeTimers();
  page = new NotebookPage();
  await pass(0.01);
});

afterEach(() => {
  page.panel.dispose();
  vi.useRealTimers();
});

describe('the server is told', () => {
  it('which notebooks are open, again after each loss of the line', async () => {
    const attached = { type: 'attach', path: 'a.ipynb', kernel_id: 'k1', editable: true };
    expect(page.server.sent('attach')).toMatchObject([attached]);
    page.server.drop();
    await pass(1);
    expect(page.server.line.sent.map(({ type }) => type)).toContain('attach');
  });

  it('of a notebook that is opened, renamed, made read-only and closed', () => {
    const other = new FakeNotebook('b.ipynb');
    page.notebooks.open(other);
    other.path = 'c.ipynb';
    other.editable = false;
    other.changed.emit();
    page.notebooks.close(other);
    other.changed.emit();
    const [opened, changed, ...more] = page.server.sent('attach').slice(1);
    expect(opened).toMatchObject({ path: 'b.ipynb', editable: true });
    expect(changed).toMatchObject({ path: 'c.ipynb', editable: false });
    expect(more).toEqual([]);
    expect(page.server.sent('detach')).toEqual([{ type: 'detach', notebook: other.notebook }]);
  });

  it('what the person changes', () => {
    page.port.edited.emit({ cells: [{ cell: cell('x', '1'), after: '' }], removed: ['y'] });
    expect(page.server.sent('changed')).toEqual([
      {
        type: 'changed',
        notebook: page.port.notebook,
        cells: [{ cell: cell('x', '1'), after: '' }],
        removed: ['y']
      }
    ]);
  });
});

describe('the server asks', () => {
  function request(change: object): void {
    page.server.send({
      type: 'request',
      request: 'q1',
      chat: 'c1',
      notebook: page.port.notebook,
      operation: 'cells',
      cell_id: '',
      source_hash: '',
      message_id: '',
      ...change
    });
  }

  it('for all cells, and gets them', async () => {
    page.port.document = [cell('x', '1')];
    request({});
    await pass(0);
    expect(page.server.sent('reply')).toEqual([
      { type: 'reply', request: 'q1', ok: true, reason: '', cells: [cell('x', '1')] }
    ]);
  });

  it('whether a cell is there to be run, and gets the notebook’s word', async () => {
    page.port.confirmation = { ok: false, reason: 'changed', cells: [cell('x', '2')] };
    request({ operation: 'confirm', cell_id: 'x', source_hash: 'h', message_id: 'm' });
    await pass(0);
    expect(page.port.log).toContain('confirm x h m');
    expect(page.server.sent('reply')[0]).toMatchObject({ ok: false, reason: 'changed' });
  });

  it('of a notebook that is closed, and is told so', async () => {
    request({ notebook: 'n-closed' });
    await pass(0);
    expect(page.server.sent('reply')[0]).toMatchObject({ ok: false, reason: 'closed' });
  });
});
