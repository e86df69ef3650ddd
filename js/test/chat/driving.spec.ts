import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { chatState } from '../fake_socket';
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

describe('a run that this tab drives', () => {
  it('is drawn event by event, without what is said', () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [
      events.started('a'),
      { kind: 'model_asked', step: 1 },
      events.said('words'),
      events.called('x'),
      events.cellAdded('n1', 'x')
    ]);
    page.server.record('c1', 'r1', [events.ended('x'), events.finished()]);
    expect(page.port.log).toEqual([
      'r1 begin',
      'r1 run_started',
      'r1 tool_started',
      'r1 cell_added',
      'r1 tool_finished',
      'r1 run_finished',
      'r1 end'
    ]);
  });

  it('is drawn whole when the server says only later who drives', () => {
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    expect(page.port.log).toEqual([]);
    page.setRun('r1');
    expect(page.port.log).toEqual(['r1 begin', 'r1 run_started', 'r1 cell_added']);
  });

  it('is drawn when it was over before the server could say who drives', () => {
    const run = [events.started('a'), events.cellAdded('n1', 'x'), events.finished()];
    page.server.record('c1', 'r1', run);
    page.setRun('');
    expect(page.port.log.at(-1)).toBe('r1 end');
    expect(page.port.has('n1')).toBe(true);
    page.setRun('');
    expect(page.port.log.filter(line => line === 'r1 begin')).toHaveLength(1);
  });

  it('is drawn in a chat that the server tells this tab of', async () => {
    const mine = { driver: 'tab-1', notebook_path: 'a.ipynb' };
    page.server.setChat(chatState('c8', { ...mine, phase: 'idle' }));
    page.server.setChat(chatState('c9', { ...mine, phase: 'starting' }));
    expect(page.server.sent('follow').map(({ chat }) => chat)).toContain('c9');
    expect(page.server.sent('follow').map(({ chat }) => chat)).not.toContain('c8');
    await pass(0.01);
    page.server.setChat(chatState('c9', { ...mine, phase: 'tool', run: 'r9' }));
    page.server.record('c9', 'r9', [events.started('a'), events.cellAdded('n1', 'x')]);
    expect(page.port.log).toEqual(['r9 begin', 'r9 run_started', 'r9 cell_added']);
  });

  it('says that cells stay as the person left them, but not again after a reload', async () => {
    page.setRun('r1');
    page.port.left.add('n1');
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    expect(page.panel.openChat('c1').problem?.code).toBe('left');
    await page.reload();
    page.port.left.add('n1');
    await pass(1);
    expect(page.panel.openChat('c1').problem).toBeNull();
  });

  it('goes on where it was when the line was lost', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    page.server.drop();
    page.server.record('c1', 'r1', [events.cellAdded('n2', 'x')]);
    await pass(1);
    page.server.record('c1', 'r1', [events.cellAdded('n3', 'x')]);
    expect(page.port.log).toEqual([
      'r1 begin',
      'r1 run_started',
      'r1 cell_added',
      'r1 cell_added again',
      'r1 cell_added'
    ]);
  });

  it('is drawn no more once the notebook is closed', () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a')]);
    page.notebooks.close(page.port);
    page.server.record('c1', 'r1', [events.cellAdded('n1', 'x')]);
    expect(page.port.has('n1')).toBe(false);
  });

  it('is left to another tab that took it over', () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a')]);
    page.setRun('r1', 'tab-2');
    page.server.record('c1', 'r1', [events.cellAdded('n1', 'x')]);
    expect(page.port.log.at(-1)).toBe('r1 end');
    expect(page.port.has('n1')).toBe(false);
  });
});

