import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { ChatSummary } from '../../src/chat/types';
import { RequestError } from '../../src/client/request';
import { fileName } from '../../src/ui/copy_and_save';
import { formatMoment } from '../../src/ui/words';
import { FakePanel } from './fakes';
import { PATH, settle, Stage } from './stage';

const CHATS: readonly ChatSummary[] = [
  {
    id: 'chat-1',
    title: 'Penguins',
    notebookPath: PATH,
    updatedAt: 1000,
    runs: 1,
    activity: 'none'
  },
  {
    id: 'chat-2',
    title: 'Whales',
    notebookPath: 'sea/whales.ipynb',
    updatedAt: 900,
    runs: 3,
    activity: 'running'
  },
  {
    id: 'chat-3',
    title: '',
    notebookPath: '',
    updatedAt: 800,
    runs: 0,
    activity: 'waiting_for_person'
  }
];

let panel: FakePanel;

beforeEach(async () => {
  panel = new FakePanel();
  panel.chats = CHATS;
  panel.notebook = { path: PATH, kernelId: '', outline: () => [] };
  await new Stage(panel).show();
  fireEvent.click(screen.getByRole('button', { name: 'Chats' }));
  await settle();
  panel.calls.length = 0;
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

function choose(chat: string, entry: string): void {
  fireEvent.click(screen.getByRole('button', { name: `More for ${chat}` }));
  fireEvent.click(screen.getByRole('menuitem', { name: entry }));
}

it('lists the chats of this notebook first, the others with theirs', () => {
  const [here, others] = screen.getAllByRole('list');
  expect(within(here ?? document.body).getAllByRole('listitem')).toHaveLength(1);
  expect(here?.textContent).toContain('Penguins');
  expect(here?.textContent).toContain('1 prompt');
  expect(here?.textContent).not.toContain('penguins.ipynb');
  expect(others?.textContent).toContain('whales.ipynb');
  expect(others?.textContent).toContain('3 prompts');
  expect(others?.textContent).toContain('Untitled chat');
});

it('marks the chats that run and those that wait for the person, and looks again', async () => {
  expect(screen.getByRole('button', { name: /^Whales.*Running/ })).toBeDefined();
  expect(screen.getByRole('button', { name: /^Untitled chat.*Waits for you/ })).toBeDefined();
  expect(screen.queryByRole('button', { name: /^Penguins.*(Running|Waits)/ })).toBeNull();
  await act(() => new Promise(resolve => setTimeout(resolve, 3100)));
  expect(panel.calls).toEqual([['refreshChats', undefined]]);
});

it('marks the chat that is shown', () => {
  expect(screen.getByRole('button', { name: /^Penguins/, current: true })).toBeDefined();
});

it('goes on with a chat and gives the focus back to the prompt', async () => {
  fireEvent.click(screen.getByRole('button', { name: /^Whales/ }));
  expect(panel.calls).toEqual([['openChat', 'chat-2']]);
  await settle();
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

it.each(['button', 'Esc'])('goes back to the chat with the %s', async way => {
  if (way === 'Esc') {
    fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Escape' });
  } else {
    fireEvent.click(screen.getByRole('button', { name: 'Back to the chat' }));
  }
  await settle();
  expect(screen.queryByRole('searchbox')).toBeNull();
  expect(panel.calls).toEqual([]);
});

it('searches once the person stops typing', async () => {
  const field = screen.getByRole('searchbox');
  fireEvent.change(field, { target: { value: 'wha' } });
  fireEvent.change(field, { target: { value: 'whale ' } });
  await act(() => new Promise(resolve => setTimeout(resolve, 400)));
  expect(panel.calls).toEqual([['refreshChats', 'whale']]);
  act(() => {
    panel.chats = [];
    panel.chatsChanged.emit([]);
  });
  expect(screen.getByText('No chat fits')).toBeDefined();
});

it('says that there are no chats', () => {
  act(() => {
    panel.chats = [];
    panel.chatsChanged.emit([]);
  });
  expect(screen.getByText('No chats yet')).toBeDefined();
});

it('renames a chat', () => {
  choose('Whales', 'Rename');
  const field = screen.getByRole('textbox', { name: 'Title' });
  fireEvent.change(field, { target: { value: 'Dolphins' } });
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(panel.calls).toEqual([['renameChat', 'chat-2', 'Dolphins']]);
});

it('deletes a chat only after a second yes', () => {
  choose('Whales', 'Delete …');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep' }));
  fireEvent.click(screen.getByRole('button', { name: 'Keep' }));
  expect(panel.calls).toEqual([]);
  choose('Whales', 'Delete …');
  fireEvent.click(screen.getByRole('button', { name: 'Delete' }));
  expect(panel.calls).toEqual([['deleteChat', 'chat-2']]);
});

it('keeps a chat with Esc, which leaves the list open', () => {
  choose('Whales', 'Delete …');
  fireEvent.keyDown(screen.getByRole('button', { name: 'Keep' }), { key: 'Escape' });
  expect(screen.queryByRole('button', { name: 'Keep' })).toBeNull();
  expect(screen.getByRole('searchbox')).toBeDefined();
  expect(panel.calls).toEqual([]);
});

it('stays open while a word is composed in the search', () => {
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'Escape', isComposing: true });
  expect(screen.getByRole('searchbox')).toBeDefined();
});

it('says what the server refused, until the person closes it', () => {
  act(() => {
    panel.problem = { code: 'busy', message: 'It is running.', hint: 'Stop it first.' };
    panel.problemChanged.emit(panel.problem);
  });
  expect(screen.getByRole('status').textContent).toContain('It is running.');
  fireEvent.click(screen.getByRole('button', { name: 'Close this message' }));
  expect(screen.queryByText('It is running.')).toBeNull();
});

it.each([
  ['Export as Markdown', 'markdown', 'Whales.md'],
  ['Export as notebook', 'ipynb', 'Whales.ipynb'],
  ['Export as web page', 'html', 'Whales.html']
])('hands out a file: %s', async (entry, format, name) => {
  const downloads: string[] = [];
  vi.stubGlobal('URL', { createObjectURL: () => 'blob:1', revokeObjectURL: () => undefined });
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
    this: HTMLAnchorElement
  ) {
    downloads.push(this.download);
  });
  choose('Whales', entry);
  await settle();
  expect(panel.calls).toEqual([['exportChat', 'chat-2', format]]);
  expect(downloads).toEqual([name]);
  vi.unstubAllGlobals();
});

it('says why a chat could not be exported, and what to do', async () => {
  panel.refusal = new RequestError(404, '', 'It was deleted.', 'Choose another.');
  choose('Whales', 'Export as notebook');
  expect((await screen.findByRole('alert')).textContent).toBe('It was deleted. Choose another.');
});

it('takes out of a file name what file systems do not allow', () => {
  expect(fileName('a/b\\c: "d"?\n.md')).toBe('a-b-c- -d-.md');
  expect(fileName(`${'x'.repeat(300)}.md`)).toHaveLength(120);
});

it('gives the time for today, a date for other days and the year for other years', () => {
  const now = new Date(2026, 10, 21, 15, 0);
  const at = (...parts: [number, number, number]): string =>
    formatMoment(new Date(...parts, 9, 30).getTime() / 1000, now);
  expect(at(2026, 10, 21)).toMatch(/30/);
  expect(at(2026, 10, 20)).toMatch(/20/);
  expect(at(2026, 10, 20)).not.toMatch(/2026/);
  expect(at(2025, 10, 20)).toMatch(/2025/);
});
