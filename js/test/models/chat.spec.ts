import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ChatModel } from '../../src/models/chat';
import { ChatMemory } from '../../src/models/memory';
import type { Draft } from '../../src/models/types';
import { RequestError } from '../../src/server/request';
import { ServerSocket } from '../../src/server/socket';
import { chatState, FakeServer } from '../fake_socket';
import * as events from './events';
import { FakeStore } from './fake_store';

const DRAFT: Draft = {
  text: 'Plot it',
  context: [{ kind: 'variable', name: 'df' }],
  mode: 'ask',
  model: ''
};

let server: FakeServer;
let socket: ServerSocket;
let store: FakeStore;
let made: string[];
let create: (path: string) => Promise<string>;

function pass(seconds: number): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(seconds * 1000);
}

function openChat(id: string, notebookPath = ''): ChatModel {
  return new ChatModel({
    id,
    notebookPath,
    socket,
    memory: new ChatMemory(store, store),
    trans: nullTranslator.load('cellwright'),
    create: path => create(path),
    notebookAt: path => (path === '' ? '' : `n-${path}`)
  });
}

/** What the server says to the prompt that was sent last. */
function answerAsk(answer: object): void {
  const request = server.sent('ask').at(-1)?.request;
  server.send({ request, chat: 'c1', ...answer });
}

function refuse(code = 'setup'): void {
  answerAsk({ type: 'error', code, message: 'There is no key.', hint: 'Set one.' });
}

beforeEach(async () => {
  vi.useFakeTimers();
  server = new FakeServer();
  store = new FakeStore();
  made = [];
  create = path => {
    made.push(path);
    return Promise.resolve('c1');
  };
  socket = new ServerSocket({ settings: server.settings, version: '0.1.0', tab: 'tab-1' });
  await pass(0);
});

afterEach(() => {
  socket.dispose();
  vi.useRealTimers();
});

