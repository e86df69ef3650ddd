import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ChatPage, pass } from './chat_page';
import * as events from './events';
import { turnOf } from './folded';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('is kept apart from the answer, with what it saved', () => {
  const compacted = { kind: 'history_compacted', tokens_before: 9000, tokens_after: 400 } as const;
  const run = [events.started('/compact'), compacted, events.finished()];
  const turn = turnOf(...run);
  expect(turn.compactions).toEqual([{ tokensBefore: 9000, tokensAfter: 400 }]);
  expect(turn.blocks).toEqual([]);
});

it('is asked of the server, and a refusal is shown', async () => {
  const page = new ChatPage();
  await pass(0);
  const chat = await page.open('c1');
  chat.compact();
  const [sent] = page.server.sent('compact');
  expect(sent).toMatchObject({ type: 'compact', chat: 'c1' });
  const problem = { code: 'nothing_to_gain', message: 'There is nothing.', hint: '' };
  page.server.send({ type: 'error', request: sent?.request, chat: 'c1', ...problem });
  expect(chat.problem).toEqual(problem);
  page.socket.dispose();
});

it('leaves files with the names that the person gave them', () => {
  const sent = { files: ['/home/0a1b.png', '/home/2c3d.csv'] };
  const named = { ...sent, file_names: ['dot.png', 'data.csv'] };
  const filesOf = (change: Parameters<typeof events.started>[1]) =>
    turnOf(events.started('Look', change)).files;
  expect(filesOf(named)).toEqual(['dot.png', 'data.csv']);
  expect(filesOf(sent)).toEqual(sent.files);
});
