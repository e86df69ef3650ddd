import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, expect, it } from 'vitest';

import { RequestError } from '../../src/client/request';
import { FakeChat, FakePanel, turn } from './fakes';
import { settle, Stage } from './stage';

afterEach(cleanup);

function twoTurns(): FakePanel {
  const turns = [turn({ runId: 'a', prompt: 'Which unit?' }), turn({ runId: 'b' })];
  return new FakePanel(new FakeChat({}, turns));
}

function buttonOf(index: number, name: string): HTMLElement {
  const article = screen.getAllByRole('article')[index];
  return within(article ?? document.body).getByRole('button', { name });
}

it('keeps a thumb, turns it round and takes it back', async () => {
  const panel = twoTurns();
  const { container } = await new Stage(panel).show();
  expect(screen.queryByRole('textbox', { name: 'Comment on the answer' })).toBeNull();
  fireEvent.click(buttonOf(1, 'Good answer'));
  await settle();
  expect(panel.calls.at(-1)).toEqual(['setThumb', 'chat-1', 'b', { is_up: true, comment: '' }]);
  expect(buttonOf(1, 'Good answer').getAttribute('aria-pressed')).toBe('true');
  expect(buttonOf(0, 'Good answer').getAttribute('aria-pressed')).toBe('false');
  expect((await axe.run(container, { runOnly: ['wcag2a'] })).violations).toEqual([]);
  fireEvent.click(buttonOf(1, 'Bad answer'));
  await settle();
  expect(buttonOf(1, 'Good answer').getAttribute('aria-pressed')).toBe('false');
  fireEvent.click(buttonOf(1, 'Bad answer'));
  await settle();
  expect(panel.calls.at(-1)).toEqual(['setThumb', 'chat-1', 'b', null]);
  expect(buttonOf(1, 'Bad answer').getAttribute('aria-pressed')).toBe('false');
});

it('keeps a comment with Enter, and lets one go with Escape', async () => {
  const panel = twoTurns();
  panel.thumbs = { a: { is_up: false, comment: 'too short' } };
  await new Stage(panel).show();
  const field = screen.getByRole('textbox', { name: 'Comment on the answer' });
  expect(field).toHaveProperty('value', 'too short');
  fireEvent.change(field, { target: { value: 'never mind' } });
  fireEvent.keyDown(field, { key: 'Escape' });
  expect(field).toHaveProperty('value', 'too short');
  fireEvent.change(field, { target: { value: ' no unit ' } });
  fireEvent.keyDown(field, { key: 'Enter' });
  await settle();
  const kept = { is_up: false, comment: 'no unit' };
  expect(panel.calls.at(-1)).toEqual(['setThumb', 'chat-1', 'a', kept]);
  expect(field).toHaveProperty('value', 'no unit');
  expect(screen.queryByRole('button', { name: 'Save' })).toBeNull();
});

it('leaves the run alone with Escape, and the comment while a word is composed', async () => {
  const panel = twoTurns();
  panel.thumbs = { a: { is_up: false, comment: 'too short' } };
  panel.chat.set({ state: { run: 'b' } });
  await new Stage(panel).show();
  const field = screen.getByRole('textbox', { name: 'Comment on the answer' });
  fireEvent.change(field, { target: { value: 'tai' } });
  fireEvent.keyDown(field, { key: 'Escape', isComposing: true });
  expect(field).toHaveProperty('value', 'tai');
  fireEvent.keyDown(field, { key: 'Escape' });
  expect(field).toHaveProperty('value', 'too short');
  expect(panel.chat.calls).toEqual([]);
});

it('asks why when a thumb is given, and no longer once the person does something else', async () => {
  const panel = twoTurns();
  panel.thumbs = { b: { is_up: true, comment: '' } };
  await new Stage(panel).show();
  const find = (): HTMLElement | null =>
    screen.queryByRole('textbox', { name: 'Comment on the answer' });
  expect(find()).toBeNull();
  fireEvent.click(buttonOf(0, 'Good answer'));
  await settle();
  expect(document.activeElement).toBe(find());
  fireEvent.blur(document.activeElement ?? document.body);
  expect(find()).toBeNull();
});

it('says why a thumb is not kept', async () => {
  const panel = twoTurns();
  await new Stage(panel).show();
  panel.refusal = new RequestError(404, '', 'The chat has no such run.', 'Reload it.');
  fireEvent.click(buttonOf(0, 'Good answer'));
  expect(await screen.findByText('The chat has no such run.')).toBeDefined();
});
