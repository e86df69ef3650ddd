import type { IDisposable } from '@lumino/disposable';

import type { LinkState, ServerSocket } from '../client/socket';
import type { ChatModel } from './chat';
import type { ChatPool } from './chat_pool';
import type { ChatMemory } from './memory';
import type { NotebookRegistry } from './notebooks';

/** The tab that drove before comes back sooner than this, if it does. */
const WAIT_MILLISECONDS = 1000;

interface TakeOverOptions {
  readonly socket: ServerSocket;
  readonly pool: ChatPool;
  readonly memory: ChatMemory;
  readonly notebooks: NotebookRegistry | null;
}

/** Makes this tab drive a run that goes on when the tab that did is gone. */
export class TakeOver implements IDisposable {
  constructor(options: TakeOverOptions) {
    this._options = options;
    const { notebooks, pool, socket } = options;
    pool.stateReceived.connect(this._onState, this);
    pool.removed.connect(this._onChatRemoved, this);
    notebooks?.added.connect(this._lookAnew, this);
    socket.stateChanged.connect(this._onLink, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { notebooks, pool, socket } = this._options;
    pool.stateReceived.disconnect(this._onState, this);
    pool.removed.disconnect(this._onChatRemoved, this);
    notebooks?.added.disconnect(this._lookAnew, this);
    socket.stateChanged.disconnect(this._onLink, this);
    for (const chat of pool.all) {
      this._onChatRemoved(pool, chat);
    }
  }

  private _onState(_: ChatPool, chat: ChatModel): void {
    this._look(chat);
  }

  private _onChatRemoved(_: ChatPool, chat: ChatModel): void {
    clearTimeout(this._timers.get(chat));
    this._timers.delete(chat);
    this._tried.delete(chat);
  }

  private _onLink(_: ServerSocket, state: LinkState): void {
    if (state === 'open') {
      this._tried.clear();
    }
  }

  /** A notebook was opened: what could not be driven before may be now. */
  private _lookAnew(): void {
    this._tried.clear();
    for (const chat of this._options.pool.all) {
      this._look(chat);
    }
  }

  private _look(chat: ChatModel): void {
    const { memory } = this._options;
    if (chat.state.driver !== '') {
      this._tried.delete(chat);
      memory.setDriven(chat.id, chat.isDriver);
    } else if (this._isOurs(chat) && !this._timers.has(chat)) {
      const wait = memory.isDriven(chat.id) ? 0 : WAIT_MILLISECONDS;
      const timer = setTimeout(() => {
        this._timers.delete(chat);
        this._take(chat);
      }, wait);
      this._timers.set(chat, timer);
    }
  }

  private _take(chat: ChatModel): void {
    if (this._isOurs(chat)) {
      this._tried.set(chat, chat.state.run);
      chat.drive(true);
    }
  }

  /** Nobody drives the run, this tab can, and it was not refused before. */
  private _isOurs(chat: ChatModel): boolean {
    const { driver, notebook_path: path, run } = chat.state;
    const isOpen = path === '' || Boolean(this._options.notebooks?.find(path));
    return run !== '' && driver === '' && isOpen && this._tried.get(chat) !== run;
  }

  private readonly _options: TakeOverOptions;
  private readonly _timers = new Map<ChatModel, ReturnType<typeof setTimeout>>();
  /** The run of each chat that this tab asked to drive. */
  private readonly _tried = new Map<ChatModel, string>();
  private _isDisposed = false;
}
