/** Requirement 002-21: notes that go with the next question, above the composer. */
import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, expect, it } from 'vitest';

import type { WaitingNote } from '../../src/client/panel_rest';
import { RequestError } from '../../src/client/request';
import { field, RUNNING, type } from './composer_stage';
import { FakeChat, FakePanel } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(cleanup);

const ADD = /^Add without sending/;
const TITLE = 'Goes with your next question';

function note(id: string, text: string, role = 'user_later'): WaitingNote {
  return { id, role, text };
}

async function show(chat = new FakeChat(), waiting: readonly WaitingNote[] = []) {
  const panel = new FakePanel(chat);
  panel.waiting = waiting;
  const { container } = await new Stage(panel).show();
  return { chat, panel, container };
}

/** What axe finds in all that stands below the conversation. */
async function violations(root: Element): Promise<unknown> {
  const options = { rules: { 'color-contrast': { enabled: false }, region: { enabled: false } } };
  return (await axe.run(root.querySelector('.cw-composer') ?? root, options)).violations;
}

const shown = (): HTMLElement[] =>
  within(screen.getByRole('region', { name: TITLE })).getAllByRole('listitem');
const words = (): (string | null)[] => shown().map(({ textContent }) => textContent);

it('002-21 adds a note with its button, says so and leaves the focus in the field', async () => {
  const { chat, panel, container } = await show();
  const button = screen.getByRole('button', { name: ADD });
  expect(button.getAttribute('aria-disabled')).toBe('true');
  fireEvent.click(button);
  type(' The unit is kg. ');
  expect(button.getAttribute('aria-disabled')).toBe('false');
  fireEvent.click(button);
  await settle();
  expect(panel.calls).toEqual([['addNote', 'chat-1', 'The unit is kg.']]);
  expect(chat.calls).toEqual([['begin']]);
  expect([field().value, words()]).toEqual(['', ['The unit is kg.']]);
  expect(document.activeElement).toBe(field());
  const said = screen.getAllByRole('status').map(({ textContent }) => textContent);
  expect(said).toContain('Added. It goes with your next question.');
  expect(await violations(container)).toEqual([]);
});

it('002-21 adds a note with Alt+Enter while a run goes on', async () => {
  const { chat, panel } = await show(new FakeChat(RUNNING));
  type('The unit is kg.');
  fireEvent.keyDown(field(), { key: 'Enter', altKey: true, isComposing: true });
  fireEvent.keyDown(field(), { key: 'Enter', altKey: true, ctrlKey: true });
  expect(fireEvent.keyDown(field(), { key: 'Enter', altKey: true })).toBe(false);
  await settle();
  expect(panel.calls).toEqual([['addNote', 'chat-1', 'The unit is kg.']]);
  expect(chat.calls).toEqual([['begin']]);
  expect(words()).toEqual(['The unit is kg.']);
});

it.each([
  [new RequestError(400, '', '100 notes wait already.', 'Ask something.'), /100 notes .* Ask/],
  [new RequestError(0, 'network', 'TypeError: Failed to fetch', ''), /server is not connected/]
])('002-21 keeps the text where it is not taken, and says why', async (refusal, message) => {
  const { panel } = await show();
  panel.refusal = refusal;
  type('The unit is kg.');
  press(ADD);
  await settle();
  expect(screen.getByRole('alert').textContent).toMatch(message);
  expect(field().value).toBe('The unit is kg.');
  expect(screen.queryByRole('region', { name: TITLE })).toBeNull();
  type('The unit is kg!');
  expect(screen.queryByRole('alert')).toBeNull();
});

it('002-21 takes a note back into the field, behind what stands there', async () => {
  const { panel } = await show(new FakeChat(), [note('a', 'The unit is kg.'), note('b', 'Round.')]);
  type('Plot it.');
  fireEvent.click(screen.getAllByRole('button', { name: 'Take back' })[1] ?? document.body);
  await settle();
  expect(panel.calls).toEqual([['takeNote', 'chat-1', 'b']]);
  expect(field().value).toBe('Plot it.\n\nRound.');
  expect([document.activeElement, field().selectionStart]).toEqual([field(), 16]);
  expect(words()).toEqual(['The unit is kg.']);
});

it('002-21 folds all but the last three, and tells roles and long texts', async () => {
  const long = `Mind this: ${'word '.repeat(40)}`;
  const { container } = await show(new FakeChat(), [
    note('a', 'First.'),
    note('b', 'Second.'),
    note('c', 'Be brief.', 'system'),
    note('d', 'It is 42.', 'assistant'),
    note('e', long)
  ]);
  expect(words()).toEqual(['InstructionBe brief.', 'AnswerIt is 42.', long]);
  const text = within(shown()[2] ?? container).getByRole('button', { name: /^Mind this/ });
  expect([text.title, text.getAttribute('aria-expanded')]).toEqual([long, 'false']);
  fireEvent.click(text);
  expect(text.getAttribute('aria-expanded')).toBe('true');
  press('2 more');
  expect(shown()).toHaveLength(5);
  expect(await violations(container)).toEqual([]);
  fireEvent.click(screen.getAllByRole('button', { name: 'Show less' }).at(-1) ?? container);
  expect(shown()).toHaveLength(3);
});

it('002-21 shows what was noted elsewhere, and nothing once a question took it', async () => {
  const { chat, panel } = await show();
  panel.waiting = [note('a', 'From the notebook.')];
  await act(async () => {
    chat.stateReceived.emit(chat.state);
    await Promise.resolve();
  });
  expect(words()).toEqual(['From the notebook.']);
  act(() => {
    chat.stateReceived.emit({ ...chat.state, ...RUNNING });
  });
  expect(screen.queryByRole('region', { name: TITLE })).toBeNull();
});
