/** Requirement 002-21: notes that go with the next question. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { ChatModel } from '../../src/chat/chat';
import { WaitingNotes } from '../../src/chat/waiting_notes';
import { Rest, type WaitingNote } from '../../src/client/panel_rest';
import { chatState, type FakeRequest } from '../fake_socket';
import { ChatPage, pass } from './chat_page';

const UNIT: WaitingNote = { id: 'n1', role: 'user_later', text: 'The unit is kg.' };

let page: ChatPage;
let chat: ChatModel;
let notes: WaitingNotes;
/** What the server has. */
let kept: WaitingNote[];

beforeEach(async () => {
  vi.useFakeTimers();
  page = new ChatPage();
  kept = [];
  const { routes } = page.server;
  routes.set('GET chats/c1/messages', () => ({ chat: 'c1', waiting: kept }));
  routes.set('POST chats/c1/messages', ({ body }: FakeRequest) => {
    const { role, text } = JSON.parse(body) as WaitingNote;
    const note = { id: `n${String(kept.length + 1)}`, role, text };
    kept = [...kept, note];
    return note;
  });
  routes.set('DELETE chats/c1/messages/n1', () => {
    kept = kept.filter(({ id }) => id !== 'n1');
    return {};
  });
  await show('c1');
});

afterEach(() => {
  notes.unwatch();
  page.socket.dispose();
  vi.useRealTimers();
});

async function show(id: string): Promise<void> {
  chat = await page.open(id);
  notes = new WaitingNotes(new Rest(page.server.settings), chat);
  notes.watch();
  await notes.refresh();
}

function refuse(method: 'POST' | 'DELETE', status = 400): void {
  const path = method === 'POST' ? 'chats/c1/messages' : 'chats/c1/messages/n1';
  const said = { message: 'No note can be kept.', hint: 'Ask something.' };
  page.server.routes.set(`${method} ${path}`, () => Response.json(said, { status }));
}

const texts = (): string[] => notes.notes.map(({ text }) => text);
const asked = (): number =>
  page.server.requests.filter(({ method, path }) => `${method} ${path}` === 'GET chats/c1/messages')
    .length;

describe('002-21 adding', () => {
  it('posts the text, empties the field and leaves what is attached', async () => {
    const variable = { kind: 'variable', name: 'df' } as const;
    chat.composer.setText(' The unit is kg. ');
    chat.composer.addContext(variable);
    expect(await notes.add()).toBe(true);
    expect(kept).toEqual([UNIT]);
    expect(texts()).toEqual(['The unit is kg.']);
    expect(chat.composer.text).toBe('');
    expect(chat.composer.context).toEqual([variable]);
  });

  it('makes the chat where the server has not', async () => {
    await show('');
    chat.composer.setText('The unit is kg.');
    expect(await notes.add()).toBe(true);
    expect(page.made).toEqual(['']);
    expect([chat.id, kept.length, chat.composer.text]).toEqual(['c1', 1, '']);
  });

  it('keeps the text where the server refuses it, and says why', async () => {
    refuse('POST');
    chat.composer.setText('The unit is kg.');
    expect(await notes.add()).toBe(false);
    expect(chat.composer.text).toBe('The unit is kg.');
    expect(notes.problem).toMatchObject({
      message: 'No note can be kept.',
      hint: 'Ask something.'
    });
    notes.clearProblem();
    expect(notes.problem).toBeNull();
    expect(texts()).toEqual([]);
  });

  it('keeps the text where the server is gone', async () => {
    page.server.routes.set('POST chats/c1/messages', () => {
      throw new TypeError('Failed to fetch');
    });
    chat.composer.setText('The unit is kg.');
    expect(await notes.add()).toBe(false);
    expect([chat.composer.text, notes.problem?.code]).toEqual(['The unit is kg.', 'network']);
  });

  it('adds once what is added twice at the same time, and nothing that is empty', async () => {
    chat.composer.setText('The unit is kg.');
    expect(await Promise.all([notes.add(), notes.add()])).toEqual([true, false]);
    chat.composer.setText('  ');
    expect(await notes.add()).toBe(false);
    expect(kept).toHaveLength(1);
  });

  it('leaves in the field what was typed meanwhile', async () => {
    chat.composer.setText('The unit is kg.');
    const adding = notes.add();
    chat.composer.setText('The unit is kg. And');
    await adding;
    expect(chat.composer.text).toBe(' And');
  });
});

