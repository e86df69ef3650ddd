import * as React from 'react';

import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';

import type { VariablesOutcome } from '../../src/chat/notebooks';
import type { NoticeBlock, Turn } from '../../src/chat/types';
import { groupBlocks, TurnView } from '../../src/panel/turn';
import type { TurnActions } from '../../src/panel/turn_actions';
import { focusUndo, pressUndo } from '../../src/ui/focus';
import type { NamedCell } from '../../src/wire/generated';
import { card, turn } from './fakes';
import { showPart } from './stage';
import { complete } from '../complete';

afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

const EXECUTION = complete('Execution', {
  status: 'ok',
  duration_seconds: 0.4,
  execution_count: 3,
  changed: [{ name: 'penguins', type: 'DataFrame', text: '344 rows' }],
  removed: ['old'],
  files: [
    { path: 'plot.png', change: 'created', size_bytes: 12_000 },
    { path: 'gone.csv', change: 'deleted', size_bytes: 0 }
  ],
  cwd: '/',
  note: 'The cell printed nothing.'
});

const settled = (count: number) =>
  Array.from({ length: count }, (_, index) => card({ callId: `call-${String(index)}` }));

it('shows the prompt, its files and the answer as Markdown', async () => {
  showPart(
    <TurnView
      turn={turn({
        files: ['0a1b/penguins.csv'],
        notes: ['Masses are in g.', 'Round them.'],
        blocks: [{ kind: 'text', text: 'It has **344** rows.', isStreaming: false }]
      })}
    />
  );
  expect(screen.getByText('What is in this data?')).toBeDefined();
  expect(within(screen.getByRole('list', { name: 'Attached files' })).getByText('penguins.csv'));
  const notes = screen.getByRole('list', { name: 'Notes that went with it' });
  const said = within(notes).getAllByRole('listitem');
  expect(said.map(item => item.textContent)).toEqual(['Masses are in g.', 'Round them.']);
  expect((await screen.findByText('344')).tagName).toBe('STRONG');
});

it('says what to do about a limit in words of the panel', () => {
  const reason = 'The budget of 2026-11 is used up: $1.00 of $1.00.';
  const how = 'Raise it with %agent usage --budget USD or cellwright usage --budget USD.';
  const status = 'task limit reached';
  showPart(<TurnView turn={turn({ status, cause: 'month_budget', reason: `${reason} ${how}` })} />);
  const words = screen.getByText(new RegExp(reason.slice(0, 20))).textContent;
  expect(words).toBe(`${reason} Raise it under More, “Memory, Library and Usage”.`);
});

it('shows the beginning of a long prompt and the rest on demand', () => {
  showPart(<TurnView turn={turn({ prompt: `${'word '.repeat(200)}end` })} />);
  expect(screen.queryByText(/end$/)).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Show all' }));
  expect(screen.getByText(/end$/)).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Show less' }));
  expect(screen.queryByText(/end$/)).toBeNull();
});

it('keeps the thoughts of the model closed until they are asked for', () => {
  const blocks = [{ kind: 'reasoning', text: 'First the columns.', isStreaming: false }] as const;
  showPart(<TurnView turn={turn({ blocks })} />);
  expect(screen.queryByText('First the columns.')).toBeNull();
  const button = screen.getByRole('button', { name: 'Thoughts', expanded: false });
  fireEvent.click(button);
  expect(screen.getByText('First the columns.')).toBeDefined();
  expect(button.getAttribute('aria-expanded')).toBe('true');
});

it('opens a card on demand: code, result, variables and files', () => {
  showPart(<TurnView turn={turn({ blocks: [card({ execution: EXECUTION })] })} />);
  expect(screen.queryByRole('group', { name: 'Code of this call' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins.*Done/ }));
  expect(screen.getByRole('group', { name: 'Code of this call' }).textContent).toContain(
    'import pandas'
  );
  expect(screen.getByRole('group', { name: 'Result of this call' }).textContent).toBe(
    '344 rows × 7 columns'
  );
  expect(screen.getByText('penguins').title).toBe('344 rows');
  expect(screen.getByText('old').tagName).toBe('DEL');
  expect(screen.getByText('plot.png').title).toBe('12 kB');
  expect(screen.getByText('The cell printed nothing.')).toBeDefined();
});

