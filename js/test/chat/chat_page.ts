import { nullTranslator } from '@jupyterlab/translation';
import { vi } from 'vitest';

import { ChatModel } from '../../src/chat/chat';
import { ChatMemory } from '../../src/chat/memory';
import { ServerSocket } from '../../src/client/socket';
import { FakeServer } from '../fake_socket';
import { FakeStore } from './fake_store';

/** Let time go by, with fake timers. */
export function pass(seconds: number): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(seconds * 1000);
}

/** A page with chats and nothing else, connected to a server. */
export class ChatPage {
  readonly server = new FakeServer();
  readonly store = new FakeStore();
  /** The notebooks of the chats that the server was asked to make. */
  readonly made: string[] = [];
  socket = this._connect();

  create = (path: string): Promise<string> => {
    this.made.push(path);
    return Promise.resolve('c1');
  };

  /** What was asked to be tried in several ways. */
  readonly tried: object[] = [];
  branch = (wanted: object): Promise<unknown> => {
    this.tried.push(wanted);
    return Promise.resolve();
  };

  /** A chat whose past is on its way. */
  begin(id: string, notebookPath = ''): ChatModel {
    return new ChatModel({
      id,
      notebookPath,
      socket: this.socket,
      memory: new ChatMemory(this.store, this.store),
      trans: nullTranslator.load('cellwright'),
      create: path => this.create(path),
      branch: (id, wanted) => this.branch({ id, ...wanted }),
      notebookAt: path => (path === '' ? '' : `n-${path}`)
    });
  }

  async open(id: string, notebookPath = ''): Promise<ChatModel> {
    const chat = this.begin(id, notebookPath);
    await pass(0);
    return chat;
  }

  reconnect(): void {
    this.socket.dispose();
    this.socket = this._connect();
  }

  /** What the server says to the prompt that was sent last. */
  answerAsk(answer: object): void {
    const request = this.server.sent('ask').at(-1)?.request;
    this.server.send({ request, chat: 'c1', ...answer });
  }

  refuse(): void {
    const problem = { code: 'setup', message: 'There is no key.', hint: 'Set one.' };
    this.answerAsk({ type: 'error', ...problem });
  }

  private _connect(): ServerSocket {
    const { settings } = this.server;
    return new ServerSocket({ settings, version: '0.1.0', tab: 'tab-1' });
  }
}
