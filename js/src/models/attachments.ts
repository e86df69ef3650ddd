import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type { ClientFrame, ServerFrame } from '../server/frames';
import type { LinkState } from '../server/link_state';
import type { ServerSocket } from '../server/socket';
import type { NotebookEdit, NotebookPort, NotebookRegistry } from './notebooks';

type RequestFrame = Extract<ServerFrame, { type: 'request' }>;
type ReplyFrame = Extract<ClientFrame, { type: 'reply' }>;

/** A document was renamed or moved. */
export interface Renaming {
  readonly from: string;
  readonly to: string;
}

export interface AttachmentOptions {
  readonly socket: ServerSocket;
  readonly notebooks: NotebookRegistry;
  /** Resolves when a notebook has got all events that came before. */
  readonly whenDrawn: (port: NotebookPort) => Promise<void>;
}

/** Tells the server which notebooks are open here, and answers what it asks of them. */
export class NotebookAttachments implements IDisposable {
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