it('shows the arguments of a call that writes no code', () => {
  const call = card({ code: '', argumentsText: '{"name": "penguins"}', cellIds: [] });
  showPart(<TurnView turn={turn({ blocks: [call] })} />);
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins/ }));
  expect(screen.getByRole('group', { name: 'Arguments of this call' }).textContent).toBe(
    '{"name": "penguins"}'
  );
  expect(screen.queryByRole('button', { name: 'Go to cell' })).toBeNull();
});

it('names a call that waits by what its tool does', () => {
  const call = card({ label: 'edit_cell', name: 'edit_cell', status: 'waiting' });
  showPart(<TurnView turn={turn({ status: 'running', blocks: [call] })} />);
  expect(screen.getByRole('button', { name: /Edit a cell.*Waiting/ })).toBeDefined();
});

it('names the tool of somebody else by its name', () => {
  const call = card({ label: 'send_mail', name: 'send_mail', status: 'waiting' });
  showPart(<TurnView turn={turn({ status: 'running', blocks: [call] })} />);
  expect(screen.getByRole('button', { name: /Send mail/ })).toBeDefined();
});

it('counts the seconds of a call that runs', () => {
  vi.useFakeTimers({ now: 1_005_000 });
  const call = card({ status: 'running', startedAt: 1000, durationSeconds: 0 });
  showPart(<TurnView turn={turn({ status: 'running', blocks: [call] })} />);
  expect(screen.getByRole('button', { name: /5s.*Running/ })).toBeDefined();
  act(() => {
    vi.advanceTimersByTime(3000);
  });
  expect(screen.getByRole('button', { name: /8s.*Running/ })).toBeDefined();
});

it('goes to the cell of a call', () => {
  const reveal = vi.fn();
  showPart(<TurnView turn={turn({ blocks: [card({ cellIds: ['a', 'b'] })] })} />, { reveal });
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Go to cell' }));
  expect(reveal.mock.calls).toEqual([['b']]);
});

it('takes one call back, says what was left, and brings it back again', () => {
  const calls: unknown[] = [];
  const act = (name: string) => (run: string, call?: string) => {
    calls.push([name, run, call]);
    return { changed: ['a'], kept: ['b'] };
  };
  const actions = { undo: act('undo'), redo: act('redo') };
  showPart(<TurnView turn={turn({ blocks: [card()] })} />, actions);
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Undo step' }));
  expect(screen.getByRole('status').textContent).toBe(
    'Took back 1 cell. Left 1 cell as it is, because you changed it. Variables and files keep their values.'
  );
  fireEvent.click(screen.getByRole('button', { name: 'Redo' }));
  expect(screen.getByRole('status').textContent).toContain('Brought back 1 cell.');
  expect(calls).toEqual([
    ['undo', 'run-1', 'call-1'],
    ['redo', 'run-1', 'call-1']
  ]);
});