describe('opening a chat', () => {
  it('shows what was said before, drawn at its end and not for each event', async () => {
    for (let run = 0; run < 50; run += 1) {
      server.record('c1', `r${String(run)}`, [events.started('a'), events.finished()]);
    }
    socket.dispose();
    socket = new ServerSocket({ settings: server.settings, version: '0.1.0', tab: 'tab-1' });
    const chat = openChat('c1');
    let drawn = 0;
    chat.changed.connect(() => (drawn += 1));
    expect(chat.isCaughtUp).toBe(false);
    await pass(0);
    expect(chat.turns).toHaveLength(50);
    expect(chat.isCaughtUp).toBe(true);
    expect(drawn).toBeLessThan(6);
  });

  it('says which events happened while nobody was listening', async () => {
    const chat = openChat('c1');
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

  it('hears nothing of other chats', () => {
    const chat = openChat('c1');
    socket.follow('c2');
    server.record('c2', 'r1', [events.started('a')]);
    server.setChat(chatState('c2', { title: 'Other' }));
    expect(chat.turns).toEqual([]);
    expect(chat.state.title).toBe('A chat');
  });

  it('goes on where it was after the line broke, with nothing twice', async () => {
    const chat = openChat('c1');
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
    const chat = openChat('c1');
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

  it('happens at once for all else', () => {
    const chat = openChat('c1');
    let drawn = 0;
    chat.changed.connect(() => (drawn += 1));
    server.record('c1', 'r1', [events.started('a')]);
    server.record('c1', 'r1', [events.called('x')]);
    server.setChat(chatState('c1', { phase: 'tool', run: 'r1' }));
    expect(drawn).toBe(3);
  });
});

describe('asking', () => {
  it('sends the prompt with its mode and context, and empties the composer', async () => {
    const chat = openChat('c1');
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    chat.composer.setText('Plot it');
    chat.ask(DRAFT, { instead: true });
    await pass(0);
    expect(server.sent('ask')[0]).toMatchObject({
      chat: 'c1',
      prompt: 'Plot it',
      mode: 'ask',
      model: '',
      context: [{ kind: 'variable', name: 'df' }],
      notebook: 'n-a.ipynb',
      instead: true
    });
    expect(chat.composer.text).toBe('');
  });

  it('shows the prompt until its run begins', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    expect(chat.sending).toEqual([DRAFT]);
    expect(chat.sending).toBe(chat.sending);
    await pass(0);
    answerAsk({ type: 'accepted', queued: false });
    expect(chat.sending).toEqual([DRAFT]);
    server.record('c1', 'r1', [events.started('Plot it, with what was beside it')]);
    expect(chat.sending).toEqual([]);
  });

  it('leaves a prompt that waits its turn to the queue', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    await pass(0);
    answerAsk({ type: 'accepted', queued: true });
    expect(chat.sending).toEqual([]);
  });

  it('gives the text back when the server refuses it', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    await pass(0);
    refuse();
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.composer.context).toEqual(DRAFT.context);
    expect(chat.problem).toEqual({ code: 'setup', message: 'There is no key.', hint: 'Set one.' });
    chat.clearProblem();
    expect(chat.problem).toBeNull();
  });

  it('gives the text back when what was accepted cannot be answered after all', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    await pass(0);
    answerAsk({ type: 'accepted', queued: false });
    refuse();
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.sending).toEqual([]);
  });

  it('does not write over what was begun meanwhile', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    await pass(0);
    chat.composer.setText('Something else');
    refuse();
    expect(chat.composer.text).toBe('Something else');
  });

  it('keeps the text while the line is down', async () => {
    const chat = openChat('c1');
    server.meeting = 'close';
    server.drop();
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.problem?.code).toBe('disconnected');
  });

  it('gives back what was lost with the line, and not what arrived', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    chat.ask({ ...DRAFT, text: 'Lost', context: [] });
    await pass(0);
    server.drop();
    server.record('c1', 'r1', [events.started('Plot it')]);
    await pass(1);
    expect(chat.composer.text).toBe('Lost');
    expect(chat.sending).toEqual([]);
  });

  it('knows a prompt again that arrived in the queue', async () => {
    const chat = openChat('c1');
    chat.ask(DRAFT);
    await pass(0);
    server.drop();
    server.setChat(chatState('c1', { queue: [{ id: 'q1', prompt: 'Plot it' }] }));
    await pass(1);
    expect(chat.composer.text).toBe('');
    expect(chat.problem).toBeNull();
  });
});

describe('a new chat', () => {
  it('is made on the server with its first prompt, and only once', async () => {
    const chat = openChat('', 'a.ipynb');
    expect(made).toEqual([]);
    expect(chat.isCaughtUp).toBe(true);
    const ids: string[] = [];
    chat.created.connect((_, id) => ids.push(id));
    chat.ask(DRAFT);
    chat.ask({ ...DRAFT, text: 'Then this' });
    await pass(0);
    expect(made).toEqual(['a.ipynb']);
    expect(ids).toEqual(['c1']);
    expect(server.sent('ask').map(({ chat: id, prompt }) => `${id} ${prompt}`)).toEqual([
      'c1 Plot it',
      'c1 Then this'
    ]);
    expect(server.sent('follow').map(frame => frame.chat)).toEqual(['c1']);
  });

  it('gives the text back when the server makes none, and can be tried again', async () => {
    create = () => Promise.reject(new RequestError(403, 'disabled', 'Switched off.', 'Ask.'));
    const chat = openChat('');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.problem).toEqual({ code: 'disabled', message: 'Switched off.', hint: 'Ask.' });
    expect(chat.composer.text).toBe('Plot it');
    create = () => Promise.resolve('c1');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.id).toBe('c1');
  });

  it('says what went wrong in words when nobody expected it', async () => {
    create = () => Promise.reject(new TypeError('odd'));
    const chat = openChat('');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.problem).toMatchObject({ code: 'unexpected', message: 'TypeError: odd' });
  });

  it('takes its text along when its notebook is renamed before it is made', () => {
    const chat = openChat('', 'a.ipynb');
    chat.composer.setText('half');
    chat.moveTo('b.ipynb');
    expect(chat.state.notebook_path).toBe('b.ipynb');
    expect(openChat('', 'b.ipynb').composer.text).toBe('half');
    expect(openChat('', 'a.ipynb').composer.text).toBe('');
  });
});

