import { nullTranslator } from '@jupyterlab/translation';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ChatMemory } from '../../src/chat/memory';
import { openPanel, PanelModel } from '../../src/chat/session';
import { Rest } from '../../src/client/panel_rest';
import { ServerSocket } from '../../src/client/socket';
import { chatState, FakeServer } from '../fake_socket';
import * as events from './events';
import { FakeNotebook, FakeNotebooks } from './fake_notebooks';
import { FakeStore } from './fake_store';

const trans = nullTranslator.load('cellwright');

const SERVICE = {
  model: 'demo',
  base_url: '',
  has_key: false,
  key_source: '',
  is_demo: true,
  notice: '',
  mode: 'edits',
  modes: ['plan', 'ask', 'edits'],
  models_allowed: [],
  endpoints_locked: false,
  recording: true,
  warnings: [],
  parameters: {}
};

let server: FakeServer;
let notebooks: FakeNotebooks;
let first: FakeNotebook;
let panel: PanelModel;
let chats: Record<string, unknown>[];

function listed(id: string, path = '', run = ''): Record<string, unknown> {
  return { id, title: `Chat ${id}`, notebook_path: path, updated_at: 1, runs: 1, run };
}

function pass(seconds = 0): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(seconds * 1000);
}

async function open(registry: FakeNotebooks | null = notebooks): Promise<void> {
  panel = new PanelModel({
    socket: new ServerSocket({ settings: server.settings, version: '0.1.0', tab: 'tab-1' }),
    rest: new Rest(server.settings),
    memory: new ChatMemory(new FakeStore(), new FakeStore()),
    trans,
    notebooks: registry
  });
  await pass(0.01);
}

function asked(route: string): number {
  return server.requests.filter(({ method, path }) => `${method} ${path}` === route).length;
}

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  first = new FakeNotebook('a.ipynb');
  notebooks = new FakeNotebooks(first);
  chats = [];
  server.routes.set('GET service', () => SERVICE);
  server.routes.set('GET notebooks/missing', () => []);
  server.routes.set('GET chats', ({ query }) => {
    const path = query.get('notebook') ?? '';
    return chats.filter(chat => path === '' || chat.notebook_path === path);
  });
});

afterEach(() => {
  panel.dispose();
  vi.useRealTimers();
});

describe('the service', () => {
  it('is known once the panel is connected', async () => {
    await open();
    expect(panel.link).toBe('open');
    expect(panel.service).toEqual(SERVICE);
    expect(panel.modes).toEqual(['plan', 'ask', 'edits']);
  });

  it('is asked for again with each run, so the banner of a record that is not written is true', async () => {
    await open();
    const banners = (): string[] => panel.notices.map(notice => notice.code);
    panel.openChat('c2');
    await pass(0.1);
    server.routes.set('GET service', () => ({ ...SERVICE, recording: false }));
    server.setChat(chatState('c2', { run: 'r1' }));
    await pass(0.1);
    expect(banners()).toContain('not_recording');
    server.routes.set('GET service', () => SERVICE);
    server.setChat(chatState('c2'));
    await pass(0.1);
    expect(banners()).not.toContain('not_recording');
  });

  it('lets nobody choose a mode that is not allowed', async () => {
    await open();
    panel.chat.composer.setMode('auto');
    expect(panel.modeOf(panel.chat)).toBe('edits');
  });

  it('gives the mode of a chat in which none was chosen, unless the settings do', async () => {
    await open();
    expect(panel.modeOf(panel.chat)).toBe('edits');
    panel.setPreferredMode('plan');
    expect(panel.modeOf(panel.chat)).toBe('plan');
    panel.chat.composer.setMode('ask');
    expect(panel.modeOf(panel.chat)).toBe('ask');
  });

  it('is as cautious as can be while nothing is known of it', async () => {
    server.meeting = 'silent';
    await open();
    panel.chat.composer.setMode('edits');
    expect(panel.service).toBeNull();
    expect(panel.modeOf(panel.chat)).toBe('ask');
  });

  it('shows what the server refused, until the person has read it', async () => {
    server.routes.set('GET service', () =>
      Response.json({ message: 'Switched off.', hint: 'Ask.', code: 'disabled' }, { status: 403 })
    );
    await open();
    expect(panel.problem).toEqual({ code: 'disabled', message: 'Switched off.', hint: 'Ask.' });
    panel.clearProblem();
    expect(panel.problem).toBeNull();
  });

  it('tells of a change, and hands a refusal to whoever asked for it', async () => {
    await open();
    const told: string[] = [];
    panel.serviceChanged.connect((_, service) => told.push(service?.model ?? ''));
    server.routes.set('PUT service', () => ({ ...SERVICE, model: 'better' }));
    await panel.changeService({ model: 'better' });
    expect(told).toEqual(['better']);
    server.routes.delete('PUT service');
    await expect(panel.changeService({ model: 'x' })).rejects.toThrow('Not Found');
    expect(panel.problem).toBeNull();
  });
});