it('takes the whole run back, with its variables where that can be done', async () => {
  const undo = vi.fn(() => ({ changed: ['a', 'b'], kept: [] }));
  const redo = vi.fn(() => ({ changed: ['a', 'b'], kept: [] }));
  const outcomes: VariablesOutcome[] = [
    { kind: 'undone' },
    { kind: 'redone' },
    { kind: 'kept', why: "thread 'loader' runs" }
  ];
  const undoVariables = vi.fn<TurnActions['undoVariables']>(() =>
    Promise.resolve(outcomes.shift() ?? { kind: 'kept' as const, why: '' })
  );
  showPart(<TurnView turn={turn({ blocks: [card()] })} />, { undo, redo, undoVariables });
  const status = () => screen.getByRole('status').textContent;
  fireEvent.click(screen.getByRole('button', { name: /Undo run/ }));
  expect(status()).toBe('Took back 2 cells. Bringing the variables back…');
  await waitFor(() => {
    expect(status()).toBe(
      'Took back 2 cells. Variables are as they were before it. Files keep what was written.'
    );
  });
  fireEvent.click(screen.getByRole('button', { name: 'Redo run' }));
  await waitFor(() => {
    expect(status()).toBe('Brought back 2 cells. Variables are as they were before you undid it.');
  });
  fireEvent.click(screen.getByRole('button', { name: /Undo run/ }));
  await waitFor(() => {
    expect(status()).toBe("Took back 2 cells. Variables keep their values: thread 'loader' runs");
  });
  expect([undo.mock.calls.length, redo.mock.calls.length]).toEqual([2, 1]);
  expect(undoVariables.mock.calls).toEqual([
    ['run-1', false, 0],
    ['run-1', true, 0],
    ['run-1', false, 0]
  ]);
});

it('does not call undone what stays in a notebook that was opened after the run', async () => {
  const undo = vi.fn<TurnActions['undo']>(() => ({ changed: [], kept: [], isLate: true }));
  const named = { cell_type: 'code', source: '', position: 1, execution_count: null } as const;
  const findCell = (id: string): NamedCell => ({ ...named, cell_id: id });
  const undoVariables = vi.fn<TurnActions['undoVariables']>(() =>
    Promise.resolve({ kind: 'undone' })
  );
  const { container } = showPart(<TurnView turn={turn({ blocks: [card()] })} />, {
    undo,
    undoVariables,
    findCell
  });
  fireEvent.click(screen.getByRole('button', { name: /Undo run/ }));
  await waitFor(() => {
    expect(screen.getByRole('status').textContent).toBe(
      'Left 1 cell as the run left it: the notebook was opened after the run, and only cells that it added are known. Variables are as they were before it. Files keep what was written.'
    );
  });
  expect(container.querySelector('.cw-mod-undone')).toBeNull();
});

it('undoes by the command what its button undoes, once the person sees which', async () => {
  const undo = vi.fn(() => ({ changed: ['a'], kept: [] }));
  const undoVariables = vi.fn<TurnActions['undoVariables']>(() =>
    Promise.resolve({ kind: 'undone' })
  );
  const turns = ['run-1', 'run-2', 'run-3'].map(runId => (
    <TurnView key={runId} turn={turn({ runId, blocks: runId === 'run-3' ? [] : [card()] })} />
  ));
  const { container } = showPart(<>{turns}</>, { undo, undoVariables });
  expect(pressUndo()).toBe(false);
  expect(undo).not.toHaveBeenCalled();
  focusUndo(container);
  expect(pressUndo()).toBe(true);
  await screen.findByText(/Variables are as they were before it/);
  expect(undo.mock.calls).toEqual([['run-2']]);
  expect(undoVariables.mock.calls).toEqual([['run-2', false, 0]]);
  // The button of that run is a Redo now, and says so.
  expect(pressUndo()).toBe(false);
});

const THREE = [
  card({ callId: 'a', label: 'load', step: 1 }),
  card({ callId: 'b', label: 'drop rows', step: 2, code: '\n  df = df.dropna()\nlen(df)' }),
  card({ callId: 'look', label: 'look', risk: 'read', cellIds: [] }),
  card({ callId: 'c', label: 'plot', step: 3, code: '' })
];

/** What undo and redo were asked for; the kernel keeps states before these cells. */
function undoing(kept: readonly number[]) {
  const undo = vi.fn<TurnActions['undo']>(() => ({ changed: ['b', 'c'], kept: [] }));
  const redo = vi.fn<TurnActions['redo']>(() => ({ changed: ['b', 'c'], kept: [] }));
  const undoVariables = vi.fn<TurnActions['undoVariables']>((_, isRedo) =>
    Promise.resolve({ kind: isRedo ? 'redone' : 'undone' })
  );
  return { undo, redo, undoVariables, keptSteps: vi.fn(() => Promise.resolve(kept)) };
}