describe('a run that another tab drives', () => {
  it('is not drawn here, neither while it goes on nor when it was quick', () => {
    page.setRun('r1', 'tab-2');
    page.server.record('c1', 'r1', [events.started('a'), events.cellAdded('n1', 'x')]);
    page.server.record('c1', 'r1', [events.finished()]);
    page.setRun('', 'tab-2');
    page.server.record('c1', 'r2', [events.started('a'), events.finished()]);
    page.setRun('', 'tab-2');
    expect(page.port.log).toEqual([]);
  });

  it('is taken over after a moment when that tab is gone', async () => {
    page.setRun('r1', 'tab-2');
    page.server.record('c1', 'r1', [events.started('a')]);
    page.setRun('r1', '');
    await pass(0.5);
    expect(page.server.sent('drive')).toEqual([]);
    await pass(1);
    expect(page.server.sent('drive')).toEqual([
      { type: 'drive', chat: 'c1', notebook: page.port.notebook }
    ]);
    page.setRun('r1');
    expect(page.port.log[0]).toBe('r1 begin');
  });

  it('is not taken over when that tab came back in time', async () => {
    page.setRun('r1', '');
    await pass(0.5);
    page.setRun('r1', 'tab-2');
    await pass(2);
    expect(page.server.sent('drive')).toEqual([]);
  });

  it('is asked for once, however often the server speaks of it', async () => {
    for (let count = 0; count < 5; count += 1) {
      page.setRun('r1', '');
      await pass(2);
    }
    expect(page.server.sent('drive')).toHaveLength(1);
  });

  it('is not taken over while its notebook is closed here, and is when it is opened', async () => {
    page.notebooks.close(page.port);
    page.setRun('r1', '');
    await pass(2);
    expect(page.server.sent('drive')).toEqual([]);
    page.notebooks.open(new FakeNotebook('a.ipynb', 'n-again'));
    await pass(2);
    expect(page.server.sent('drive')[0]?.notebook).toBe('n-again');
  });
});

describe('a page that comes back', () => {
  const CELLS = ['kept', 'saved', 'deleted'].map(id => events.cellAdded(id, 'x'));

  async function comeBack(...saved: string[]): Promise<void> {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), ...CELLS]);
    page.setRun('r1', '');
    await page.reload(...saved);
    page.setRun('r1');
    await pass(0.01);
  }

  it('drives its run again at once', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a')]);
    page.setRun('r1', '');
    await page.reload();
    await pass(0.1);
    expect(page.server.line.sent.map(({ type }) => type)).toContain('drive');
  });

  it('gets the rest of a run that was over before the server said who drives', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), ...CELLS]);
    page.setRun('r1', '');
    await page.reload();
    page.server.record('c1', 'r1', [events.cellAdded('last', 'x'), events.finished()]);
    page.setRun('', '');
    await pass(0.1);
    expect(page.port.has('last')).toBe(true);
    expect(page.port.log.at(-1)).toBe('r1 end');
  });

  describe('for a run that ended while it was away', () => {
    beforeEach(() => {
      page.setRun('r1');
      page.server.record('c1', 'r1', [events.started('a'), ...CELLS]);
      page.missing = [{ run: 'r1', chat: 'c1', cells: [agentCell('last')] }];
    });

    function end(): void {
      page.server.record('c1', 'r1', [events.cellAdded('last', 'x'), events.finished()]);
      page.setRun('', '');
    }

    it('gets the rest, once its notebook is open, and is offered nothing', async () => {
      page.leave();
      end();
      await page.comeBack();
      expect(page.port.log).toEqual([]);
      page.notebooks.open(page.port);
      await pass(0.1);
      expect(page.port.document.map(({ id }) => id)).toEqual([
        ...['kept', 'saved', 'deleted', 'last']
      ]);
      expect(page.port.log.at(-1)).toBe('r1 end');
      expect(page.panel.missing).toEqual([]);
      await page.reload();
      await pass(0.1);
      expect(page.port.log).toEqual([]);
    });

    it('gets the rest when it ended before its notebook was open', async () => {
      page.setRun('r1', '');
      page.leave();
      await page.comeBack();
      page.panel.openChat('c1');
      await pass(0.01);
      end();
      page.notebooks.open(page.port);
      await pass(0.1);
      expect(page.port.has('last')).toBe(true);
    });

    it('leaves it to the person who had closed the notebook', async () => {
      page.notebooks.close(page.port);
      page.leave();
      end();
      await page.comeBack();
      page.notebooks.open(page.port);
      await pass(0.1);
      expect(page.port.log).toEqual([]);
      expect(page.panel.missing).toHaveLength(1);
    });

    it('leaves it to the tab that took it over', async () => {
      page.leave();
      page.setRun('r1', 'tab-2');
      page.server.record('c1', 'r1', [events.cellAdded('last', 'x'), events.finished()]);
      page.setRun('', 'tab-2');
      await page.comeBack();
      page.notebooks.open(page.port);
      await pass(0.1);
      expect(page.port.log).toEqual([]);
    });
  });

  it('leaves a run that was over before it came to the person', async () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a')]);
    page.setRun('', '');
    page.server.record('c1', 'r1', [events.cellAdded('last', 'x'), events.finished()]);
    await page.reload();
    await pass(0.1);
    expect(page.port.log).toEqual([]);
  });

  it('gets what it missed of the run, marked as such', async () => {
    await comeBack();
    expect(page.port.log.slice(0, 3)).toEqual([
      'r1 begin',
      'r1 run_started again',
      'r1 cell_added again'
    ]);
    page.server.record('c1', 'r1', [events.cellAdded('new', 'x')]);
    expect(page.port.log.at(-1)).toBe('r1 cell_added');
  });

  it('does not bring back what the person deleted', async () => {
    const fateOf = { kept: '', saved: 'saved', deleted: 'deleted' };
    page.server.routes.set('GET runs/r1/cells', () =>
      Object.entries(fateOf).map(([id, fate]) => ({ ...agentCell(id), fate }))
    );
    await comeBack();
    expect(page.port.document.map(({ id }) => id)).toEqual(['kept']);
  });

  it('keeps new events back until it knows what was deleted', async () => {
    const answers: ((response: Response) => void)[] = [];
    const answer = new Promise<Response>(resolve => answers.push(resolve));
    page.server.routes.set('GET runs/r1/cells', () => answer);
    await comeBack();
    page.server.record('c1', 'r1', [events.cellAdded('new', 'x')]);
    expect(page.port.log).toEqual(['r1 begin']);
    page.server.send({
      type: 'request',
      request: 'q1',
      chat: 'c1',
      notebook: 'n-new',
      operation: 'confirm',
      cell_id: 'new',
      source_hash: '',
      message_id: ''
    });
    await pass(0);
    expect(page.server.sent('reply')).toEqual([]);
    answers[0]?.(Response.json([]));
    await pass(0);
    expect(page.port.log.at(-2)).toBe('r1 cell_added');
    expect(page.server.sent('reply')).toMatchObject([{ ok: true }]);
  });

  it('loads a chat that runs in a notebook nobody looks at', async () => {
    const other = { id: 'c9', title: '', notebook_path: 'a.ipynb', updated_at: 0, runs: 1 };
    page.listed = [...page.listed, { ...other, run: 'r9' }];
    await page.reload();
    expect(page.server.line.sent).toContainEqual({ type: 'follow', chat: 'c9', after: null });
  });
});

