import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { takeTabId } from '../client/browser_store';
import { VERSION } from '../client/health';
import {
  type MissingCells,
  Rest,
  type ServiceChange,
  type ServiceState,
  type VariableSummary
} from '../client/panel_rest';
import { type Problem, problemOf } from '../client/problems';
import { type LinkState, ServerSocket } from '../client/socket';
import type { Mode } from '../wire/generated';
import type { ChatModel } from './chat';
import { ChatList, ChatPool } from './chat_pool';
import { ChatMemory } from './memory';
import { NotebookLink } from './notebook_link';
import type { NotebookPort, NotebookRegistry } from './notebooks';
import { NoticeBoard } from './notices';
import { ServiceModel } from './service';
import { type Suggestion, suggestionsFor } from './suggestions';
import { TakeOver } from './take_over';
import type { ChatSummary, NoticeBlock } from './types';

const NONE_MISSING: readonly MissingCells[] = [];

/** The notebook that the person looks at. */
export type CurrentNotebook = Pick<NotebookPort, 'path' | 'kernelId' | 'outline'>;

interface PanelOptions {
  readonly socket: ServerSocket;
  readonly rest: Rest;
  readonly memory: ChatMemory;
  readonly trans: TranslationBundle;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
}

/** Everything the panel shows and does. */
export class PanelModel implements IDisposable {
  constructor(options: PanelOptions) {
    const { memory, notebooks, rest, socket, trans } = options;
    this._options = options;
    this.rest = rest;
    this._service = new ServiceModel(rest);
    this._list = new ChatList(rest);
    this._board = new NoticeBoard(trans);
    this._pool = new ChatPool({
      socket,
      memory,
      trans,
      create: async path => (await rest.newChat(path)).id,
      branch: (id, wanted) => rest.beginBranches(id, wanted),
      notebookAt: path => (path === '' ? '' : (notebooks?.find(path)?.notebook ?? ''))
    });
    this._takeOver = new TakeOver({ socket, pool: this._pool, memory, notebooks });
    this._chat = this._pool.begin('');
    this._pool.shown = this._chat;
    this._chat.changed.connect(this._onChat, this);
    this._link =
      notebooks === null
        ? null
        : new NotebookLink({ socket, rest, pool: this._pool, notebooks, memory });
    this._connect();
  }

  /** For what the panel asks of the server and does not keep. */
  readonly rest: Rest;

  get link(): LinkState {
    return this._options.socket.state;
  }

  get linkChanged(): ISignal<this, LinkState> {
    return this._linkChanged;
  }

  /** Null: not known yet, or cellwright is switched off on the server. */
  get service(): ServiceState | null {
    return this._service.state;
  }

  /** Of the service, or of the modes that may be chosen. */
  get serviceChanged(): ISignal<unknown, ServiceState | null> {
    return this._service.changed;
  }

  /** The chat that is shown. */
  get chat(): ChatModel {
    return this._chat;
  }

  get chatChanged(): ISignal<this, ChatModel> {
    return this._chatChanged;
  }

  /** What the sessions list shows, newest first. */
  get chats(): readonly ChatSummary[] {
    return this._list.chats;
  }

  get chatsChanged(): ISignal<unknown, readonly ChatSummary[]> {
    return this._list.changed;
  }

  get notebook(): CurrentNotebook | null {
    return this._notebook;
  }

  /** The notebook that the person looks at is another one, or none. */
  get notebookChanged(): ISignal<this, CurrentNotebook | null> {
    return this._notebookChanged;
  }

  /** What holds for the panel as a whole and what the person should know of it. */
  get notices(): readonly NoticeBlock[] {
    return this._board.notices;
  }

  get noticesChanged(): ISignal<unknown, readonly NoticeBlock[]> {
    return this._board.changed;
  }

  /** What the server refused last, outside of a chat; null: nothing, or the person read it. */
  get problem(): Problem | null {
    return this._problem;
  }

