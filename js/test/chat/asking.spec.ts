import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Draft } from '../../src/chat/types';
import { RequestError } from '../../src/client/request';
import { chatState, type FakeServer } from '../fake_socket';
import { ChatPage, pass } from './chat_page';
import * as events from './events';

const DRAFT: Draft = {
  text: 'Plot it',
  context: [{ kind: 'variable', name: 'df' }],
  mode: 'ask',
  model: ''
};

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

describe('asking', () => {
  it('sends the prompt with its mode and context', async () => {
    const chat = await page.open('c1');
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    chat.composer.setAssistant('careful');
    chat.ask(DRAFT, { instead: true });
    await pass(0);
    expect(server.sent('ask')[0]).toMatchObject({
      chat: 'c1',
      prompt: 'Plot it',
      mode: 'ask',
      model: '',
      context: [{ kind: 'variable', name: 'df' }],
      notebook: 'n-a.ipynb',
      instead: true,
      assistant: 'careful'
    });
  });

  it('keeps what is being written when a button asks something else', async () => {
    const chat = await page.open('c1');
    chat.composer.setText('half a question');
    chat.composer.addContext({ kind: 'variable', name: 'df' });
    chat.ask({ ...DRAFT, text: 'Fix the error in this cell.', context: [] });
    expect(chat.composer.text).toBe('half a question');
    expect(chat.composer.context).toHaveLength(1);
  });

  it('asks about the notebook of a chat that the page is still loading', async () => {
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    server.catchUpMilliseconds = 500;
    const chat = page.begin('c1');
    chat.ask(DRAFT);
    void chat.tryWays(DRAFT, 3);
    await pass(1);
    expect(server.sent('ask')[0]?.notebook).toBe('n-a.ipynb');
    expect(page.tried).toMatchObject([{ notebook: 'n-a.ipynb' }]);
  });

  it('gives a prompt back, and sends it no more, where the line is lost before', async () => {
    server.catchUpMilliseconds = 500;
    const chat = page.begin('c1');
    chat.ask(DRAFT);
    await pass(0);
    server.drop();
    await pass(3);
    expect(chat.composer.text).toBe('Plot it');
    expect(server.sent('ask')).toEqual([]);
  });

  it('has a prompt tried in several ways, and gives it back where that is refused', async () => {
    const chat = await page.open('c1');
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    chat.composer.setText('Plot it');
    await chat.tryWays(DRAFT, 3, ['small', 'large']);
    expect(page.tried).toEqual([
      {
        id: 'c1',
        prompt: 'Plot it',
        notebook: 'n-a.ipynb',
        mode: 'ask',
        model: '',
        context: DRAFT.context,
        assistant: '',
        count: 3,
        models: ['small', 'large']
      }
    ]);
    expect(chat.composer.text).toBe('');
    page.branch = () => Promise.reject(new RequestError(409, '', 'Polars holds threads.', ''));
    await chat.tryWays(DRAFT, 3);
    expect(chat.problem?.message).toBe('Polars holds threads.');
    expect(chat.composer.text).toBe('Plot it');
  });

  it('shows the prompt until its run begins', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    expect(chat.sending).toEqual([DRAFT]);
    expect(chat.sending).toBe(chat.sending);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: false });
    expect(chat.sending).toEqual([DRAFT]);
    server.record('c1', 'r1', [events.started('Plot it, with what was beside it')]);
    expect(chat.sending).toEqual([]);
  });

  it('shows a prompt no more whose run began while the line was coming back', async () => {
    const chat = await page.open('c1');
    server.catchUpMilliseconds = 500;
    server.drop();
    await pass(0.4);
    chat.ask(DRAFT);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: false });
    server.record('c1', 'r1', [events.started('Plot it')]);
    await pass(3);
    expect(chat.turns).toHaveLength(1);
    expect(chat.isCaughtUp).toBe(true);
    expect(chat.sending).toEqual([]);
  });

  it('leaves a prompt that waits its turn to the queue', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: true });
    expect(chat.sending).toEqual([]);
  });

  it('gives the text back when the server refuses it', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    page.refuse();
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.composer.context).toEqual(DRAFT.context);
    expect(chat.problem).toEqual({ code: 'setup', message: 'There is no key.', hint: 'Set one.' });
    chat.clearProblem();
    expect(chat.problem).toBeNull();
  });

  it('gives the text back when what was accepted cannot be answered after all', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: false });
    page.refuse();
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.sending).toEqual([]);
  });

  it('gives the text back before what was begun meanwhile', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    chat.composer.setText('Something else');
    chat.composer.addContext({ kind: 'variable', name: 'other' });
    page.refuse();
    expect(chat.composer.text).toBe('Plot it\n\nSomething else');
    expect(chat.composer.context).toEqual([
      { kind: 'variable', name: 'df' },
      { kind: 'variable', name: 'other' }
    ]);
  });

  it('keeps the text while the line is down', async () => {
    const chat = await page.open('c1');
    server.meeting = 'close';
    server.drop();
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.composer.text).toBe('Plot it');
    expect(chat.problem?.code).toBe('disconnected');
  });

  it('gives back what was lost with the line, and not what arrived', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    chat.ask({ ...DRAFT, text: 'Lost', context: [] });
    chat.ask({ ...DRAFT, text: 'Lost, too', context: [] });
    await pass(0);
    server.drop();
    server.record('c1', 'r1', [events.started('Plot it')]);
    await pass(1);
    expect(chat.composer.text).toBe('Lost\n\nLost, too');
    expect(chat.sending).toEqual([]);
  });

  it('knows a prompt again that arrived in the queue', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    server.drop();
    server.setChat(chatState('c1', { queue: [{ id: 'q1', prompt: 'Plot it' }] }));
    await pass(1);
    expect(chat.composer.text).toBe('');
    expect(chat.problem).toBeNull();
  });

  it('gives back, once, what waited on a server that was started again', async () => {
    const queue = [
      { id: 'q1', prompt: 'Plot it' },
      { id: 'q2', prompt: 'of another tab' },
      { id: 'q3', prompt: 'begun' }
    ];
    let chat = await page.open('c1');
    for (const text of ['Plot it', 'begun']) {
      chat.ask({ ...DRAFT, text });
      await pass(0);
      page.answerAsk({ type: 'accepted', queued: true });
    }
    server.setChat(chatState('c1', { queue, run: 'r1' }));
    const edited = queue.map(item => (item.id === 'q1' ? { ...item, prompt: 'Draw it' } : item));
    server.setChat(chatState('c1', { queue: edited, run: 'r1' }));
    server.drop();
    await pass(1);
    expect(chat.composer.text).toBe(''); // it was the line alone
    server.drop();
    server.record('c1', 'r3', [events.started('begun')]);
    server.setChat(chatState('c1'));
    server.id = 's2';
    await pass(1);
    expect(chat.composer.text).toBe('Draw it');
    expect(chat.problem?.code).toBe('forgotten');
    chat.composer.clear();
    chat.dispose();
    page.reconnect();
    chat = await page.open('c1');
    await pass(1);
    expect(chat.composer.text).toBe('');
  });

  it('gives back what a server that was started again had accepted and not begun', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: false });
    server.setChat(chatState('c1', { phase: 'starting' }));
    server.drop();
    await pass(1);
    expect(chat.composer.text).toBe(''); // it was the line alone
    server.drop();
    server.setChat(chatState('c1'));
    server.id = 's2';
    await pass(1);
    expect(chat.composer.text).toBe(DRAFT.text);
    expect(chat.problem?.code).toBe('forgotten');
  });

  it('gives back what waited also when the page is loaded again', async () => {
    const chat = await page.open('c1');
    chat.ask(DRAFT);
    await pass(0);
    page.answerAsk({ type: 'accepted', queued: true });
    server.setChat(chatState('c1', { queue: [{ id: 'q1', prompt: 'Plot it' }], run: 'r1' }));
    chat.dispose();
    server.setChat(chatState('c1'));
    server.id = 's2';
    page.reconnect();
    const again = await page.open('c1');
    await pass(1);
    expect(again.composer.text).toBe('Plot it');
  });
});

