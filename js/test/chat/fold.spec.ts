import { describe, expect, it } from 'vitest';

import { TurnFold, TurnList } from '../../src/chat/fold';
import type { Block, Turn } from '../../src/chat/types';
import type { RunEvent } from '../../src/wire/generated';
import * as events from './events';
import { textsOf, trans, turnOf } from './folded';
import { complete } from '../complete';

describe('what the model says', () => {
  it('grows while it comes, and is streaming until the reply is whole', () => {
    const fold = new TurnFold('r1', trans);
    const run = [
      events.started('hi'),
      events.thought('hm'),
      events.said('Hel'),
      events.said('lo'),
      events.replied({ text: 'Hello', reasoning: 'hm' })
    ];
    const seen: (readonly Block[])[] = events.recorded(run).map(event => {
      fold.apply(event);
      return fold.turn.blocks;
    });
    expect(seen[3]).toEqual([
      { kind: 'reasoning', text: 'hm', isStreaming: true },
      { kind: 'text', text: 'Hello', isStreaming: true }
    ]);
    expect(seen[4]?.map(block => 'isStreaming' in block && block.isStreaming)).toEqual([
      false,
      false
    ]);
  });

  it('counts as the whole reply has it, whatever came in pieces', () => {
    const turn = turnOf(events.said('Helo'), events.replied({ text: 'Hello' }));
    expect(textsOf(turn)).toEqual(['text:Hello']);
  });

  it('is there when no piece of it came', () => {
    const turn = turnOf(events.replied({ text: 'Hello', reasoning: 'hm' }));
    expect(textsOf(turn)).toEqual(['reasoning:hm', 'text:Hello']);
  });

  it('goes when the whole reply has none of it', () => {
    const turn = turnOf(
      events.said('{"call"'),
      events.thought('hm'),
      events.replied({ reasoning: 'hm' })
    );
    expect(textsOf(turn)).toEqual(['reasoning:hm']);
  });

  it('is void once the model is asked again', () => {
    const retrying = {
      kind: 'model_retrying',
      attempt: 2,
      delay_seconds: 1,
      reason: '503'
    } as const;
    const turn = turnOf(
      events.replied({ text: 'First step.' }),
      events.thought('lost'),
      events.said('lost too'),
      retrying
    );
    expect(textsOf(turn)).toEqual(['text:First step.']);
    expect(turn.activity).toBe('retrying (2): 503');
    const later = turnOf(events.said('lost'), retrying, events.said('kept'));
    expect(textsOf(later)).toEqual(['text:kept']);
    expect(later.activity).toBe('');
  });

  it('stays when a notice came in between, in one piece', () => {
    const notice = complete('Notice', { level: 'info', text: 'slow', code: 'x' });
    const turn = turnOf(events.said('a'), notice, events.said('b'));
    expect(textsOf(turn)).toEqual(['text:ab', 'notice:slow']);
  });

  it('is not followed by what the person did with the run when it was over', () => {
    const undone = complete('Notice', { level: 'info', text: 'Undone.', code: 'undone' });
    expect(textsOf(turnOf(events.said('a'), events.finished(), undone))).toEqual(['text:a']);
  });

  it('is cut off, and kept, when the run ends before the reply does', () => {
    const turn = turnOf(
      events.said('half a'),
      events.finished({ status: 'cancelled', reason: 'stopped' })
    );
    expect(turn.blocks).toEqual([{ kind: 'text', text: 'half a', isStreaming: false }]);
    expect(turn).toMatchObject({ status: 'cancelled', reason: 'stopped' });
  });

  it('is a refusal where there is nothing else', () => {
    expect(textsOf(turnOf(events.replied({ refusal: 'I will not.' })))).toEqual([
      'text:I will not.'
    ]);
  });

  it('says how long the model has been silent until it speaks', () => {
    const silent = { kind: 'model_silent', seconds: 12.4 } as const;
    expect(turnOf(silent).activity).toBe('waiting 12 s');
    expect(turnOf(silent, events.said('a')).activity).toBe('');
    expect(turnOf(silent, events.replied({})).activity).toBe('');
  });

  it('is a block of its own for each step', () => {
    const step = { kind: 'model_asked', step: 2 } as const;
    const turn = turnOf(events.said('one'), step, events.said('two'));
    expect(textsOf(turn)).toEqual(['text:one', 'text:two']);
  });
});

describe('the answer of a run', () => {
  it('is shown when it came through a call', () => {
    expect(textsOf(turnOf(events.finished({ answer: '42' })))).toEqual(['text:42']);
  });

  it('is not shown twice', () => {
    const turn = turnOf(
      events.replied({ text: 'It is 42.\n' }),
      events.finished({ answer: 'It is 42.' })
    );
    expect(textsOf(turn)).toEqual(['text:It is 42.\n']);
  });
});