describe('the chat that is shown', () => {
  it('is the newest one of the notebook', async () => {
    chats = [listed('c2', 'a.ipynb'), listed('c1', 'a.ipynb')];
    server.setChat(chatState('c2', { notebook_path: 'a.ipynb' }));
    await open();
    expect(panel.chat.id).toBe('c2');
    expect(panel.notebook?.path).toBe('a.ipynb');
  });

  it('takes along what was written before the server said which it is', async () => {
    chats = [listed('c2', 'a.ipynb')];
    server.setChat(chatState('c2', { notebook_path: 'a.ipynb' }));
    const opening = open();
    expect(panel.chat.state.notebook_path).toBe('a.ipynb');
    panel.chat.composer.setText('And now?');
    await opening;
    expect(panel.chat.id).toBe('c2');
    expect(panel.chat.composer.text).toBe('And now?');
  });

  it('stays the one in which a prompt was sent before the server said which it is', async () => {
    chats = [listed('c2', 'a.ipynb')];
    server.setChat(chatState('c2', { notebook_path: 'a.ipynb' }));
    const opening = open();
    const asked = panel.chat;
    asked.ask({ text: 'And now?', context: [], mode: 'ask', model: '' });
    await opening;
    await pass(0.01);
    expect(panel.chat).toBe(asked);
    expect(asked.state.notebook_path).toBe('a.ipynb');
  });

  it('is a new one for a notebook without any, and nothing is made for it yet', async () => {
    await open();
    expect(panel.chat.id).toBe('');
    expect(panel.chat.state.notebook_path).toBe('a.ipynb');
    expect(asked('POST chats')).toBe(0);
  });

  it('changes with the notebook, and is there again when the person comes back', async () => {
    chats = [listed('c1', 'a.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    await open();
    const begun = panel.newChat();
    const told: string[] = [];
    panel.chatChanged.connect((_, chat) => told.push(chat.state.notebook_path));
    const second = new FakeNotebook('b.ipynb');
    notebooks.open(second);
    await pass(0.01);
    expect(panel.chat.state.notebook_path).toBe('b.ipynb');
    notebooks.show(first);
    await pass(0.01);
    expect(panel.chat).toBe(begun);
    expect(told).toEqual(['b.ipynb', 'a.ipynb']);
  });

  it('is that of the last notebook when the person is quicker than the server', async () => {
    const second = new FakeNotebook('b.ipynb');
    chats = [listed('c1', 'a.ipynb'), listed('c2', 'b.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    server.setChat(chatState('c2', { notebook_path: 'b.ipynb' }));
    await open();
    notebooks.open(second);
    notebooks.show(first);
    await pass(0.01);
    expect(panel.chat.id).toBe('c1');
  });

  it('is one of the notebook about which something is said', async () => {
    chats = [listed('c1', 'a.ipynb'), listed('c2', 'b.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    server.setChat(chatState('c2', { notebook_path: 'b.ipynb' }));
    await open();
    panel.openChat('c2');
    await pass(0.01);
    const shown: string[] = [];
    const show = async (path: string): Promise<void> => {
      const showing = panel.showChatOf(path);
      await pass(0.01);
      await showing;
      shown.push(panel.chat.id);
    };
    await show('b.ipynb');
    await show('a.ipynb');
    notebooks.open(new FakeNotebook('b.ipynb'));
    await show('b.ipynb');
    expect(shown).toEqual(['c2', 'c1', 'c2']);
  });

  it('stays when the person looks at something that is no notebook', async () => {
    await open();
    const { chat } = panel;
    notebooks.show(null);
    await pass(0.01);
    expect(panel.notebook).toBeNull();
    expect(panel.chat).toBe(chat);
  });

  it('gives way to a new one when it is deleted, here or elsewhere', async () => {
    chats = [listed('c1', 'a.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    await open();
    server.send({ type: 'chat_deleted', chat: 'c1' });
    expect(panel.chat.id).toBe('');
    server.routes.set('DELETE chats/c1', () => ({}));
    panel.openChat('c1');
    await panel.deleteChat('c1');
    expect(panel.chat.id).toBe('');
    expect(panel.chat.state.notebook_path).toBe('a.ipynb');
  });

  it('gives way to a new one when the server does not know it', async () => {
    await open();
    panel.openChat('gone');
    server.send({
      type: 'error',
      request: '',
      chat: 'gone',
      code: 'not_found',
      message: 'There is no chat.',
      hint: ''
    });
    expect(panel.chat.id).toBe('');
  });

  it('is begun for the notebook where it is when it is first asked', async () => {
    await open();
    first.path = 'renamed.ipynb';
    first.changed.emit();
    expect(panel.chat.state.notebook_path).toBe('renamed.ipynb');
  });

  it.each([
    ['looked at', () => first],
    ['in the background', () => new FakeNotebook('b.ipynb')]
  ])('is a new one for a new notebook where one was that was renamed, %s', async (_, shown) => {
    chats = [listed('c1', 'a.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'a.ipynb' }));
    await open();
    notebooks.show(shown());
    await pass(0.01);
    first.path = 'renamed.ipynb';
    first.changed.emit();
    chats = [listed('c1', 'renamed.ipynb')];
    server.setChat(chatState('c1', { notebook_path: 'renamed.ipynb' }));
    await pass(0.01);
    notebooks.open(new FakeNotebook('a.ipynb', 'n-2'));
    await pass(0.01);
    expect(panel.chat.id).toBe('');
    expect(panel.chat.state.notebook_path).toBe('a.ipynb');
  });

  it('goes on being heard while another one is shown, as long as it runs', async () => {
    await open(null);
    const running = panel.openChat('c0');
    await pass();
    server.setChat(chatState('c0', { run: 'r1' }));
    for (let count = 1; count < 12; count += 1) {
      panel.openChat(`c${String(count)}`);
      await pass();
    }
    expect(running.isDisposed).toBe(false);
    server.record('c0', 'r1', [events.started('a')]);
    expect(running.turns).toHaveLength(1);
    const kept = server.sent('follow').length - server.sent('unfollow').length;
    expect(kept).toBeLessThan(10);
  });

  it('stays, however many others work in the background', async () => {
    await open(null);
    panel.openChat('c1');
    await pass();
    for (let count = 2; count < 12; count += 1) {
      const id = `c${String(count)}`;
      server.setChat(chatState(id, { run: 'r1', phase: 'tool' }));
      server.setChat(chatState(id));
      await pass();
    }
    expect(panel.chat.id).toBe('c1');
  });

  it('has what was attached and the mode that ends with the page after looking at others', async () => {
    await open(null);
    panel.openChat('c1').composer.addContext({ kind: 'file', file: 'f', name: 'scan.pdf' });
    panel.openChat('c2').composer.setMode('auto');
    for (let count = 3; count < 12; count += 1) {
      panel.openChat(`c${String(count)}`);
      await pass();
    }
    expect(panel.openChat('c1').composer.context).toHaveLength(1);
    expect(panel.openChat('c2').composer.chosenMode).toBe('auto');
  });
});

describe('whether the person is asked something', () => {
  it('is known of chats that are not shown, too', async () => {
    await open(null);
    const told: boolean[] = [];
    panel.isAskingChanged.connect((_, isAsking) => told.push(isAsking));
    panel.openChat('c1');
    server.setChat(chatState('c1', { run: 'r1', phase: 'approval' }));
    panel.openChat('c2');
    await pass();
    expect(panel.isAsking).toBe(true);
    server.setChat(chatState('c1', { run: 'r1', phase: 'input' }));
    server.setChat(chatState('c1', { run: 'r1', phase: 'tool' }));
    server.setChat(chatState('c1', { run: 'r1', phase: 'approval' }));
    server.send({ type: 'chat_deleted', chat: 'c1' });
    expect(told).toEqual([true, false, true, false]);
  });
});

describe('the list of chats', () => {
  it('shows what the server has', async () => {
    chats = [listed('c1', 'b.ipynb')];
    await open();
    expect(panel.chats).toEqual([
      {
        id: 'c1',
        title: 'Chat c1',
        notebookPath: 'b.ipynb',
        updatedAt: 1,
        runs: 1,
        activity: 'none'
      }
    ]);
  });

  it('shows what the last query found, whichever answer came last', async () => {
    await open();
    const answers: ((response: Response) => void)[] = [];
    server.routes.set('GET chats', () => new Promise<Response>(resolve => answers.push(resolve)));
    const searches = [panel.refreshChats('old'), panel.refreshChats('new')];
    await pass();
    answers[1]?.(Response.json([listed('c-new')]));
    answers[0]?.(Response.json([listed('c-old')]));
    await Promise.all(searches);
    expect(panel.chats.map(({ id }) => id)).toEqual(['c-new']);
  });

  it('is asked for anew after a renaming, a deletion and each run', async () => {
    await open();
    server.routes.set('PATCH chats/c1', () => listed('c1'));
    server.routes.set('DELETE chats/c1', () => ({}));
    const before = asked('GET chats');
    await panel.renameChat('c1', 'New');
    await panel.deleteChat('c1');
    expect(asked('GET chats')).toBe(before + 2);
    panel.openChat('c2');
    server.setChat(chatState('c2', { run: 'r1' }));
    server.setChat(chatState('c2'));
    await pass();
    expect(asked('GET chats')).toBe(before + 4);
  });

  it('says why a chat was not deleted', async () => {
    await open();
    const running = { message: 'A run of this chat is going on.', hint: 'Stop it first.' };
    server.routes.set('DELETE chats/c1', () => Response.json(running, { status: 409 }));
    await panel.deleteChat('c1');
    expect(panel.problem?.hint).toBe('Stop it first.');
  });
});

describe('what to begin with', () => {
  it('is made of the notebook and of the variables of its kernel', async () => {
    await open();
    first.entries = [{ id: 'x', label: '1/0', hasError: true, count: null }];
    const table = { name: 'df', type: 'DataFrame', text: '2 rows' };
    server.routes.set('GET kernels/k1/variables', () => [table]);
    const labels = (await panel.suggestions()).map(({ label }) => label);
    expect(labels.slice(0, 2)).toEqual(['Fix the failing cell', 'Summarise df']);
  });

  it('does without variables while the kernel is busy', async () => {
    await open();
    expect((await panel.suggestions()).length).toBeGreaterThan(0);
  });

  it('asks for no variables where there is no kernel', async () => {
    await open();
    first.kernelId = '';
    expect(await panel.variables()).toEqual([]);
  });
});

describe('notices', () => {
  it('tell of another version of the server', async () => {
    server.version = '9.9.9';
    await open();
    expect(panel.notices.map(({ code }) => code)).toEqual(['version_mismatch']);
  });

  it('tell that another tab inserts the cells', async () => {
    await open();
    panel.openChat('c1');
    const told: number[] = [];
    panel.noticesChanged.connect((_, notices) => told.push(notices.length));
    server.setChat(chatState('c1', { run: 'r1', driver: 'tab-2' }));
    server.setChat(chatState('c1'));
    expect(told).toEqual([1, 0]);
  });

  it('tell of a refusal, and go when the connection is tried again', async () => {
    await open();
    server.drop(4403);
    expect(panel.notices.map(({ code }) => code)).toEqual(['refused']);
    panel.reconnect();
    await pass();
    expect(panel.notices).toEqual([]);
  });
});

describe('a panel', () => {
  it('does without notebooks', async () => {
    await open(null);
    expect(panel.chat.id).toBe('');
    expect(panel.missing).toEqual([]);
  });

  it('lets go of everything at its end', async () => {
    await open();
    const line = server.line;
    panel.dispose();
    expect(line.isClosed).toBe(true);
    notebooks.open(new FakeNotebook('b.ipynb'));
    first.changed.emit();
    await pass(60);
    expect(server.sockets).toHaveLength(1);
  });

  it('opens with what the page has', async () => {
    panel = openPanel({ settings: server.settings, notebooks: null, trans });
    await pass();
    expect(server.sent('hello')[0]?.tab).toMatch(/^[0-9a-f-]{36}$/);
    expect(panel.link).toBe('open');
  });
});