describe('a new chat', () => {
  it('is made on the server with its first prompt, and only once', async () => {
    const chat = await page.open('', 'a.ipynb');
    expect(page.made).toEqual([]);
    expect(chat.isCaughtUp).toBe(true);
    chat.ask(DRAFT);
    chat.ask({ ...DRAFT, text: 'Then this' });
    await pass(0);
    expect(page.made).toEqual(['a.ipynb']);
    expect(server.sent('ask').map(({ chat: id, prompt }) => `${id} ${prompt}`)).toEqual([
      'c1 Plot it',
      'c1 Then this'
    ]);
    expect(server.sent('follow').map(frame => frame.chat)).toEqual(['c1']);
  });

  it('gives the text back when the server makes none, and can be tried again', async () => {
    page.create = () => Promise.reject(new RequestError(403, 'disabled', 'Switched off.', 'Ask.'));
    const chat = await page.open('');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.problem).toEqual({ code: 'disabled', message: 'Switched off.', hint: 'Ask.' });
    expect(chat.composer.text).toBe('Plot it');
    page.create = () => Promise.resolve('c1');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.id).toBe('c1');
  });

  it('says what went wrong in words when nobody expected it', async () => {
    page.create = () => Promise.reject(new TypeError('odd'));
    const chat = await page.open('');
    chat.ask(DRAFT);
    await pass(0);
    expect(chat.problem).toMatchObject({ code: 'unexpected', message: 'TypeError: odd' });
  });

  it('takes its text along when its notebook is renamed before it is made', async () => {
    const chat = await page.open('', 'a.ipynb');
    chat.composer.setText('half');
    chat.moveTo('b.ipynb');
    expect(chat.state.notebook_path).toBe('b.ipynb');
    expect((await page.open('', 'b.ipynb')).composer.text).toBe('half');
    expect((await page.open('', 'a.ipynb')).composer.text).toBe('');
  });
});

describe('the composer', () => {
  it('has its text after a reload', async () => {
    (await page.open('c1')).composer.setText('half a thought');
    expect((await page.open('c1')).composer.text).toBe('half a thought');
    expect((await page.open('c2')).composer.text).toBe('');
  });

  it('has its mode after a reload, unless nobody is asked in it', async () => {
    const { composer } = await page.open('c1');
    composer.setMode('plan');
    expect((await page.open('c1')).composer.chosenMode).toBe('plan');
    composer.setMode('auto');
    expect(composer.chosenMode).toBe('auto');
    expect((await page.open('c1')).composer.chosenMode).toBeNull();
  });

  it('holds each thing beside the prompt once', async () => {
    const { composer } = await page.open('c1');
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
