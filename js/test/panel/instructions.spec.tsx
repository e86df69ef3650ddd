import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, expect, it } from 'vitest';

import { FakeChat, FakePanel } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(cleanup);

const SET = 'This chat has its own instructions';

async function openForm(panel = new FakePanel()) {
  const stage = new Stage(panel);
  const { container } = await stage.show();
  press('More');
  fireEvent.click(screen.getByRole('menuitem', { name: 'Instructions for this chat …' }));
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', {
    name: 'Instructions for this chat'
  });
  const write = (value: string): void => {
    fireEvent.change(field, { target: { value } });
  };
  return { panel, container, field, write };
}

it('saves instructions, and marks the chat that has some', async () => {
  const { panel, container, field, write } = await openForm();
  expect(screen.queryByRole('button', { name: SET })).toBeNull();
  expect(document.activeElement).toBe(field);
  write(' Answer briefly. ');
  expect(screen.getByText('15 of 1024 characters')).toBeDefined();
  expect((await axe.run(container, { runOnly: ['wcag2a'] })).violations).toEqual([]);
  press('Save');
  await settle();
  expect(panel.calls).toContainEqual(['changeChat', 'chat-1', { prompt: 'Answer briefly.' }]);
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
  press(SET);
  expect(screen.getByDisplayValue('Answer briefly.')).toBeDefined();
});

it('takes the instructions of the server, and leaves them as they were with Esc', async () => {
  const panel = new FakePanel();
  panel.prompt = 'Use polars.';
  const { field, write } = await openForm(panel);
  expect(field.value).toBe('Use polars.');
  write('Use pandas.');
  fireEvent.keyDown(field, { key: 'Escape' });
  expect(panel.calls).toEqual([]);
  expect(screen.queryByDisplayValue('Use pandas.')).toBeNull();
});

it('shows that another tab gave the chat instructions', async () => {
  const panel = new FakePanel();
  await new Stage(panel).show();
  panel.prompt = 'Use polars.';
  panel.chat.stateReceived.emit(panel.chat.state);
  expect(await screen.findByRole('button', { name: SET })).toBeDefined();
});

it('saves no more than 1024 characters, and says what the server refuses', async () => {
  const { panel, field, write } = await openForm();
  write('𝄞'.repeat(1025));
  expect(screen.getByText('1025 of 1024 characters')).toBeDefined();
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  await settle();
  expect(panel.calls).toEqual([]);
  write('𝄞'.repeat(1024));
  panel.refusal = new Error('The record cannot be written.');
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  expect((await screen.findByRole('alert')).textContent).toBe('The record cannot be written.');
  expect(field.isConnected).toBe(true);
});

it('has a chat made that nothing was asked in yet', async () => {
  const chat = new FakeChat();
  chat.state = { ...chat.state, id: '' };
  const { panel, write } = await openForm(new FakePanel(chat));
  write('Answer briefly.');
  press('Save');
  await settle();
  expect(chat.calls).toEqual([['begin']]);
  expect(panel.calls).toContainEqual(['changeChat', 'begun', { prompt: 'Answer briefly.' }]);
});

const LINES = 'Windows line ends become plain ones';
const COLOURS = 'Terminal colours are taken out';
const BLANKS = 'At most one blank line in a row';

function box(name: string): HTMLInputElement {
  return screen.getByRole<HTMLInputElement>('checkbox', { name });
}

it('test_002_47 shows what is done to prompts, and saves what was switched off', async () => {
  const { panel, container } = await openForm();
  const group = screen.getByRole('group', { name: 'Before your words are sent' });
  const boxes = within(group).getAllByRole<HTMLInputElement>('checkbox');
  expect(boxes.map(({ checked }) => checked)).toEqual([true, true, true]);
  const note = document.getElementById(group.getAttribute('aria-describedby') ?? '');
  expect(note?.textContent).toBe('Code between fences is never changed.');
  expect((await axe.run(container, { runOnly: ['wcag2a'] })).violations).toEqual([]);
  fireEvent.click(box(COLOURS));
  expect(box(COLOURS).checked).toBe(false);
  expect(panel.calls).toEqual([]);
  press('Save');
  await settle();
  const change = { prompt: '', text_filters: ['line_ends', 'blank_lines'] };
  expect(panel.calls).toContainEqual(['changeChat', 'chat-1', change]);
  press('More');
  fireEvent.click(screen.getByRole('menuitem', { name: 'Instructions for this chat …' }));
  expect([box(LINES), box(COLOURS), box(BLANKS)].map(({ checked }) => checked)).toEqual([
    true,
    false,
    true
  ]);
});

it('test_002_47 keeps filters that it has no words for, and shows what is refused', async () => {
  const panel = new FakePanel();
  panel.textFilters = ['emoji', 'blank_lines'];
  const { field } = await openForm(panel);
  expect(box(LINES).checked).toBe(false);
  fireEvent.click(box(LINES));
  panel.refusal = new Error("There is no text filter 'emoji'.");
  fireEvent.keyDown(box(LINES), { key: 'Enter', ctrlKey: true });
  expect((await screen.findByRole('alert')).textContent).toContain("'emoji'");
  expect(box(LINES).checked).toBe(true);
  panel.refusal = null;
  fireEvent.keyDown(field, { key: 'Enter', ctrlKey: true });
  await settle();
  const names = ['emoji', 'line_ends', 'blank_lines'];
  expect(panel.calls.at(-1)).toEqual(['changeChat', 'chat-1', { prompt: '', text_filters: names }]);
});