describe('002-21 taking back', () => {
  beforeEach(async () => {
    kept = [UNIT];
    await notes.refresh();
  });

  it('puts the text into the empty field', async () => {
    expect(await notes.takeBack(UNIT)).toBe(true);
    expect([kept, notes.notes, chat.composer.text]).toEqual([[], [], 'The unit is kg.']);
  });

  it('puts the text after what stands in the field', async () => {
    chat.composer.setText('Plot it.\n');
    await notes.takeBack(UNIT);
    expect(chat.composer.text).toBe('Plot it.\n\nThe unit is kg.');
  });

  it('does it once where it is pressed twice', async () => {
    expect(await Promise.all([notes.takeBack(UNIT), notes.takeBack(UNIT)])).toEqual([true, false]);
    expect(chat.composer.text).toBe('The unit is kg.');
  });

  it('says so where a question took it along, and shows it no more', async () => {
    refuse('DELETE', 404);
    kept = [];
    expect(await notes.takeBack(UNIT)).toBe(false);
    expect([notes.notes, chat.composer.text]).toEqual([[], '']);
    expect(notes.problem?.message).toBe('No note can be kept.');
  });
});

describe('002-21 following', () => {
  beforeEach(async () => {
    kept = [UNIT];
    await notes.refresh();
  });

  it('empties the list when a question takes it along, and shows what is added since', async () => {
    page.server.setChat(chatState('c1', { run: 'r1', phase: 'starting' }));
    expect(texts()).toEqual([]);
    chat.composer.setText('And round it.');
    await notes.add();
    await notes.refresh();
    expect(texts()).toEqual(['And round it.']);
    kept = kept.slice(1);
    page.server.setChat(chatState('c1'));
    await pass(0);
    expect(texts()).toEqual(['And round it.']);
  });

  it('shows them again when the run failed and the server kept them', async () => {
    page.server.setChat(chatState('c1', { run: 'r1', phase: 'starting' }));
    page.server.setChat(chatState('c1', { queue_paused: true }));
    await pass(0);
    expect(texts()).toEqual(['The unit is kg.']);
  });

  it('reads them anew when something changed elsewhere, and not with each step', async () => {
    const running = { run: 'r1', phase: 'model' } as const;
    page.server.setChat(chatState('c1', running));
    await pass(0);
    const before = asked();
    page.server.setChat(chatState('c1', { ...running, phase: 'tool' }));
    await pass(0);
    expect(asked()).toBe(before);
    kept = [...kept, { id: 'n2', role: 'system', text: 'Be brief.' }];
    page.server.setChat(chatState('c1', { ...running, phase: 'tool' }));
    await pass(0);
    expect(texts()).toEqual(['Be brief.']);
  });

  it('trusts the server where a run went on before the page was there', async () => {
    page.server.setChat(chatState('c1', { run: 'r1', phase: 'model' }));
    page.reconnect();
    notes.unwatch();
    await show('c1');
    expect(texts()).toEqual(['The unit is kg.']);
  });

  it('stays as it was where the server does not tell', async () => {
    page.server.routes.delete('GET chats/c1/messages');
    await notes.refresh();
    expect(texts()).toEqual(['The unit is kg.']);
  });

  it('asks only for what waits', () => {
    const request = page.server.requests.find(({ path }) => path === 'chats/c1/messages');
    expect(request?.query.get('waiting')).toBe('1');
  });
});
