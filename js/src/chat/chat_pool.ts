import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { ListedChat, Rest } from '../client/panel_rest';
import type { ServerSocket } from '../client/socket';
import type { ServerFrame } from '../wire/generated';
import { ChatModel, type ChatOptions, type ReceivedEvent } from './chat';
import type { ChatSummary } from './types';

type ListRest = Pick<Rest, 'branchChat' | 'changeChat' | 'chats' | 'deleteChat'>;

/** The chats that the server has, newest first, or those that a query finds. */
export class ChatList {
  constructor(rest: ListRest) {
    this._rest = rest;
  }

  get chats(): readonly ChatSummary[] {
    return this._chats;
  }

  get changed(): ISignal<this, readonly ChatSummary[]> {
    return this._changed;
  }

  /** List anew; a query searches titles, prompts and answers. */
  async refresh(query = this._query): Promise<void> {
    this._query = query;
    const listed = await this._rest.chats('', query);
    if (this._query === query) {
      this._chats = listed.map(summaryOf);
      this._changed.emit(this._chats);
    }
  }

  async rename(id: string, title: string): Promise<void> {
    await this._rest.changeChat(id, { title });
    await this.refresh();
  }

  async delete(id: string): Promise<void> {
    await this._rest.deleteChat(id);
    await this.refresh();
  }

  /** A new chat that goes on after a run of this one; its id. */
  async branch(id: string, run: string): Promise<string> {
    const branch = await this._rest.branchChat(id, run);
    await this.refresh();
    return branch.id;
  }

  private readonly _rest: ListRest;
  private readonly _changed = new Signal<this, readonly ChatSummary[]>(this);
  private _chats: readonly ChatSummary[] = [];
  private _query = '';
}

function summaryOf(chat: ListedChat): ChatSummary {
  const { id, notebook_path: notebookPath, runs, title, updated_at: updatedAt } = chat;
  return { id, title, notebookPath, updatedAt, runs, activity: activityOf(chat) };
}

function activityOf({ run, waits_for_answer: waits }: ListedChat): ChatSummary['activity'] {
  if (run === '') {
    return 'none';
  }
  return waits ? 'waiting_for_person' : 'running';
}

/** So many chats stay in memory that nobody looks at and in which nothing happens. */
const IDLE_CHATS_LIMIT = 6;

/** An event of one of the chats, as soon as it came. */
export interface ChatEvent extends ReceivedEvent {
  readonly chat: ChatModel;
}

/** The chats of this tab that are loaded, the one used last at the end. */
export class ChatPool implements IDisposable {
  constructor(options: Omit<ChatOptions, 'id' | 'notebookPath'>) {
    this._options = options;
    options.socket.received.connect(this._onFrame, this);
  }

  /** The chat that the person looks at: it stays, whatever goes on in others. */
  shown: ChatModel | null = null;

  get all(): readonly ChatModel[] {
    return this._chats;
  }

  /** Every event of every chat. */
  get eventReceived(): ISignal<this, ChatEvent> {
    return this._eventReceived;
  }

  /** What a chat is doing came from the server. */
  get stateReceived(): ISignal<this, ChatModel> {
    return this._stateReceived;
  }

  /** A chat was deleted, here or in another tab, or is not needed any more. */
  get removed(): ISignal<this, ChatModel> {
    return this._removed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._options.socket.received.disconnect(this._onFrame, this);
      for (const chat of this._chats) {
        chat.dispose();
      }
      this._chats = [];
      Signal.clearData(this);
    }
  }

  /** The chat with this id, loaded when it is not yet. */
  open(id: string): ChatModel {
    const known = this._chats.find(chat => chat.id === id);
    return this._use(known ?? this._make(id, ''));
  }

  /** A chat without a prompt; the one of this notebook that has none yet, when there is one. */
  begin(notebookPath: string): ChatModel {
    return this._use(this.begun(notebookPath) ?? this._make('', notebookPath));
  }

  /** The chat of a notebook in which nothing was asked yet, if there is one. */
  begun(notebookPath: string): ChatModel | undefined {
    return this._chats.find(chat => chat.id === '' && chat.state.notebook_path === notebookPath);
  }

  /** A chat was deleted. */
  forget(id: string): void {
    for (const chat of this._chats.filter(other => other.id === id)) {
      this._options.memory.forget(id);
      this._remove(chat);
    }
  }

  private _make(id: string, notebookPath: string): ChatModel {
    const chat = new ChatModel({ ...this._options, id, notebookPath });
    this._chats = [...this._chats, chat];
    chat.eventReceived.connect(this._onEvent, this);
    chat.stateReceived.connect(this._onState, this);
    return chat;
  }

  private _use(chat: ChatModel): ChatModel {
    this._chats = [...this._chats.filter(other => other !== chat), chat];
    const idle = this._chats.filter(
      other => other !== chat && other !== this.shown && isIdle(other)
    );
    for (const other of idle.slice(0, Math.max(0, idle.length - IDLE_CHATS_LIMIT))) {
      this._remove(other);
    }
    return chat;
  }

  private _remove(chat: ChatModel): void {
    this._chats = this._chats.filter(other => other !== chat);
    chat.eventReceived.disconnect(this._onEvent, this);
    chat.stateReceived.disconnect(this._onState, this);
    this._removed.emit(chat);
    chat.dispose();
  }

  private _onEvent(chat: ChatModel, received: ReceivedEvent): void {
    this._eventReceived.emit({ ...received, chat });
  }

  private _onState(chat: ChatModel): void {
    this._stateReceived.emit(chat);
  }

  private _onFrame(_: ServerSocket, frame: ServerFrame): void {
    const isUnknown = frame.type === 'error' && frame.code === 'not_found';
    if (frame.type === 'chat_deleted' || isUnknown) {
      this.forget(frame.chat);
    }
    // Another agent begins to work here: the server tells the page that is to draw it.
    if (frame.type === 'chat' && frame.state.phase !== 'idle') {
      this._meet(frame.state.id);
    }
  }

  private _meet(id: string): void {
    if (!this._chats.some(chat => chat.id === id)) {
      this._use(this._make(id, ''));
    }
  }

  private readonly _options: Omit<ChatOptions, 'id' | 'notebookPath'>;
  private readonly _eventReceived = new Signal<this, ChatEvent>(this);
  private readonly _stateReceived = new Signal<this, ChatModel>(this);
  private readonly _removed = new Signal<this, ChatModel>(this);
  private _chats: readonly ChatModel[] = [];
  private _isDisposed = false;
}

function isIdle(chat: ChatModel): boolean {
  const { composer, isCaughtUp, sending, state } = chat;
  const isQuiet = state.run === '' && state.queue.length === 0 && sending.length === 0;
  return isCaughtUp && isQuiet && !composer.isOnlyHere;
}