  get problemChanged(): ISignal<this, Problem | null> {
    return this._problemChanged;
  }

  /** Cells that were made for the shown notebook while it was closed. */
  get missing(): readonly MissingCells[] {
    return this._link?.missing ?? NONE_MISSING;
  }

  get missingChanged(): ISignal<this, readonly MissingCells[]> {
    return this._missingChanged;
  }

  /** The modes that may be chosen. */
  get modes(): readonly Mode[] {
    return this._service.modes;
  }

  /** A chat waits for the person, be it shown or not. */
  get isAsking(): boolean {
    return this._isAsking;
  }

  get isAskingChanged(): ISignal<this, boolean> {
    return this._isAskingChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { notebooks, socket } = this._options;
    socket.stateChanged.disconnect(this._onLink, this);
    socket.qualityChanged.disconnect(this._refreshNotices, this);
    notebooks?.currentChanged.disconnect(this._onNotebook, this);
    this._service.dispose();
    Signal.clearData(this._list);
    Signal.clearData(this._board);
    this._link?.dispose();
    this._takeOver.dispose();
    this._pool.dispose();
    socket.dispose();
    Signal.clearData(this);
  }

  /** The mode that the next prompt of a chat is sent in. */
  modeOf(chat: ChatModel): Mode {
    return this._service.modeFor(chat.composer.chosenMode);
  }

  /** The mode of the settings, for chats in which none was chosen; null: the server's. */
  setPreferredMode(mode: Mode | null): void {
    this._service.setPreferredMode(mode);
  }

  refreshService(): Promise<void> {
    return this._try(() => this._service.refresh());
  }

  /** Rejects, with a reason for the form, when the server does not take it. */
  changeService(change: ServiceChange): Promise<void> {
    return this._service.change(change);
  }

  /** List the chats; a query searches titles, prompts and answers. */
  refreshChats(query?: string): Promise<void> {
    return this._try(() => this._list.refresh(query));
  }

  openChat(id: string): ChatModel {
    return this._show(this._pool.open(id));
  }

  /** Begin a chat; the server makes it with the first prompt. */
  newChat(notebookPath = this._notebook?.path ?? ''): ChatModel {
    return this._show(this._pool.begin(notebookPath));
  }

  renameChat(id: string, title: string): Promise<void> {
    return this._try(() => this._list.rename(id, title));
  }

  deleteChat(id: string): Promise<void> {
    return this._try(async () => {
      await this._list.delete(id);
      this._pool.forget(id);
    });
  }

  /** Go on after a run in a chat of its own, which is then shown. */
  branchChat(id: string, run: string): Promise<void> {
    return this._try(async () => {
      this.openChat(await this._list.branch(id, run));
    });
  }

  /** The variables of the shown notebook's kernel; none where there is no kernel. */
  async variables(): Promise<readonly VariableSummary[]> {
    const kernel = this._notebook?.kernelId ?? '';
    return kernel === '' ? [] : this.rest.variables(kernel);
  }

  /** What to begin with, made from the notebook as it is. */
  async suggestions(): Promise<readonly Suggestion[]> {
    const outline = this._notebook?.outline() ?? [];
    const variables = await this.variables().catch(() => []); // a busy kernel does not tell
    return suggestionsFor({ outline, variables }, this._options.trans);
  }

  /** Follow the person to a notebook: show the chat it had last, or a new one. */
  setNotebook(current: CurrentNotebook | null): void {
    if (this._notebook === current) {
      return;
    }
    this._notebook = current;
    this._notebookChanged.emit(current);
    if (current !== null && this._chat.state.notebook_path !== current.path) {
      void this._showNewest(current.path);
    }
  }

  /** Show the chat that was used last with a notebook, unless one of its chats is shown. */
  async showChatOf(path: string): Promise<void> {
    if (this._chat.state.notebook_path !== path || this._undecided.has(path)) {
      await this._showNewest(path);
    }
  }