const undone = () =>
  screen.getAllByRole('button', { name: /undone$/ }).map(({ textContent }) => textContent);

it('asks how far to go back where several states are kept, and shows which steps go', async () => {
  const actions = undoing([0, 2, 3]);
  const { container } = showPart(<TurnView turn={turn({ blocks: THREE })} />, actions);
  fireEvent.click(screen.getByRole('button', { name: /^Undo run, or from/, expanded: false }));
  const slider = await screen.findByRole('slider', { name: 'Go back to' });
  expect(document.activeElement).toBe(slider);
  expect(slider.getAttribute('aria-valuetext')).toBe('before the run');
  const going = () =>
    [...container.querySelectorAll<HTMLElement>('.cw-mod-undone')].map(
      ({ dataset }) => dataset.call
    );
  expect(going()).toEqual(['a', 'b', 'c']);
  fireEvent.change(slider, { target: { value: '1' } });
  expect(slider.getAttribute('aria-valuetext')).toBe('before cell 2: df = df.dropna()');
  expect(going()).toEqual(['b', 'c']);
  fireEvent.change(slider, { target: { value: '2' } });
  expect(slider.getAttribute('aria-valuetext')).toBe('before cell 3');
  expect(going()).toEqual(['c']);
  expect(actions.undo).not.toHaveBeenCalled();

  fireEvent.click(screen.getByRole('button', { name: 'Undo from cell 3' }));
  expect(await screen.findByText(/Variables are as they were before it/)).toBeDefined();
  expect(screen.queryByRole('slider')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /4 steps.*1 undone/ }));
  expect(undone()).toEqual([expect.stringContaining('Plot')]);
  fireEvent.click(screen.getByRole('button', { name: 'Redo run' }));
  expect(await screen.findByText(/before you undid it/)).toBeDefined();
  expect(screen.queryByRole('button', { name: /undone$/ })).toBeNull();
  expect([actions.undo.mock.calls, actions.redo.mock.calls]).toEqual([
    [['run-1', 'c', true]],
    [['run-1', 'c', true]]
  ]);
  expect(actions.undoVariables.mock.calls).toEqual([
    ['run-1', false, 3],
    ['run-1', true, 3]
  ]);
});

it('undoes at once where only the state before the run is kept, and on Escape nothing', async () => {
  const actions = undoing([0]);
  const { unmount } = showPart(<TurnView turn={turn({ blocks: THREE })} />, actions);
  fireEvent.click(screen.getByRole('button', { name: /^Undo run, or from/ }));
  expect(await screen.findByText(/Variables are as they were before it/)).toBeDefined();
  expect(actions.undo.mock.calls).toEqual([['run-1']]);
  unmount();

  const others = undoing([0, 3]);
  showPart(<TurnView turn={turn({ blocks: THREE })} />, others);
  fireEvent.click(screen.getByRole('button', { name: /^Undo run, or from/ }));
  fireEvent.keyDown(await screen.findByRole('slider'), { key: 'Escape' });
  expect(screen.queryByRole('slider')).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /^Undo run, or from/ }));
  expect(others.undo).not.toHaveBeenCalled();
});

it('takes back cells from any step on where no state is kept, and says why variables stay', async () => {
  const actions = undoing([]);
  const why = 'polars holds threads';
  actions.keptSteps.mockRejectedValueOnce(new Error('The kernel is busy.'));
  actions.undoVariables.mockResolvedValueOnce({ kind: 'kept', why });
  showPart(<TurnView turn={turn({ blocks: THREE })} />, actions);
  fireEvent.click(screen.getByRole('button', { name: /^Undo run, or from/ }));
  const slider = await screen.findByRole('slider');
  expect(slider.getAttribute('max')).toBe('2');
  fireEvent.change(slider, { target: { value: '1' } });
  fireEvent.click(screen.getByRole('button', { name: 'Undo from cell 2' }));
  expect(await screen.findByText(/Variables keep their values: polars/)).toBeDefined();
  // The kernel has nothing to redo, so it is not asked.
  fireEvent.click(screen.getByRole('button', { name: 'Redo run' }));
  expect(screen.getByRole('status').textContent).toBe('Brought back 2 cells.');
  expect(actions.undoVariables.mock.calls).toEqual([['run-1', false, 2]]);
});

