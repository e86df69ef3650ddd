import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { chatState } from '../fake_socket';
import { ChatPage, pass } from './chat_page';
import * as events from './events';

let page: ChatPage;

beforeEach(async () => {
  vi.useFakeTimers();
  page = new ChatPage();
  await pass(0);
});

afterEach(() => {
  page.socket.dispose();
  vi.useRealTimers();
});

it('marks the turns that others took the place of, and no others', async () => {
  const chat = await page.open('c1');
  for (const run of ['r1', 'r2', 'r3']) {
    page.server.record('c1', run, [events.started(run), events.finished()]);
  }
  const before = chat.turns;
  page.server.setChat(chatState('c1', { superseded: [{ run: 'r2', by: 'r3' }] }));
  expect(chat.turns.map(({ supersededBy }) => supersededBy)).toEqual(['', 'r3', '']);
  expect(chat.turns[0]).toBe(before[0]);
  page.server.record('c1', 'r2', [events.said('more')]);
  expect(chat.turns[1]?.supersededBy).toBe('r3');
  page.server.setChat(chatState('c1'));
  expect(chat.turns[1]?.supersededBy).toBe('');
});

it('asks in place of a run only where that is said', async () => {
  const chat = await page.open('c1');
  const draft = { text: 'again', context: [], mode: 'ask', model: '' } as const;
  chat.ask(draft, { supersedes: 'r1' });
  await pass(0);
  expect(page.server.sent('ask').at(-1)).toMatchObject({ supersedes: 'r1', instead: false });
  chat.ask(draft);
  await pass(0);
  expect(page.server.sent('ask').at(-1)).toMatchObject({ supersedes: '' });
});
