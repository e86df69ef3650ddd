import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { NamedCell } from '../../src/wire/generated';
import type { ToolCard } from '../../src/chat/types';
import { pressOnApproval } from '../../src/ui/focus';
import { OpenerProvider } from '../../src/ui/opening';
import { ToolCardView } from '../../src/panel/tool_card';
import { type ApprovalAnswer, TurnActionsProvider } from '../../src/panel/turn_actions';
import { card } from './fakes';
import { ACTIONS, showPart } from './stage';

const ASKING: Partial<ToolCard> = { status: 'asking', reason: 'It runs code.', result: '' };

type Answered = [callId: string, answer: ApprovalAnswer];

let answers: Answered[] = [];
const opened: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  answers = [];
});

afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

function ask(change: Partial<ToolCard> = {}, canAnswer = true): void {
  showPart(<ToolCardView card={card({ ...ASKING, ...change })} runId="run-1" />, {
    canAnswer,
    findCell: () => CELL,
    answer: (callId, answer) => {
      answers.push([callId, answer]);
    }
  });
}

function wait(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

function button(name: string | RegExp): HTMLElement {
  return screen.getByRole('button', { name });
}

const APPROVED = { allowed: true, reason: '', forSession: false };
const REJECTED = { allowed: false, reason: '', forSession: false };

it('shows what it asks about and why', () => {
  ask();
  expect(screen.getByRole('group', { name: 'Approval: Load the penguins' }).textContent).toContain(
    'It runs code.'
  );
  expect(screen.getByRole('group', { name: 'Code of this call' }).textContent).toContain(
    'read_csv'
  );
});

it('takes no answer in the first 400 ms, by click or by key', () => {
  ask();
  wait(390);
  fireEvent.click(button('Approve'));
  fireEvent.keyDown(button('Approve'), { key: 'Enter', ctrlKey: true });
  expect(button('Approve').getAttribute('aria-disabled')).toBe('true');
  expect(answers).toEqual([]);
  wait(10);
  fireEvent.click(button('Approve'));
  expect(answers).toEqual([['call-1', APPROVED]]);
});

it('takes the second click of a double click for none, and a later one for an answer', () => {
  ask();
  wait(400);
  fireEvent.click(button('Approve'));
  wait(200);
  fireEvent.click(button('Approve'));
  expect(answers).toEqual([['call-1', APPROVED]]);
  // the first one may have been refused
  wait(1000);
  fireEvent.click(button('Approve'));
  expect(answers).toEqual([
    ['call-1', APPROVED],
    ['call-1', APPROVED]
  ]);
});

it.each([
  ['Ctrl+Enter', { key: 'Enter', ctrlKey: true }, APPROVED],
  ['⌘+Enter', { key: 'Enter', metaKey: true }, APPROVED],
  ['Esc', { key: 'Escape' }, REJECTED],
  ['Ctrl+Backspace', { key: 'Backspace', ctrlKey: true }, REJECTED]
])('is answered by %s while the focus is inside', (_, press, answer) => {
  ask();
  wait(400);
  fireEvent.keyDown(button('Reject'), press);
  expect(answers).toEqual([['call-1', answer]]);
});

it.each([
  ['y', { key: 'y' }],
  ['a', { key: 'a' }],
  ['n', { key: 'n' }],
  ['Backspace', { key: 'Backspace' }],
  ['Shift+Ctrl+Enter', { key: 'Enter', ctrlKey: true, shiftKey: true }]
])('is not answered by %s', (_, press) => {
  ask();
  wait(400);
  fireEvent.keyDown(button('Approve'), press);
  expect(answers).toEqual([]);
});

it('is not answered by keys that are pressed elsewhere', () => {
  ask();
  wait(400);
  fireEvent.keyDown(document.body, { key: 'Enter', ctrlKey: true });
  fireEvent.keyDown(button(/Load the penguins.*Needs your approval/), { key: 'Escape' });
  expect(answers).toEqual([]);
});

it('hands on what to do instead', () => {
  ask();
  wait(400);
  fireEvent.click(button('Reject and say what to do instead'));
  const field = screen.getByRole('textbox', { name: 'What to do instead' });
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: ' use polars ' } });
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  expect(answers).toEqual([['call-1', { ...REJECTED, reason: 'use polars' }]]);
});

it('goes back to the buttons when nothing is to be done instead', () => {
  ask();
  wait(400);
  fireEvent.click(button('Reject and say what to do instead'));
  fireEvent.keyDown(screen.getByRole('textbox'), { key: 'Escape' });
  expect(button('Approve')).toBeDefined();
  fireEvent.click(button('Reject and say what to do instead'));
  fireEvent.click(button('Cancel'));
  expect(screen.queryByRole('textbox')).toBeNull();
  expect(answers).toEqual([]);
});