it('offers no undo for a run that only looked', () => {
  showPart(<TurnView turn={turn({ blocks: [card({ risk: 'read' })] })} />);
  expect(screen.queryByRole('button', { name: /Undo run/ })).toBeNull();
});

it('says what a turn took and leaves out what is not known', () => {
  showPart(<TurnView turn={turn({ costDollars: 0.0842 })} />);
  expect(screen.getByText('12.3s · 45.2K in (38.1K cached, 84%) / 1.2K out · $0.08')).toBeDefined();
  cleanup();
  showPart(<TurnView turn={turn({ costDollars: null })} />);
  expect(screen.queryByText(/\$/)).toBeNull();
});

it('folds three settled calls into one line that opens', () => {
  const blocks = [...settled(2), card({ callId: 'call-2', status: 'error' })];
  showPart(<TurnView turn={turn({ blocks })} />);
  expect(screen.queryByText('Load the penguins')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /3 steps.*1 failed/ }));
  expect(screen.getAllByText('Load the penguins')).toHaveLength(3);
});

it('leaves the last calls of a run that goes on open to view', () => {
  expect(groupBlocks(settled(3), true).map(({ kind }) => kind)).toEqual([
    'block',
    'block',
    'block'
  ]);
});

it('folds earlier calls of a run that goes on', () => {
  const blocks = [...settled(3), { kind: 'text', text: 'So', isStreaming: true } as const];
  expect(groupBlocks(blocks, true).map(({ kind }) => kind)).toEqual(['group', 'block']);
});

it('folds neither two calls nor calls that wait', () => {
  const waiting = card({ callId: 'w', status: 'asking' });
  const pieces = groupBlocks([...settled(2), waiting, ...settled(2)], false);
  expect(pieces.every(({ kind }) => kind === 'block')).toBe(true);
});

it.each<[Turn['status'], string]>([
  ['agent context limit', 'Stopped: the conversation is too long for the model'],
  ['agent validation failed', 'Stopped: the model gave no answer that could be used'],
  ['agent invalid action', 'Stopped: the model kept asking for what does not exist'],
  ['task limit reached', 'Stopped: a limit was reached'],
  ['task error', 'Failed'],
  ['unknown', 'Ended without a known reason'],
  ['cancelled', 'Stopped']
])('says of a run that ended with %j: %s', (status, words) => {
  showPart(<TurnView turn={turn({ status, reason: 'Because.' })} />);
  expect(screen.getByText(words)).toBeDefined();
});

it('says of a question that nobody answered that the model is not told of it', () => {
  const words = 'Not answered: your next question goes without it.';
  const failed = turn({ status: 'task error', isAnswered: false });
  const { rerender } = showPart(<TurnView turn={failed} />);
  expect(screen.getByText(words)).toBeDefined();
  for (const other of [{ isAnswered: true }, { status: 'completed' }, { supersededBy: 'b' }]) {
    rerender(<TurnView turn={{ ...failed, ...(other as Partial<Turn>) }} />);
    expect(screen.queryByText(words)).toBeNull();
  }
});

it('asks the same again', () => {
  const retry = vi.fn();
  const failed = turn({ status: 'task error', cause: 'kernel_died', reason: 'The kernel died.' });
  showPart(<TurnView turn={failed} />, { retry });
  expect(screen.getByText('The kernel died.')).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Retry' }));
  expect(retry.mock.calls).toEqual([[failed]]);
});