  /** Put cells that were made while the notebook was closed into it. */
  insertMissing(cells: MissingCells): void {
    this._link?.insertMissing(cells);
  }

  discardMissing(cells: MissingCells): Promise<void> {
    return this._try(async () => this._link?.discardMissing(cells));
  }

  /** Connect again now. */
  reconnect(): void {
    this._options.socket.reconnect();
  }

  clearProblem(): void {
    this._setProblem(null);
  }

  private _connect(): void {
    const { notebooks, socket } = this._options;
    this._service.changed.connect(this._refreshNotices, this);
    this._pool.removed.connect(this._onRemoved, this);
    this._pool.stateReceived.connect(this._lookWhoAsks, this);
    this._link?.missingChanged.connect(this._onMissing, this);
    socket.qualityChanged.connect(this._refreshNotices, this);
    socket.stateChanged.connect(this._onLink, this);
    this._onLink(socket, socket.state);
    notebooks?.currentChanged.connect(this._onNotebook, this);
    this._link?.openChanged.connect(this._refreshNotices, this);
    this._onNotebook(notebooks);
  }

  /**
   * Show the chat that was used last with a notebook.
   *
   * Until the server has said which that is, a new one is shown, and what the person does meanwhile
   * counts: words move along, and a prompt that was sent keeps its chat.
   */
  private async _showNewest(path: string): Promise<void> {
    const before = this._chat;
    if (before.sending.length > 0 && before.state.notebook_path === '') {
      return;
    }
    const known = this._undecided.has(path) ? undefined : this._shownWith(path);
    if (known !== undefined) {
      this._moveWords(before, known.id === '' ? this._pool.begin(path) : this._pool.open(known.id));
      return;
    }
    this._undecided.add(path);
    const begun = this._moveWords(before, this._pool.begin(path));
    const kept = begun === before ? '' : begun.composer.text;
    const id = await this._newest(path);
    if (this._notebook?.path === path && !this._isDisposed) {
      this._undecided.delete(path);
      this._leave(begun, id, kept);
    }
  }

  /** The chat that was shown last with a notebook, unless its notebook lies elsewhere by now. */
  private _shownWith(path: string): ChatModel | undefined {
    const id = this._shown.get(path);
    return this._pool.all.find(chat => chat.id === id && chat.state.notebook_path === path);
  }

  /** Go on from a new chat to the newest, unless something was asked in it meanwhile. */
  private _leave(begun: ChatModel, id: string, kept: string): void {
    const isAsked = begun.id !== '' || begun.sending.length > 0;
    if (this._chat !== begun || id === '' || isAsked) {
      return;
    }
    const chat = this._pool.open(id);
    if (begun.composer.text !== kept) {
      giveWords(begun, chat);
    }
    this._show(chat);
  }

  /** Show another chat; words that were written before any notebook was there come along. */
  private _moveWords(from: ChatModel, to: ChatModel): ChatModel {
    if (from !== to && from.id === '' && from.state.notebook_path === '') {
      giveWords(from, to);
    }
    return this._show(to);
  }

  private async _newest(path: string): Promise<string> {
    const listed = await this.rest.chats(path).catch(() => []);
    return listed[0]?.id ?? '';
  }

  private _show(chat: ChatModel): ChatModel {
    if (chat !== this._chat) {
      this._chat.changed.disconnect(this._onChat, this);
      chat.changed.connect(this._onChat, this);
      this._chat = chat;
      this._pool.shown = chat;
      this._chatChanged.emit(chat);
    }
    this._onChat(chat);
    return chat;
  }

  private _onChat(chat: ChatModel): void {
    const { driver, notebook_path: path, run } = chat.state;
    this._shown.set(path, chat.id);
    if (this._run !== run) {
      this._run = run;
      void this.refreshChats();
      // whether the run could be recorded shows with its first and its last event
      void this.refreshService();
    }
    // a tab that is gone may have taken unsaved cells with it
    if (this._work !== `${run} ${driver}`) {
      this._work = `${run} ${driver}`;
      void this._link?.refreshMissing();
    }
    this._refreshNotices();
  }

