import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type { ListedChat, MissingCells } from '../server/answers';
import type { Rest } from '../server/rest';
import type { ServerSocket } from '../server/socket';
import { NotebookAttachments, type Renaming } from './attachments';
import type { ChatPool } from './chat_pool';
import { Driving } from './driving';
import { CellFates } from './fates';
import type { ChatMemory } from './memory';
import { MissingList } from './missing';
import type { NotebookPort, NotebookRegistry } from './notebooks';

/** A chat without word of its run is worth a look when something happened in it just now. */
const RECENT_SECONDS = 600;

export interface NotebookLinkOptions {
  readonly socket: ServerSocket;
  readonly rest: Rest;
  readonly pool: ChatPool;
  readonly notebooks: NotebookRegistry;
  readonly memory: ChatMemory;
}

/** Ties the notebooks that are open here to the chats and to the server. */
export class NotebookLink implements IDisposable {
  constructor(options: NotebookLinkOptions) {
    this._options = options;
    const { memory, notebooks, pool, rest, socket } = options;
    this._driving = new Driving({ rest, pool, notebooks, memory });
    this._fates = new CellFates({ rest, pool, notebooks });
    this._missing = new MissingList(rest, this._fates, socket.tab);
    this._attachments = new NotebookAttachments({
      socket,
      notebooks,
      whenDrawn: port => this._driving.whenDrawn(port)
    });
    this._attachments.opened.connect(this._onOpened, this);
    this._attachments.closed.connect(this._onClosed, this);
    this._attachments.renamed.connect(this._onRenamed, this);
    this._missing.changed.connect(this._onMissing, this);
    for (const port of notebooks.all) {
      this._onOpened(this._attachments, port);
    }
  }

  /** Cells that were made for the current notebook while it was closed. */
  get missing(): readonly MissingCells[] {
    return this._missing.cells;
  }

  get missingChanged(): ISignal<this, void> {
    return this._missingChanged;
  }

  /** A notebook was opened, closed or renamed here. */
  get openChanged(): ISignal<this, void> {
    return this._openChanged;
  }

  /** The path, where no notebook is open here at it: nobody would see what runs; else empty. */
  closedNotebook(path: string): string {
    return path === '' || this._options.notebooks.find(path) !== null ? '' : path;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._attachments.dispose();
      this._driving.dispose();
      this._fates.dispose();
      Signal.clearData(this._missing);
      Signal.clearData(this);
    }
  }

  /** Ask what the current notebook lacks. */
  refreshMissing(): Promise<void> {
    const { memory, notebooks, pool } = this._options;
    return this._missing.refresh(
      notebooks.current,
      ({ chat, run }) =>
        memory.unfinished(chat) === run || pool.all.some(({ state }) => state.run === run)
    );
  }

  insertMissing(cells: MissingCells): void {
    this._missing.insert(cells);
  }

  discardMissing(cells: MissingCells): Promise<void> {
    return this._missing.discard(cells);
  }

  private _onOpened(_: NotebookAttachments, port: NotebookPort): void {
    void this._loadRunning(port);
    this._openChanged.emit();
  }

  /** Load the chats of a notebook in which a run goes on, or is not drawn to its end here. */
  private async _loadRunning({ path }: NotebookPort): Promise<void> {
    const { memory, pool, rest } = this._options;
    const listed = await rest.chats(path).catch(() => []);
    for (const [index, chat] of listed.entries()) {
      const isWanted = mayRun(chat, index) || memory.unfinished(chat.id) !== '';
      if (isWanted && !this._isDisposed) {
        pool.open(chat.id);
      }
    }
  }

  private _onClosed(_: NotebookAttachments, port: NotebookPort): void {
    this._driving.leave(port);
    this._openChanged.emit();
  }

  /** The server moves the chats it has, once it is told of the path with `attach`. */
  private _onRenamed(_: NotebookAttachments, { from, to }: Renaming): void {
    this._options.pool.begun(from)?.moveTo(to);
    this._openChanged.emit();
  }

  private _onMissing(): void {
    this._missingChanged.emit();
  }

  private readonly _options: NotebookLinkOptions;
  private readonly _attachments: NotebookAttachments;
  private readonly _driving: Driving;
  private readonly _fates: CellFates;
  private readonly _missing: MissingList;
  private readonly _missingChanged = new Signal<this, void>(this);
  private readonly _openChanged = new Signal<this, void>(this);
  private _isDisposed = false;
}

function mayRun(chat: ListedChat, index: number): boolean {
  if (chat.run !== undefined) {
    return chat.run !== '';
  }
  return index === 0 && Date.now() / 1000 - chat.updated_at < RECENT_SECONDS;
}
