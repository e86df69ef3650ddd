import { Signal } from '@lumino/signaling';
import { beforeEach, expect, it } from 'vitest';

import { ChatSettings, type SettledChat } from '../../src/chat/chat_settings';
import type { ChatState } from '../../src/wire/generated';
import { RequestError } from '../../src/client/request';
import { Rest } from '../../src/client/panel_rest';
import { chatState, FakeServer } from '../fake_socket';

const ALL = ['line_ends', 'terminal_colours', 'blank_lines'];

class PlainChat implements SettledChat {
  constructor(public id: string) {}

  readonly stateReceived = new Signal<this, ChatState>(this);

  begin(): Promise<string> {
    this.id = 'c1';
    return Promise.resolve(this.id);
  }

  /** The server says what the chat is doing. */
  tell(change: Partial<ChatState> = {}): void {
    this.stateReceived.emit(chatState(this.id, change));
  }
}

let server: FakeServer;
let kept: { prompt: string; pins: string[]; text_filters: string[] };

function answer() {
  return { id: 'c1', title: 'T', notebook_path: '', updated_at: 1, runs: 2, ...kept };
}

function asked(): string[] {
  return server.requests.map(({ method, path }) => `${method} ${path}`);
}

function begin(id = 'c1') {
  const chat = new PlainChat(id);
  return { chat, settings: new ChatSettings(new Rest(server.settings), chat) };
}

async function settled(): Promise<void> {
  await new Promise(resolve => {
    setTimeout(resolve, 5);
  });
}

beforeEach(() => {
  server = new FakeServer();
  kept = { prompt: 'Be brief.', pins: ['r1'], text_filters: ALL };
  server.routes.set('GET chats/c1', answer);
  server.routes.set('PATCH chats/c1', ({ body }) => {
    kept = { ...kept, ...(JSON.parse(body) as Partial<typeof kept>) };
    return answer();
  });
  server.routes.set('PUT chats/c1/pins/r2', () => {
    kept = { ...kept, pins: ['r1', 'r2'] };
    return answer();
  });
  server.routes.set('DELETE chats/c1/pins/r1', () => {
    kept = { ...kept, pins: [] };
    return answer();
  });
});

it('test_002_60 knows what the server keeps', async () => {
  const { settings } = begin();
  expect(settings.kept.pins).toBeNull();
  server.routes.set('GET chats/c1', () => ({
    ...answer(),
    thumbs: { r1: { is_up: true, comment: '' } },
    undone: { r1: 3 }
  }));
  await settings.refresh();
  expect(settings.kept).toEqual({
    prompt: 'Be brief.',
    pins: ['r1'],
    textFilters: ALL,
    thumbs: { r1: { is_up: true, comment: '' } },
    undone: { r1: 3 }
  });
});

it('test_002_60 pins and unpins one after the other, and believes the server', async () => {
  const { settings } = begin();
  await settings.refresh();
  const said: (readonly string[] | null)[] = [];
  settings.changed.connect(() => {
    said.push(settings.kept.pins);
  });
  void settings.setPinned('r2', true);
  expect(settings.kept.pins).toEqual(['r1']);
  await settings.setPinned('r1', false);
  expect(said).toEqual([['r1', 'r2'], []]);
  expect(asked().slice(1)).toEqual(['PUT chats/c1/pins/r2', 'DELETE chats/c1/pins/r1']);
});

it('test_002_60 says why a turn was not pinned, looks again, and pins others after', async () => {
  const { settings } = begin();
  await settings.refresh();
  server.routes.set('PUT chats/c1/pins/r3', () =>
    Response.json({ message: 'Too much.', hint: 'Unpin some.', code: 'pins' }, { status: 409 })
  );
  await settings.setPinned('r3', true);
  expect(settings.problem).toEqual({ code: 'pins', message: 'Too much.', hint: 'Unpin some.' });
  expect(settings.kept.pins).toEqual(['r1']);
  expect(asked().at(-1)).toBe('GET chats/c1');
  await settings.setPinned('r2', true);
  expect(settings.problem).toBeNull();
  expect(settings.kept.pins).toEqual(['r1', 'r2']);
  await settings.setPinned('r3', true);
  settings.clearProblem();
  expect(settings.problem).toBeNull();
});

it('test_002_60 looks again when another tab pinned, also while a run goes on', async () => {
  const { chat, settings } = begin();
  settings.watch();
  chat.tell();
  await settled();
  expect(settings.kept.pins).toEqual(['r1']);
  const before = asked().length;
  chat.tell({ run: 'r2', phase: 'model' });
  chat.tell({ run: 'r2', phase: 'tool' });
  await settled();
  expect(asked()).toHaveLength(before);
  kept = { ...kept, pins: ['r1', 'r2'] };
  chat.tell({ run: 'r2', phase: 'tool', updated_at: 1001 });
  await settled();
  expect(settings.kept.pins).toEqual(['r1', 'r2']);
  settings.unwatch();
  chat.tell();
  await settled();
  expect(asked()).toHaveLength(before + 1);
});

it('test_002_60 keeps what was pinned while an earlier question was on its way', async () => {
  const { settings } = begin();
  let letGo = (): void => undefined;
  const old = answer();
  const late = new Promise<void>(resolve => {
    letGo = resolve;
  });
  server.routes.set('GET chats/c1', async () => {
    await late;
    return old;
  });
  const looking = settings.refresh();
  await settings.setPinned('r2', true);
  letGo();
  await looking;
  expect(settings.kept.pins).toEqual(['r1', 'r2']);
});

it('test_002_47 saves what was switched, and only that', async () => {
  const { settings } = begin();
  await settings.refresh();
  await settings.save('Be brief. ', { line_ends: true });
  expect(server.requests.at(-1)?.body).toBe('{"prompt":"Be brief."}');
  await settings.save('Be kind.', { terminal_colours: false });
  expect(server.requests.at(-1)?.body).toBe(
    '{"prompt":"Be kind.","text_filters":["line_ends","blank_lines"]}'
  );
  expect(settings.kept.prompt).toBe('Be kind.');
  expect(settings.kept.textFilters).toEqual(['line_ends', 'blank_lines']);
});

it('test_002_47 keeps filters of a newer server in a chat that is only made now', async () => {
  const { settings } = begin('');
  expect(settings.kept.textFilters).toEqual(ALL);
  kept = { ...kept, text_filters: [...ALL, 'emoji'] };
  await settings.save('', { line_ends: false });
  expect(kept.text_filters).toEqual(['terminal_colours', 'blank_lines', 'emoji']);
});

it('test_002_47 passes on that the server does not take them', async () => {
  const { settings } = begin();
  await settings.refresh();
  server.routes.set('PATCH chats/c1', () => Response.json({ message: 'No.' }, { status: 400 }));
  await expect(settings.save('x', { line_ends: false })).rejects.toBeInstanceOf(RequestError);
  expect(settings.kept.textFilters).toEqual(ALL);
});