  private _onRemoved(_: ChatPool, chat: ChatModel): void {
    if (chat === this._chat) {
      this._show(this._pool.begin(chat.state.notebook_path));
    }
    this._lookWhoAsks();
  }

  private _lookWhoAsks(): void {
    const phases = this._pool.all.map(({ state }) => state.phase);
    const isAsking = phases.includes('approval') || phases.includes('input');
    if (isAsking !== this._isAsking) {
      this._isAsking = isAsking;
      this._isAskingChanged.emit(isAsking);
    }
  }

  private _onNotebook(notebooks: NotebookRegistry | null): void {
    this.setNotebook(notebooks?.current ?? null);
    void this._link?.refreshMissing();
  }

  private _onMissing(): void {
    this._missingChanged.emit(this.missing);
  }

  private _onLink(_: ServerSocket, state: LinkState): void {
    this._linkChanged.emit(state);
    this._refreshNotices();
    if (state === 'open') {
      void this.refreshService();
      void this.refreshChats();
      void this._link?.refreshMissing();
    }
  }

  private _refreshNotices(): void {
    const { isBlocked, isBuffered, serverVersion, state: link } = this._options.socket;
    const { isDrivenElsewhere, state } = this._chat;
    const closedNotebook = this._link?.closedNotebook(state.notebook_path) ?? '';
    const line = { link, isBlocked, isBuffered, ownVersion: VERSION, serverVersion };
    this._board.update({ ...line, service: this.service, isDrivenElsewhere, closedNotebook });
  }

  private _setProblem(problem: Problem | null): void {
    if (this._problem !== problem) {
      this._problem = problem;
      this._problemChanged.emit(problem);
    }
  }

  private async _try(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this._setProblem(problemOf(error));
    }
  }

  private readonly _options: PanelOptions;
  private readonly _service: ServiceModel;
  private readonly _list: ChatList;
  private readonly _board: NoticeBoard;
  private readonly _pool: ChatPool;
  private readonly _takeOver: TakeOver;
  private readonly _link: NotebookLink | null;
  /** The chat that was shown last with each notebook. */
  private readonly _shown = new Map<string, string>();
  /** Notebooks of which the server has not said yet which chat that was. */
  private readonly _undecided = new Set<string>();
  private readonly _linkChanged = new Signal<this, LinkState>(this);
  private readonly _chatChanged = new Signal<this, ChatModel>(this);
  private readonly _notebookChanged = new Signal<this, CurrentNotebook | null>(this);
  private readonly _missingChanged = new Signal<this, readonly MissingCells[]>(this);
  private readonly _problemChanged = new Signal<this, Problem | null>(this);
  private readonly _isAskingChanged = new Signal<this, boolean>(this);
  private _chat: ChatModel;
  private _notebook: CurrentNotebook | null = null;
  private _problem: Problem | null = null;
  private _run = '';
  private _work = ' ';
  private _isAsking = false;
  private _isDisposed = false;
}

interface OpenOptions {
  readonly settings: ServerConnection.ISettings;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
  readonly trans: TranslationBundle;
}

/** The model of this page's panel, connected to the server; there is one a page. */
export function openPanel({ settings, notebooks, trans }: OpenOptions): PanelModel {
  const tab = takeTabId(window.sessionStorage, window);
  return new PanelModel({
    socket: new ServerSocket({ settings, version: VERSION, tab }),
    rest: new Rest(settings),
    memory: new ChatMemory(window.sessionStorage, window.localStorage),
    trans,
    notebooks
  });
}

function giveWords({ composer: from }: ChatModel, { composer: to }: ChatModel): void {
  if (from.text !== '' && to.text === '') {
    to.setText(from.text);
    from.context.forEach(item => {
      to.addContext(item);
    });
    from.clear();
  }
}