it('goes on where an answer was cut off', () => {
  const proceed = vi.fn();
  showPart(<TurnView turn={turn({ cause: 'truncated', reason: 'It was cut off.' })} />, {
    proceed
  });
  expect(screen.queryByRole('button', { name: 'Retry' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Continue' }));
  expect(proceed).toHaveBeenCalledOnce();
});

const REFUSED: NoticeBlock = {
  kind: 'notice',
  level: 'error',
  text: 'The service refused the key.',
  action: 'Set another key.',
  code: 'LMAccessError'
};

it('tells an error once, with what to do and a way to the settings', () => {
  const setUp = vi.fn();
  const reason = REFUSED.text;
  const blocks = [REFUSED];
  showPart(
    <TurnView turn={turn({ status: 'task error', cause: REFUSED.code, reason, blocks })} />,
    { setUp }
  );
  expect(screen.getAllByText(reason)).toHaveLength(1);
  expect(screen.getByText(/Copy the key again/)).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Model settings' }));
  expect(setUp).toHaveBeenCalledOnce();
});

it('offers the settings for a failure without a notice', () => {
  const failed = turn({ status: 'task error', cause: 'SetupError', reason: 'No model is named.' });
  showPart(<TurnView turn={failed} />);
  expect(screen.getByRole('button', { name: 'Model settings' })).toBeDefined();
});

it('copies the details of a failure', async () => {
  const writeText = vi.fn(() => Promise.resolve());
  vi.stubGlobal('navigator', { clipboard: { writeText } });
  showPart(<TurnView turn={turn({ status: 'task error', cause: 'internal', reason: 'Oh.' })} />);
  fireEvent.click(screen.getByRole('button', { name: 'Copy details' }));
  expect(await screen.findByRole('button', { name: 'Copied' })).toBeDefined();
  expect(writeText).toHaveBeenCalledWith(
    'run: run-1\nmodel: gpt-5.6\nstatus: task error\ncause: internal\nreason: Oh.'
  );
  vi.unstubAllGlobals();
});

it('says so when the browser does not let it copy', async () => {
  vi.stubGlobal('navigator', { clipboard: { writeText: () => Promise.reject(new Error('no')) } });
  const blocks = [{ kind: 'text', text: 'Hello', isStreaming: false }] as const;
  showPart(<TurnView turn={turn({ blocks })} />);
  fireEvent.click(screen.getByRole('button', { name: 'Copy answer' }));
  expect(await screen.findByRole('button', { name: 'Could not copy' })).toBeDefined();
  vi.unstubAllGlobals();
});

it('accepts all edits that wait, once they can be answered', () => {
  vi.useFakeTimers();
  const acceptAll = vi.fn();
  const edits = [
    card({ callId: 'a', risk: 'edit', status: 'asking' }),
    card({ callId: 'b', risk: '', name: 'edit_cell', label: 'edit_cell', status: 'waiting' }),
    card({ callId: 'c', risk: '', name: 'run_cell', label: 'run_cell', status: 'waiting' })
  ];
  showPart(<TurnView turn={turn({ status: 'running', blocks: edits })} />, { acceptAll });
  const button = screen.getByRole('button', { name: 'Accept all 2 edits' });
  fireEvent.click(button);
  expect(acceptAll).not.toHaveBeenCalled();
  act(() => {
    vi.advanceTimersByTime(400);
  });
  fireEvent.click(button);
  expect(acceptAll.mock.calls).toEqual([[['a', 'b']]]);
});

it('does not offer to accept all where one edit waits', () => {
  const blocks = [card({ risk: 'edit', status: 'asking' })];
  showPart(<TurnView turn={turn({ status: 'running', blocks })} />);
  expect(screen.queryByRole('button', { name: /Accept/ })).toBeNull();
});

it('shows what the model is waited for', () => {
  showPart(<TurnView turn={turn({ status: 'running', activity: 'waiting 12 s' })} />);
  expect(screen.getByText('waiting 12 s')).toBeDefined();
});