describe('the composer', () => {
  it('has its text after a reload', () => {
    openChat('c1').composer.setText('half a thought');
    expect(openChat('c1').composer.text).toBe('half a thought');
    expect(openChat('c2').composer.text).toBe('');
  });

  it('has its mode after a reload, unless nobody is asked in it', () => {
    const { composer } = openChat('c1');
    composer.setMode('plan');
    expect(openChat('c1').composer.chosenMode).toBe('plan');
    composer.setMode('auto');
    expect(composer.chosenMode).toBe('auto');
    expect(openChat('c1').composer.chosenMode).toBeNull();
  });

  it('holds each thing beside the prompt once', () => {
    const { composer } = openChat('c1');
    const told: number[] = [];
    composer.changed.connect(({ context }) => told.push(context.length));
    composer.addContext({ kind: 'variable', name: 'df' });
    composer.addContext({ kind: 'variable', name: 'df' });
    const [item] = composer.context;
    expect(composer.context).toHaveLength(1);
    if (item !== undefined) {
      composer.removeContext(item);
    }
    expect(told).toEqual([1, 0]);
  });
});

describe('what the person does in a run', () => {
  function running(change: Partial<ReturnType<typeof chatState>> = {}): ChatModel {
    const chat = openChat('c1');
    server.setChat(chatState('c1', { run: 'r1', driver: 'tab-1', ...change }));
    return chat;
  }

  it('goes to the server', () => {
    const input = { request: 'i1', prompt: 'Name?', password: false };
    const chat = running({ input });
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

  it('is told to be impossible while the line is down', () => {
    const chat = running();
    server.drop();
    chat.stop();
    expect(chat.problem?.code).toBe('disconnected');
  });

  it('sends no input that nobody asks for', () => {
    running().sendInput('x');
    expect(server.sent('input')).toEqual([]);
  });

  it('takes the run over first when the page that could answer is gone', () => {
    const chat = running({ driver: '' });
    chat.answer('call', true);
    expect(server.line.sent.slice(-2).map(({ type }) => type)).toEqual(['drive', 'answer']);
  });

  it('tells a tab that drives from one that reads along', () => {
    expect(running().isDriver).toBe(true);
    expect(running().isDrivenElsewhere).toBe(false);
    expect(running({ driver: 'tab-2' }).isDrivenElsewhere).toBe(true);
    expect(running({ driver: 'tab-2', run: '' }).isDrivenElsewhere).toBe(false);
    expect(running({ driver: '' }).isDriver).toBe(false);
  });

  it('shows why taking over failed only to a person who asked for it', () => {
    const error = { type: 'error', request: '', chat: 'c1', code: 'driven', hint: '' };
    const chat = running({ driver: '' });
    chat.drive(true);
    server.send({ ...error, message: 'Another tab works with this chat.' });
    expect(chat.problem).toBeNull();
    chat.drive();
    server.send({ ...error, message: 'Another tab works with this chat.' });
    expect(chat.problem?.code).toBe('driven');
  });
});

describe('the end', () => {
  it('of a chat leaves the socket, and nothing is heard any more', () => {
    const chat = openChat('c1');
    chat.dispose();
    chat.dispose();
    server.record('c1', 'r1', [events.started('a')]);
    expect(chat.turns).toEqual([]);
    expect(server.sent('unfollow')).toHaveLength(1);
  });
});
