import { describe, expect, it } from 'vitest';

import type { RunEvent } from '../../src/wire/generated';
import * as events from './events';
import { cardOf, turnOf } from './folded';

describe('a card', () => {
  const call = { id: 'a', name: 'run_cell', arguments: '{"code": "1 + 1", "title": "add"}' };

  it('waits from when the model asked for the call', () => {
    const card = cardOf(turnOf(events.replied({ calls: [call] })));
    expect(card).toMatchObject({
      callId: 'a',
      label: 'run_cell',
      status: 'waiting',
      code: '1 + 1',
      language: 'python',
      startedAt: null
    });
    expect(JSON.parse(card.argumentsText)).toEqual({ title: 'add' });
  });

  it.each([
    [{ source: ['~/.ssh/id_rsa'], to: 'x' }, ''],
    [{ code: { deep: 1 } }, ''],
    [{ code: 'print(1)', source: 'rm -rf /' }, 'print(1)']
  ])('has each argument, whatever it is called: %j', (given, code) => {
    const asked = { ...call, name: 'files__copy', arguments: JSON.stringify(given) };
    const card = cardOf(turnOf(events.replied({ calls: [asked] })));
    const others: unknown = JSON.parse(card.argumentsText);
    expect({ ...(code === '' ? {} : { code: card.code }), ...(others as object) }).toEqual(given);
    expect(card.code).toBe(code);
  });

  it.each(['{"code": ', '7', 'null'])('is there for arguments that are wrong: %s', wrong => {
    const card = cardOf(turnOf(events.replied({ calls: [{ ...call, arguments: wrong }] })));
    expect(card).toMatchObject({ code: '', argumentsText: '' });
  });

  it('goes from running through approval to its result', () => {
    const steps: RunEvent[] = [
      events.replied({ calls: [call] }),
      events.called('a', { label: 'add two numbers' }),
      events.asked('a'),
      events.answered('a', true),
      events.cellAdded('c1', 'a'),
      { kind: 'cell_started', cell_id: 'c1' },
      events.cellFinished('c1'),
      events.ended('a')
    ];
    const cards = steps.map((_, index) => cardOf(turnOf(...steps.slice(0, index + 1))));
    expect(cards.map(({ status }) => status)).toEqual([
      'waiting',
      'running',
      'asking',
      'running',
      'running',
      'running',
      'running',
      'ok'
    ]);
    expect(cards[2]?.reason).toBe('runs code');
    expect(cards.at(-1)).toMatchObject({
      label: 'add two numbers',
      risk: 'execute',
      reason: '',
      cellIds: ['c1'],
      result: '2',
      durationSeconds: 0.5,
      startedAt: 1003
    });
    expect(cards.at(-1)?.execution?.execution_count).toBe(1);
  });

  it('keeps why it was refused', () => {
    const run = [events.called('a'), events.asked('a'), events.answered('a', false, 'not now')];
    expect(cardOf(turnOf(...run))).toMatchObject({ status: 'refused', reason: 'not now' });
    const end = events.ended('a', { status: 'refused' });
    expect(cardOf(turnOf(...run, end))).toMatchObject({ status: 'refused', reason: 'not now' });
  });

  it('keeps its start when the mode allows it at once', () => {
    const allowed = { ...events.answered('a', true), by: 'mode' } as RunEvent;
    expect(cardOf(turnOf(events.called('a'), allowed)).startedAt).toBe(1000);
  });

  it('is cancelled when the run ends before it', () => {
    const turn = turnOf(
      events.called('a'),
      events.ended('a'),
      events.called('b'),
      events.finished({ status: 'cancelled' })
    );
    const statuses = turn.blocks.map(block => block.kind === 'tool' && block.status);
    expect(statuses).toEqual(['ok', 'cancelled']);
  });

  it('is made for a call that only its end tells of', () => {
    const end = events.ended('a', { name: 'list_files', status: 'cancelled' });
    expect(cardOf(turnOf(end))).toMatchObject({ label: 'list_files', status: 'cancelled' });
  });

  it('shows text that is written, in its language', () => {
    const note = { name: 'add_cell', arguments: { source: '# Title', cell_type: 'markdown' } };
    expect(cardOf(turnOf(events.called('a', note)))).toMatchObject({
      code: '# Title',
      language: 'markdown'
    });
    const edit = { name: 'edit_cell', arguments: { cell_id: 'c1', source: 'x = 1' } };
    expect(cardOf(turnOf(events.called('a', edit))).language).toBe('python');
    const code = { name: 'add_cell', arguments: { source: 'x', cell_type: 'code' } };
    expect(cardOf(turnOf(events.called('a', code))).language).toBe('python');
  });

  it('has the cells that were added, edited, moved, removed and run', () => {
    const turn = turnOf(
      events.called('a'),
      events.cellAdded('c1', 'a'),
      {
        kind: 'cell_edited',
        cell_id: 'c2',
        source: 'x',
        previous_hash: '',
        call_id: 'a',
        outputs: null,
        execution_count: null
      },
      { kind: 'cell_moved', cell_id: 'c3', after: '', call_id: 'a' },
      { kind: 'cell_removed', cell_id: 'c4', previous_hash: '', call_id: 'a' },
      { kind: 'cell_started', cell_id: 'c1' },
      { kind: 'cell_started', cell_id: 'c5' }
    );
    expect(cardOf(turn).cellIds).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);
  });

  it('does not get the cell of an earlier call that ends late', () => {
    const turn = turnOf(
      events.called('a'),
      events.cellAdded('c1', 'a'),
      events.called('b'),
      events.cellFinished('c1')
    );
    const executions = turn.blocks.map(block => block.kind === 'tool' && block.execution !== null);
    expect(executions).toEqual([true, false]);
  });

  it('is not made up for cells that no call made', () => {
    expect(turnOf({ kind: 'cell_started', cell_id: 'c1' }).blocks).toEqual([]);
  });

  it('says in words what pictures the model was given', () => {
    const picture = { kind: 'image', mime: 'image/png', data: '', caption: 'a line' } as const;
    const { message } = events.ended('a');
    const end = events.ended('a', { message: { ...message, parts: [...message.parts, picture] } });
    expect(cardOf(turnOf(events.called('a'), end)).result).toBe('2\na line');
  });
});
