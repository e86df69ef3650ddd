import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { pass } from './chat_page';
import * as events from './events';
import { FakeNotebook } from './fake_notebooks';
import { agentCell, NotebookPage } from './notebook_page';

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

describe('what becomes of an agent’s cell', () => {
  function run(...ids: string[]): void {
    page.setRun('r1');
    const cells = ids.map(id => events.cellAdded(id, 'x'));
    page.server.record('c1', 'r1', [events.started('a'), ...cells, events.finished()]);
    page.setRun('');
  }

  it('is told when the document is saved, and once', async () => {
    run('n1', 'n2');
    page.port.remove('n2');
    page.port.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'saved', n2: 'deleted' });
    const told = page.server.requests.length;
    page.port.saved.emit();
    await pass(0);
    expect(page.server.requests).toHaveLength(told);
  });

  it('is told at once when the person deletes it during the run', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    page.port.edited.emit({ cells: [], removed: ['n1', 'theirs'] });
    await pass(0);
    expect(page.fates).toEqual({ n1: 'deleted' });
  });

  it('is not told of a cell that the agent itself removed', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [
      events.started('a'),
      events.cellAdded('n1', 'x'),
      { kind: 'cell_removed', cell_id: 'n1', previous_hash: '', call_id: 'y' },
      events.finished()
    ]);
    page.port.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({});
  });

  it('is told again with the next save when the server was not reached', async () => {
    const route = page.server.routes.get('POST runs/r1/fates');
    page.server.routes.delete('POST runs/r1/fates');
    run('n1');
    page.port.saved.emit();
    await pass(0);
    if (route !== undefined) {
      page.server.routes.set('POST runs/r1/fates', route);
    }
    page.port.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'saved' });
  });

  it('is told anew when a deleted cell is there again', async () => {
    run('n1');
    const [made] = page.port.document;
    page.port.remove('n1');
    page.port.saved.emit();
    await pass(0);
    page.port.document = made === undefined ? [] : [made];
    page.port.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'saved' });
  });

  it('is not "deleted" for a cell of a notebook that was closed', async () => {
    run('n1');
    page.port.saved.emit();
    const other = new FakeNotebook('b.ipynb');
    page.notebooks.open(other);
    page.notebooks.close(page.port);
    other.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'saved' });
  });

  it('is told of a cell that was deleted after its notebook was opened again', async () => {
    run('n1');
    page.port.saved.emit();
    page.notebooks.close(page.port);
    const again = new FakeNotebook('a.ipynb', 'n-again');
    page.notebooks.open(again);
    again.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'deleted' });
  });

  it('is not "deleted" for a cell that lies in another open notebook', async () => {
    run('n1');
    const other = new FakeNotebook('b.ipynb');
    page.notebooks.open(other);
    other.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({});
  });
});

describe('cells that were made while the notebook was closed', () => {
  beforeEach(async () => {
    page.missing = [{ run: 'r1', chat: 'c1', cells: [agentCell('n1'), agentCell('there')] }];
    await page.reload('there');
  });

  it('are offered, without those that are there', () => {
    expect(page.panel.missing.map(({ cells }) => cells.map(({ cell_id }) => cell_id))).toEqual([
      ['n1']
    ]);
  });

  it('are put in with their outputs, and count as saved once the document is', async () => {
    const [cells] = page.panel.missing;
    if (cells !== undefined) {
      page.panel.insertMissing(cells);
    }
    expect(page.port.log).toContain('r1 insert n1<z');
    expect(page.port.document.at(-1)).toMatchObject({ id: 'n1', execution_count: 3 });
    expect(page.panel.missing).toEqual([]);
    await pass(0);
    expect(page.fates).toEqual({});
    page.port.saved.emit();
    await pass(0);
    expect(page.fates).toEqual({ n1: 'saved' });
  });

  it('are never offered again when the person does not want them', async () => {
    const told: number[] = [];
    page.panel.missingChanged.connect((_, cells) => told.push(cells.length));
    const [cells] = page.panel.missing;
    if (cells !== undefined) {
      await page.panel.discardMissing(cells);
    }
    expect(page.fates).toEqual({ n1: 'discarded' });
    expect(told).toEqual([0]);
  });

  it('are still offered when the server did not hear that they are not wanted', async () => {
    page.server.routes.delete('POST runs/r1/fates');
    const [cells] = page.panel.missing;
    if (cells !== undefined) {
      await page.panel.discardMissing(cells);
    }
    expect(page.panel.missing).toHaveLength(1);
    expect(page.panel.problem).not.toBeNull();
  });

  it('are not offered for another notebook', async () => {
    page.missing = [];
    page.notebooks.open(new FakeNotebook('b.ipynb'));
    await pass(0);
    expect(page.panel.missing).toEqual([]);
  });

  it('are not offered for another notebook before the server has told what that one lacks', () => {
    const other = new FakeNotebook('b.ipynb');
    const offered = page.panel.missing;
    page.notebooks.open(other);
    expect(offered).toHaveLength(1);
    expect(page.panel.missing).toEqual([]);
  });

  it('are not offered where they cannot be put in', async () => {
    const locked = new FakeNotebook('locked.ipynb');
    locked.editable = false;
    page.notebooks.open(locked);
    await pass(0);
    expect(page.panel.missing).toEqual([]);
  });

  it('are not offered for a run that goes on', async () => {
    page.setRun('r1');
    await pass(0);
    expect(page.panel.missing).toEqual([]);
  });

  it('are not offered when the person took them out of the open document', async () => {
    page.missing = [];
    await page.reload();
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    page.server.record('c1', 'r1', [events.finished()]);
    page.port.remove('n1');
    page.missing = [{ run: 'r1', chat: 'c1', cells: [agentCell('n1')] }];
    page.setRun('');
    await pass(0);
    expect(page.panel.missing).toEqual([]);
  });
});