it('allows a tool for the session', () => {
  ask();
  wait(400);
  fireEvent.click(button('Allow for this session'));
  expect(answers).toEqual([['call-1', { ...APPROVED, forSession: true }]]);
});

it.each(['install', 'destroy'])('does not offer to allow what could %s for the session', risk => {
  ask({ risk });
  expect(screen.queryByRole('button', { name: 'Allow for this session' })).toBeNull();
});

it('cannot be answered from a tab that did not ask', () => {
  ask({}, false);
  wait(400);
  fireEvent.click(button('Approve'));
  fireEvent.keyDown(button('Reject'), { key: 'Escape' });
  expect(screen.getByText('Only the tab that asked can answer this.')).toBeDefined();
  expect(answers).toEqual([]);
});

it('gives the focus to its card when it was answered', () => {
  ask();
  wait(400);
  button('Approve').focus();
  fireEvent.click(button('Approve'));
  expect(document.activeElement?.className).toBe('cw-card-header');
});

it('takes the focus over from the card that was answered before it', () => {
  const cards = (first: ToolCard['status'], second: ToolCard['status']): React.ReactElement => (
    <TurnActionsProvider value={ACTIONS}>
      <ToolCardView card={card({ ...ASKING, status: first })} runId="run-1" />
      <ToolCardView card={card({ ...ASKING, callId: 'call-2', status: second })} runId="run-1" />
    </TurnActionsProvider>
  );
  const { rerender } = render(cards('asking', 'waiting'));
  wait(400);
  button('Approve').focus();
  fireEvent.click(button('Approve'));
  rerender(cards('ok', 'asking'));
  expect(document.activeElement).toBe(button('Approve'));
});

it('leaves the focus where the person is typing', () => {
  const field = document.createElement('textarea');
  document.body.append(field);
  field.focus();
  ask();
  wait(400);
  expect(document.activeElement).toBe(field);
  field.remove();
});

it('is answered by a command only while it has the focus', () => {
  ask();
  wait(400);
  expect(pressOnApproval('Enter')).toBe(false);
  expect(answers).toEqual([]);
  button('Approve').focus();
  act(() => {
    expect(pressOnApproval('Enter')).toBe(true);
  });
  expect(answers).toEqual([['call-1', APPROVED]]);
});

it('is rejected by a command while it has the focus', () => {
  ask();
  wait(400);
  button('Approve').focus();
  act(() => {
    expect(pressOnApproval('Escape')).toBe(true);
  });
  expect(answers).toEqual([['call-1', REJECTED]]);
});

it.each(['Enter', 'Escape'] as const)(
  'is not answered by a command while the person writes what to do instead: %s',
  key => {
    ask();
    wait(400);
    fireEvent.click(button('Reject and say what to do instead'));
    const field = screen.getByRole('textbox', { name: 'What to do instead' });
    expect(document.activeElement).toBe(field);
    act(() => {
      expect(pressOnApproval(key)).toBe(false);
    });
    expect(answers).toEqual([]);
    expect(field.isConnected).toBe(true);
  }
);

const CELL: NamedCell = {
  cell_id: 'id-0',
  cell_type: 'code',
  source: 'price = 10\nprint(price)',
  position: 1,
  execution_count: 3
};

const EDIT: Partial<ToolCard> = {
  name: 'edit_cell',
  risk: 'edit',
  code: 'price = 12\nprint(price)',
  given: { cell_id: 'id-0' },
  cells: [CELL]
};

it('shows an edit on its cell, by number and first line, and all of the change', () => {
  ask(EDIT);
  expect(button('Cell [3] price = 10')).toBeDefined();
  const change = screen.getByRole('group', { name: 'Change of this cell' });
  const lines = [...change.children].map(line => [line.localName, line.textContent]);
  expect(lines).toEqual([
    ['del', '−price = 10'],
    ['ins', '+price = 12'],
    ['div', ' print(price)']
  ]);
  expect(screen.queryByText(/id-0/)).toBeNull();
});

it.each<[string, Partial<ToolCard>]>([
  ['Accept', EDIT],
  ['Accept and run', { ...EDIT, given: { cell_id: 'id-0', run: true } }],
  ['Insert cell', { name: 'add_cell', code: '# Note' }],
  ['Delete cell', { name: 'arrange_cell', given: { cell_id: 'id-0', action: 'delete' } }],
  ['Move cell', { name: 'arrange_cell', given: { cell_id: 'id-0', action: 'move' } }],
  ['Install', { name: 'install_package', given: { name: 'polars' } }],
  ['Approve', { name: 'shop__buy', given: { what: 'all' } }]
])('says %j where that is what it does', (verb, change) => {
  ask(change);
  expect(button(verb)).toBeDefined();
});