describe('figures of a turn', () => {
  it('add up over its replies until the run says what they came to', () => {
    const usage = events.usage({ prompt_tokens: 10, completion_tokens: 2, estimated: true });
    const replies = [
      events.replied({}, { usage, cost_dollars: 0.1 }),
      events.replied({}, { usage: events.usage({ prompt_tokens: 5 }), cost_dollars: 0.2 })
    ];
    const turn = turnOf(...replies);
    expect(turn.usage).toMatchObject({ prompt_tokens: 15, completion_tokens: 2, estimated: true });
    expect(turn.costDollars).toBeCloseTo(0.3);
    const end = events.finished({ usage, cost_dollars: 0.25, duration_seconds: 9 });
    expect(turnOf(...replies, end)).toMatchObject({ usage, costDollars: 0.25, durationSeconds: 9 });
  });

  it('count what calls spent on models of their own', () => {
    const spent = { model: 'other', usage: events.usage({ prompt_tokens: 7 }) };
    const reply = events.replied({}, { usage: events.usage({ prompt_tokens: 5 }) });
    const turn = turnOf(reply, events.called('a'), events.ended('a', { usage: [spent] }));
    expect(turn.usage.prompt_tokens).toBe(12);
  });

  it('know for how long the user was waited for, and since when', () => {
    const call = { id: 'a', name: 'run_cell', arguments: '{}' };
    // one second lies between two events
    const steps = [events.replied({ calls: [call] }), events.called('a'), events.asked('a')];
    const asking = turnOf(...steps);
    expect(asking).toMatchObject({ waitedSeconds: 0, waitingSince: 1002 });
    const answered = turnOf(...steps, events.answered('a', true));
    expect(answered).toMatchObject({ waitedSeconds: 1, waitingSince: null });
    const stopped = turnOf(...steps, events.finished({ status: 'cancelled' }));
    expect(stopped.waitingSince).toBeNull();
  });

  it('have no cost when that of one reply is not known', () => {
    const costs = [0.1, null, 0.2].map(cost_dollars => events.replied({}, { cost_dollars }));
    expect(turnOf(...costs).costDollars).toBeNull();
  });
});

describe('a turn', () => {
  it('knows its prompt, mode, model and start', () => {
    const turn = turnOf(events.started('Plot it', { mode: 'edits', files: ['a.csv'] }));
    expect(turn).toMatchObject({
      runId: 'r1',
      prompt: 'Plot it',
      mode: 'edits',
      model: 'demo',
      files: ['a.csv'],
      startedAt: 1000,
      status: 'running'
    });
  });

  it('leaves out what only a newer server knows', () => {
    const unknown = { kind: 'brand_new', text: 'x' } as unknown as RunEvent;
    const turn = turnOf(events.said('a'), unknown, { kind: 'state_captured' }, events.said('b'));
    expect(textsOf(turn)).toEqual(['text:ab']);
  });

  it('stays the same object until something happens', () => {
    const fold = new TurnFold('r1', trans);
    expect(fold.turn).toBe(fold.turn);
    const { turn } = fold;
    fold.apply(...(events.recorded([events.said('a')]) as [never]));
    expect(fold.turn).not.toBe(turn);
  });

  it('keeps the blocks that did not change', () => {
    const fold = new TurnFold('r1', trans);
    for (const event of events.recorded([events.called('a'), events.said('x')])) {
      fold.apply(event);
    }
    const [card] = fold.turn.blocks;
    fold.apply({ sequence: 3, time: 1, event: events.said('y') });
    expect(fold.turn.blocks[0]).toBe(card);
  });
});

describe('a list of turns', () => {
  it('is a new array only when something changed, with the old turns in it', () => {
    const list = new TurnList(trans);
    const [event] = events.recorded([events.started('a')]);
    if (event === undefined) {
      throw new Error('no event');
    }
    list.apply('r1', event);
    const before = list.turns;
    expect(list.turns).toBe(before);
    list.apply('r2', event);
    expect(list.turns).not.toBe(before);
    expect(list.turns).toHaveLength(2);
    expect(list.turns[0]).toBe(before[0]);
  });
});

/** Milliseconds of the quickest of a few tries: what else the machine does is not our time. */
function quickest(action: () => void): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const start = performance.now();
    action();
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe('speed', () => {
  it('folds 5,000 messages in less than 300 ms', () => {
    const run = events.recorded([
      events.started('Do it'),
      events.replied({ text: 'Some words '.repeat(40) }),
      events.called('a'),
      events.cellAdded('c1', 'a'),
      events.ended('a'),
      events.finished()
    ]);
    let turns: readonly Turn[] = [];
    const time = quickest(() => {
      const list = new TurnList(trans);
      for (let count = 0; count < 2500; count += 1) {
        for (const event of run) {
          list.apply(`r${String(count)}`, event);
        }
      }
      ({ turns } = list);
    });
    expect(turns).toHaveLength(2500);
    expect(time).toBeLessThan(300);
  });

  it('takes a reply of 20,000 pieces in less than 300 ms, looked at every 25', () => {
    let seen = 0;
    const time = quickest(() => {
      const fold = new TurnFold('r1', trans);
      seen = 0;
      for (let count = 0; count < 20_000; count += 1) {
        fold.apply({ sequence: count + 1, time: 1, event: events.said('word ') });
        if (count % 25 === 0) {
          seen += fold.turn.blocks.length;
        }
      }
    });
    expect(seen).toBe(800);
    expect(time).toBeLessThan(300);
  });
});