describe('an edit that is proposed', () => {
  const EDIT = { name: 'edit_cell', arguments: { cell_id: 'x', source: 'new' } };

  function propose(): void {
    page.setRun('r1');
    page.server.record('c1', 'r1', [
      events.started('a'),
      events.called('e', EDIT),
      events.asked('e')
    ]);
  }

  it('is shown on its cell until it is answered', () => {
    propose();
    expect(page.port.log.at(-1)).toBe('propose x new');
    page.server.record('c1', 'r1', [events.answered('e', true), events.ended('e')]);
    expect(page.port.log.filter(line => line === 'propose x null')).toHaveLength(1);
  });

  it('is answered from its cell', () => {
    propose();
    page.port.answered.emit({ cellId: 'other', isAccepted: true });
    page.port.answered.emit({ cellId: 'x', isAccepted: false });
    page.port.answered.emit({ cellId: 'x', isAccepted: true });
    expect(page.server.sent('answer')).toMatchObject([{ call_id: 'e', allowed: false }]);
  });

  it('goes when the run does', () => {
    propose();
    page.server.record('c1', 'r1', [events.finished({ status: 'cancelled' })]);
    expect(page.port.log).toContain('propose x null');
    page.port.answered.emit({ cellId: 'x', isAccepted: true });
    expect(page.server.sent('answer')).toEqual([]);
  });

  it('is none for a call that runs code', () => {
    page.setRun('r1');
    page.server.record('c1', 'r1', [events.started('a'), events.called('e'), events.asked('e')]);
    expect(page.port.log.join()).not.toContain('propose');
  });
});
