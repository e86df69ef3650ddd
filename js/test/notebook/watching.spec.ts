import type { WireCell } from '../../src/wire/generated';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { NotebookEdit } from '../../src/chat/notebooks';
import { sourceHash } from '../../src/notebook/source_hash';
import { added, edited, output, printed, started } from './events';
import { code, closeAll, type Document, openDocument, Run } from './open_document';

const opened: Document[] = [];

interface Watched {
  readonly document: Document;
  readonly edits: NotebookEdit[];
}

function watched(): Watched {
  const document = openDocument([code('a', 'x = 1'), code('b', 'y = 2'), code('c', 'z')]);
  opened.push(document);
  const edits: NotebookEdit[] = [];
  document.port.edited.connect((_, edit) => {
    edits.push(edit);
  });
  document.port.beginRun('run-1');
  return { document, edits };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  closeAll(opened.splice(0));
});

describe('a person’s change during a run', () => {
  it('of a text is told once they pause', () => {
    const { document, edits } = watched();
    const cell = document.model.sharedModel.getCell(1);
    cell.updateSource(5, 5, '0');
    cell.updateSource(6, 6, '0');
    expect(edits).toEqual([]);
    vi.advanceTimersByTime(100);
    expect(edits).toEqual([
      {
        cells: [{ cell: expect.objectContaining({ source: 'y = 200' }) as WireCell, after: 'a' }],
        removed: []
      }
    ]);
  });

  it('is told before the server learns whether a cell is as it expects', async () => {
    const { document, edits } = watched();
    document.model.sharedModel.getCell(0).setSource('mine');
    const confirmed = await document.port.confirm('a', sourceHash('x = 1'), '');
    expect(confirmed).toMatchObject({ ok: false, reason: 'changed', cells: [{ source: 'mine' }] });
    expect(edits).toHaveLength(1);
  });

  it('that adds, moves and takes away cells is told with their places', () => {
    const { document, edits } = watched();
    const shared = document.model.sharedModel;
    shared.insertCell(1, { cell_type: 'markdown', id: 'mine', source: 'text' });
    shared.moveCell(3, 0);
    shared.deleteCell(1);
    vi.advanceTimersByTime(100);
    const [edit] = edits;
    expect(edit?.cells.map(({ cell, after }) => [cell.id, after])).toEqual([
      ['c', ''],
      ['mine', 'c']
    ]);
    expect(edit?.removed).toEqual(['a']);
  });

  it('that takes away one of the agent’s cells by Undo is told', () => {
    const { document, edits } = watched();
    new Run(document.port).apply(added('new'));
    document.model.sharedModel.undo();
    vi.advanceTimersByTime(100);
    expect(edits).toEqual([{ cells: [], removed: ['new'] }]);
  });

  it('of a cell that comes right after the agent added it is told', () => {
    const { document, edits } = watched();
    new Run(document.port).apply(added('new'));
    document.model.sharedModel.getCell(3).setSource('better');
    vi.advanceTimersByTime(100);
    expect(edits[0]?.cells[0]?.cell.source).toBe('better');
  });

  it('is told when they run a cell', () => {
    const { document, edits } = watched();
    const cell = document.model.cells.get(0) as unknown as { executionCount: number };
    cell.executionCount = 4;
    vi.advanceTimersByTime(100);
    expect(edits[0]?.cells[0]?.cell).toMatchObject({ id: 'a', execution_count: 4 });
  });
});

describe('what is not told', () => {
  it('is what the agent does', () => {
    const { document, edits } = watched();
    const run = new Run(document.port);
    run.apply(added('new'));
    run.apply(edited('a', 'x = 1', 'x = 10'));
    run.apply(started('new'));
    run.apply(output('new', printed('text')));
    document.port.undo('run-1');
    vi.advanceTimersByTime(100);
    expect(edits).toEqual([]);
  });

  it('is what the person does when no run goes on', () => {
    const { document, edits } = watched();
    document.port.beginRun('run-2');
    document.port.endRun('run-1');
    document.model.sharedModel.getCell(0).setSource('told, because run-2 goes on');
    document.port.endRun('run-2');
    expect(edits).toHaveLength(1);
    document.model.sharedModel.getCell(0).setSource('not told');
    document.model.sharedModel.deleteCell(1);
    vi.advanceTimersByTime(100);
    expect(edits).toHaveLength(1);
  });
});
