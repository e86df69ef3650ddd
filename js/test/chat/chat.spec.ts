import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ChatModel } from '../../src/chat/chat';
import { chatState, type FakeServer } from '../fake_socket';
import { ChatPage, pass } from './chat_page';
import * as events from './events';

let page: ChatPage;
let server: FakeServer;

beforeEach(async () => {
  vi.useFakeTimers();
  page = new ChatPage();
  ({ server } = page);
  await pass(0);
});

afterEach(() => {
  page.socket.dispose();
  vi.useRealTimers();
});

describe('opening a chat', () => {
  it('shows what was said before, drawn at its end and not for each event', async () => {
    for (let run = 0; run < 50; run += 1) {
      server.record('c1', `r${String(run)}`, [events.started('a'), events.finished()]);
    }
    page.reconnect();
    const chat = page.begin('c1');
    let drawn = 0;
    chat.changed.connect(() => (drawn += 1));
    expect(chat.isCaughtUp).toBe(false);
    await pass(0);
    expect(chat.turns).toHaveLength(50);
    expect(chat.isCaughtUp).toBe(true);
    expect(drawn).toBeLessThan(6);
  });

  it('says which events happened while nobody was listening', async () => {
    const chat = await page.open('c1');
    const seen: string[] = [];
    chat.eventReceived.connect((_, { run, recorded, isReplay }) => {
      seen.push(`${run} ${recorded.event.kind} ${String(isReplay)}`);
    });
    server.record('c1', 'r1', [events.started('a')]);
    server.drop();
    server.record('c1', 'r1', [events.called('x')]);
    await pass(1);
    server.record('c1', 'r1', [events.said('x')]);
    expect(seen).toEqual(['r1 run_started false', 'r1 tool_started true', 'r1 text_delta false']);
  });

  it('hears nothing of other chats', async () => {
    const chat = await page.open('c1');
    page.socket.follow('c2');
    server.record('c2', 'r1', [events.started('a')]);
    server.setChat(chatState('c2', { title: 'Other' }));
    expect(chat.turns).toEqual([]);
    expect(chat.state.title).toBe('A chat');
  });

  it('goes on where it was after the line broke, with nothing twice', async () => {
    const chat = await page.open('c1');
    server.record('c1', 'r1', [events.started('a'), events.said('one ')]);
    server.drop();
    expect(chat.isCaughtUp).toBe(false);
    server.record('c1', 'r1', [events.said('two')]);
    await pass(1);
    expect(chat.turns[0]?.blocks).toEqual([{ kind: 'text', text: 'one two', isStreaming: true }]);
    expect(chat.isCaughtUp).toBe(true);
  });
});

describe('drawing', () => {
  it('happens at most 20 times a second while text streams', async () => {
    const chat = await page.open('c1');
    let drawn = 0;
    chat.changed.connect(() => (drawn += 1));
    for (let count = 0; count < 100; count += 1) {
      server.record('c1', 'r1', [events.said('word ')]);
      await pass(0.01);
    }
    expect(drawn).toBeGreaterThan(10);
    expect(drawn).toBeLessThanOrEqual(21);
    await pass(0.2);
    const [text] = chat.turns[0]?.blocks ?? [];
    expect(text).toMatchObject({ text: 'word '.repeat(100) });
  });

  it('happens at once for all else', async () => {
    const chat = await page.open('c1');
    let drawn = 0;
    chat.changed.connect(() => (drawn += 1));
    server.record('c1', 'r1', [events.started('a')]);
    server.record('c1', 'r1', [events.called('x')]);
    server.setChat(chatState('c1', { phase: 'tool', run: 'r1' }));
    expect(drawn).toBe(3);
  });
});

describe('what the person does in a run', () => {
  async function running(change: Partial<ReturnType<typeof chatState>> = {}): Promise<ChatModel> {
    const chat = await page.open('c1');
    server.setChat(chatState('c1', { run: 'r1', driver: 'tab-1', ...change }));
    return chat;
  }

  it('goes to the server', async () => {
    const input = { request: 'i1', prompt: 'Name?', password: false, form: null };
    const chat = await running({ input });
    chat.answer('call', false, 'not now', true);
    chat.sendInput('Ada');
    chat.extend(60);
    chat.editQueue('q1', 'edit', { prompt: 'Better' });
    chat.editQueue('q1', 'move', { position: 0 });
    chat.editQueue('', 'resume');
    chat.stop();
    expect(server.line.sent.slice(-7)).toEqual([
      {
        type: 'answer',
        chat: 'c1',
        call_id: 'call',
        allowed: false,
        reason: 'not now',
        for_session: true
      },
      { type: 'input', chat: 'c1', request: 'i1', value: 'Ada' },
      { type: 'extend', chat: 'c1', seconds: 60 },
      { type: 'queue', chat: 'c1', id: 'q1', action: 'edit', prompt: 'Better', position: null },
      { type: 'queue', chat: 'c1', id: 'q1', action: 'move', prompt: null, position: 0 },
      { type: 'queue', chat: 'c1', id: '', action: 'resume', prompt: null, position: null },
      { type: 'stop', chat: 'c1' }
    ]);
  });

  it('is told to be impossible while the line is down', async () => {
    const chat = await running();
    server.drop();
    chat.stop();
    expect(chat.problem?.code).toBe('disconnected');
  });

  it('sends no input that nobody asks for', async () => {
    (await running()).sendInput('x');
    expect(server.sent('input')).toEqual([]);
  });

  it('takes the run over first when the page that could answer is gone', async () => {
    const chat = await running({ driver: '' });
    chat.answer('call', true);
    expect(server.line.sent.slice(-2).map(({ type }) => type)).toEqual(['drive', 'answer']);
  });

  it('tells a tab that drives from one that reads along', async () => {
    expect((await running()).isDriver).toBe(true);
    expect((await running()).isDrivenElsewhere).toBe(false);
    expect((await running({ driver: 'tab-2' })).isDrivenElsewhere).toBe(true);
    expect((await running({ driver: 'tab-2', run: '' })).isDrivenElsewhere).toBe(false);
    expect((await running({ driver: '' })).isDriver).toBe(false);
  });

  it('shows why taking over failed only to a person who asked for it', async () => {
    const error = { type: 'error', request: '', chat: 'c1', code: 'driven', hint: '' };
    const chat = await running({ driver: '' });
    chat.drive(true);
    server.send({ ...error, message: 'Another tab works with this chat.' });
    expect(chat.problem).toBeNull();
    chat.drive();
    server.send({ ...error, message: 'Another tab works with this chat.' });
    expect(chat.problem?.code).toBe('driven');
  });
});

describe('the end', () => {
  it('of a chat leaves the socket, and nothing is heard any more', async () => {
    const chat = await page.open('c1');
    chat.dispose();
    chat.dispose();
    server.record('c1', 'r1', [events.started('a')]);
    expect(chat.turns).toEqual([]);
    expect(server.sent('unfollow')).toHaveLength(1);
  });
});
