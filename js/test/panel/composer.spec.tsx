import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import { draft, field, RUNNING, stage, type } from './composer_stage';
import { FakeChat } from './fakes';

afterEach(cleanup);

it('sends with Enter and empties the field', async () => {
  const { chat } = await stage();
  type(' Plot it ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft(), { instead: false }]]);
  expect(field().value).toBe('');
});

it('leaves Shift+Enter to the field, for a new line', async () => {
  const { chat } = await stage();
  type('Plot it');
  expect(fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true })).toBe(true);
  expect(chat.calls).toEqual([]);
});

it('swaps the two where the person set it so', async () => {
  const { chat } = await stage(new FakeChat(), { sendWith: 'Shift Enter' });
  type('Plot it');
  expect(fireEvent.keyDown(field(), { key: 'Enter' })).toBe(true);
  expect(chat.calls).toEqual([]);
  fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true });
  expect(chat.calls).toEqual([['ask', draft(), { instead: false }]]);
});

it.each([
  ['while an input method composes', { key: 'Enter', isComposing: true }],
  ['as Safari tells of an input method', { key: 'Enter', keyCode: 229 }],
  ['with Alt and Shift', { key: 'Enter', altKey: true, shiftKey: true }]
])('does not send with Enter %s', async (_, press) => {
  const { chat } = await stage();
  type('图');
  fireEvent.keyDown(field(), press);
  expect(chat.calls).toEqual([]);
});

it('sends nothing that is empty', async () => {
  const { chat } = await stage();
  type('   ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  fireEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(chat.calls).toEqual([]);
});

it('keeps the text while there is no connection', async () => {
  const { chat, panel } = await stage();
  type('Plot it');
  act(() => {
    panel.link = 'waiting';
    panel.linkChanged.emit('waiting');
  });
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([]);
  expect(field().value).toBe('Plot it');
  expect(screen.getByRole('button', { name: /Cannot send yet/ })).toBeDefined();
});

it('stops with the button that stands in place of Send, and with Esc', async () => {
  const { chat } = await stage(new FakeChat(RUNNING));
  expect(screen.queryByRole('button', { name: /Send/ })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Stop the run (Esc)' }));
  fireEvent.keyDown(field(), { key: 'Escape' });
  fireEvent.keyDown(screen.getByRole('log'), { key: 'Escape' });
  expect(chat.calls).toEqual([['stop'], ['stop'], ['stop']]);
});

it('says that stopping interrupts a cell that runs', async () => {
  await stage(new FakeChat({ run: 'run-1', phase: 'tool' }));
  expect(
    screen.getByRole('button', { name: 'Stop the run and interrupt its cell (Esc)' })
  ).toBeDefined();
});

it('leaves Esc alone while nothing runs', async () => {
  const { chat } = await stage();
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(chat.calls).toEqual([]);
});

it('queues a prompt while a run goes on, and replaces the run with Ctrl+Enter', async () => {
  const { chat } = await stage(new FakeChat(RUNNING));
  type('Plot it');
  fireEvent.click(screen.getByRole('button', { name: /^Send when the run has ended/ }));
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter', ctrlKey: true });
  expect(chat.calls).toEqual([
    ['ask', draft(), { instead: false }],
    ['ask', draft(), { instead: true }]
  ]);
});