it('shows what is deleted, and not how the call names it', () => {
  const given = { cell_id: 'id-0', action: 'delete' };
  const argumentsText = JSON.stringify(given);
  ask({ name: 'arrange_cell', code: '', given, argumentsText, cells: [CELL], risk: 'destroy' });
  expect(screen.getByRole('group', { name: 'Change of this cell' }).textContent).toBe(
    '−price = 10−print(price)'
  );
  expect(screen.queryByText(/id-0/)).toBeNull();
});

it('shows every argument of a tool that is not its own', () => {
  const argumentsText = '{"where": "production"}';
  ask({ name: 'deploy', code: 'x = 1', given: { where: 'production' }, argumentsText });
  expect(screen.getByRole('group', { name: 'Arguments of this call' }).textContent).toContain(
    'production'
  );
});

it.each([
  ['x = 1 # \u202eelif\u200b', 'x = 1 # \\u202eelif\\u200b'],
  ['x\u3164 = x\u1160 = 1', 'x\\u3164 = x\\u1160 = 1'],
  ['"a\u{e0041}\u{e0101}\ufe01"', '"a\\U000e0041\\U000e0101\\ufe01"'],
  ['"a\u200d", "⚠\ufe0f\ufe0f"', '"a\\u200d", "⚠\ufe0f\\ufe0f"'],
  ['cl\u00e9 = cl\u00e9\ufe0f', 'cl\u00e9 = cl\u00e9\\ufe0f'],
  ['"\u00e9\u200d", "\u6f22\u200c"', '"\u00e9\\u200d", "\u6f22\\u200c"']
])('spells out what would hide in code or reorder it: %j', (code, shown) => {
  ask({ code });
  expect(screen.getByRole('group', { name: 'Code of this call' }).textContent).toBe(shown);
});

it('leaves emoji and joined letters in code as they are', () => {
  const code = 'print("⚠\ufe0f ❤\ufe0f\u200d🔥 👩🏽\u200d💻 می\u200cخواهم")';
  ask({ code });
  expect(screen.getByRole('group', { name: 'Code of this call' }).textContent).toBe(code);
});

it('says that the cell is gone once it was deleted, and takes only a rejection', () => {
  const given = { cell_id: 'id-0', action: 'delete' };
  const unnumbered = { ...CELL, execution_count: null, position: 2 };
  const asked: Partial<ToolCard> = {
    ...ASKING,
    name: 'arrange_cell',
    label: 'delete cell no. 2',
    given,
    cells: [unnumbered]
  };
  let document: readonly NamedCell[] = [unnumbered];
  let tell = (): void => undefined;
  showPart(<ToolCardView card={card(asked)} runId="run-1" />, {
    findCell: () => document[0] ?? null,
    watchCells: listener => {
      tell = listener;
      return () => undefined;
    },
    answer: (callId, answer) => {
      answers.push([callId, answer]);
    }
  });
  wait(400);
  expect(button('Cell no. 2 price = 10')).toBeDefined();
  document = [{ ...unnumbered, position: 3 }];
  act(tell);
  expect(button('Cell no. 3 price = 10')).toBeDefined();
  expect(screen.queryByText(/no\. 2/)).toBeNull();
  document = [];
  act(tell);
  expect(screen.getByText(/This cell is gone/)).toBeDefined();
  expect(screen.queryByText(/no\. [23]/)).toBeNull();
  fireEvent.click(button('Delete cell'));
  fireEvent.keyDown(button('Reject'), { key: 'Enter', ctrlKey: true });
  expect(answers).toEqual([]);
  fireEvent.click(button('Reject'));
  expect(answers).toEqual([['call-1', REJECTED]]);
});

it('leads to the notebook that has to be open where no tab drives any more', () => {
  showPart(
    <OpenerProvider value={{ run: null, place: place => () => opened.push(place) }}>
      <ToolCardView card={card(ASKING)} runId="run-1" />
    </OpenerProvider>,
    { canAnswer: false, notebookToOpen: 'a/b.ipynb' }
  );
  wait(400);
  expect(button('Approve').getAttribute('aria-disabled')).toBe('true');
  expect(screen.queryByText(/Only the tab that asked/)).toBeNull();
  fireEvent.click(button('Open notebook'));
  expect(opened).toEqual(['a/b.ipynb']);
});

it('marks the cell while it asks and leads to it', () => {
  const calls: unknown[] = [];
  const { unmount } = showPart(<ToolCardView card={card({ ...ASKING, ...EDIT })} runId="run-1" />, {
    findCell: () => CELL,
    highlight: (...call) => calls.push(call),
    reveal: id => calls.push(id)
  });
  fireEvent.click(button('Cell [3] price = 10'));
  unmount();
  expect(calls).toEqual([['id-0', true], 'id-0', ['id-0', false]]);
});
