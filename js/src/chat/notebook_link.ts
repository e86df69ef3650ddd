import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { MissingCells, Rest } from '../client/panel_rest';
import type { LinkState, ServerSocket } from '../client/socket';
import type { ClientFrame, ServerFrame } from '../wire/generated';
import type { ChatPool } from './chat_pool';
import { Driving } from './driving';
import { CellFates, MissingList } from './fates';
import type { ChatMemory } from './memory';
import type { NotebookEdit, NotebookPort, NotebookRegistry } from './notebooks';

type RequestFrame = Extract<ServerFrame, { type: 'request' }>;
type ReplyFrame = Extract<ClientFrame, { type: 'reply' }>;

/** A document was renamed or moved. */
interface Renaming {
  readonly from: string;
  readonly to: string;
}

interface AttachmentOptions {
  readonly socket: ServerSocket;
  readonly notebooks: NotebookRegistry;
  /** Resolves when a notebook has got all events that came before. */
  readonly whenDrawn: (port: NotebookPort) => Promise<void>;
}

/** Tells the server which notebooks are open here, and answers what it asks of them. */
class NotebookAttachments implements IDisposable {
  constructor(options: AttachmentOptions) {
    this._options = options;
    const { notebooks, socket } = options;
    socket.stateChanged.connect(this._onLink, this);
    socket.received.connect(this._onFrame, this);
    notebooks.added.connect(this._onAdded, this);
    for (const port of notebooks.all) {
      this._onAdded(notebooks, port);
    }
  }

  get opened(): ISignal<this, NotebookPort> {
    return this._opened;
  }

  get closed(): ISignal<this, NotebookPort> {
    return this._closed;
  }

  get renamed(): ISignal<this, Renaming> {
    return this._renamed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.clearData(this);
    this._paths.clear();
  }

  private _onLink(_: ServerSocket, state: LinkState): void {
    if (state === 'open') {
      for (const port of this._paths.keys()) {
        this._attach(port);
      }
    }
  }

  private _onAdded(_: NotebookRegistry, port: NotebookPort): void {
    if (this._paths.has(port)) {
      return;
    }
    this._paths.set(port, port.path);
    port.changed.connect(this._onChanged, this);
    port.edited.connect(this._onEdited, this);
    port.closed.connect(this._onClosed, this);
    this._attach(port);
    this._opened.emit(port);
  }

  private _onChanged(port: NotebookPort): void {
    const from = this._paths.get(port) ?? port.path;
    this._paths.set(port, port.path);
    this._attach(port);
    if (from !== port.path) {
      this._renamed.emit({ from, to: port.path });
    }
  }

  private _onEdited(port: NotebookPort, { cells, removed }: NotebookEdit): void {
    this._options.socket.send({ type: 'changed', notebook: port.notebook, cells, removed });
  }

  private _onClosed(port: NotebookPort): void {
    this._leave(port);
    this._options.socket.send({ type: 'detach', notebook: port.notebook });
    this._closed.emit(port);
  }

  private _leave(port: NotebookPort): void {
    this._paths.delete(port);
    port.changed.disconnect(this._onChanged, this);
    port.edited.disconnect(this._onEdited, this);
    port.closed.disconnect(this._onClosed, this);
  }

  private _attach({ notebook, path, kernelId, editable }: NotebookPort): void {
    this._options.socket.send({ type: 'attach', notebook, path, kernel_id: kernelId, editable });
  }

  private _onFrame(_: ServerSocket, frame: ServerFrame): void {
    if (frame.type === 'request') {
      void this._answer(frame);
    }
  }

  private async _answer(frame: RequestFrame): Promise<void> {
    const port = [...this._paths.keys()].find(({ notebook }) => notebook === frame.notebook);
    const reply = { type: 'reply', request: frame.request } as const;
    if (port === undefined) {
      this._reply({ ...reply, ok: false, reason: 'closed', cells: [] });
      return;
    }
    await this._options.whenDrawn(port);
    if (frame.operation === 'cells') {
      this._reply({ ...reply, ok: true, reason: '', cells: port.cells() });
      return;
    }
    const { cell_id: cellId, source_hash: hash, message_id: message } = frame;
    const { ok, reason, cells } = await port.confirm(cellId, hash, message);
    this._reply({ ...reply, ok, reason, cells });
  }

  private _reply(frame: ReplyFrame): void {
    this._options.socket.send(frame); // a line that is down asks again, or goes on without us
  }

  private readonly _options: AttachmentOptions;
  /** The open documents and where each was when last looked at. */
  private readonly _paths = new Map<NotebookPort, string>();
  private readonly _opened = new Signal<this, NotebookPort>(this);
  private readonly _closed = new Signal<this, NotebookPort>(this);
  private readonly _renamed = new Signal<this, Renaming>(this);
  private _isDisposed = false;
}

interface NotebookLinkOptions {
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
    for (const chat of listed) {
      const isWanted = chat.run !== '' || memory.unfinished(chat.id) !== '';
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
