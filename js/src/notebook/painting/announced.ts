import type { CodeCell } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import { CommsOverSubshells, type Kernel, type KernelMessage } from '@jupyterlab/services';

import type { NotebookPort } from '../../models/notebooks';
import { outputMessage } from './output_messages';
import { mark, note, type PaintedCell, paintedCells } from './painted_cells';
import { Painter } from './painter';
import { PROTOCOL, readOperation, TARGET } from './protocol';

export interface AnnouncedParts {
  readonly port: NotebookPort;
  readonly model: INotebookModel;
  readonly kernel: Kernel.IKernelConnection;
  readonly cell: CodeCell;
}

/** The note on a queued cell that the kernel leaves out when it was painted anew meanwhile. */
const REPLACED_BY = 'replaced_by';

/**
 * One execution of a calling cell that the kernel was told of.
 *
 * The comm stays open on this side: the kernel closes it when the cell is announced again. A
 * message of ours after the cell's end would point what threads still print to nowhere.
 */
export class AnnouncedCell {
  constructor(parts: AnnouncedParts) {
    const { port, model, kernel, cell } = parts;
    this._parts = parts;
    this.callingId = cell.model.id;
    this._painter = new Painter({ port, model, callingId: this.callingId });
    this._comm = kernel.createComm(TARGET);
    // On a subshell it would come before, after or during the cell; on the shell it comes first.
    this._comm.commsOverSubshells = CommsOverSubshells.Disabled;
    this._comm.onMsg = message => {
      this._onMessage(message);
    };
    this._comm.open({ protocol: PROTOCOL, cell_id: this.callingId, painted: this._painted() });
    // The future is there once whoever told us of the execution has sent the request.
    void Promise.resolve().then(() => {
      this._followEnd();
    });
  }

  readonly callingId: string;

  /** Whether the cell has run, or never will. */
  get isOver(): boolean {
    return this._isOver;
  }

  /** Whether a cell goes when this execution begins to paint. */
  replaces(painted: PaintedCell): boolean {
    return painted.paintedBy === this.callingId && !painted.isEdited;
  }

  /** A cell was queued that may be gone when its turn comes. */
  queued(painted: PaintedCell): void {
    note(painted.cell, REPLACED_BY, this._comm.commId);
  }

  private _painted(): { cell_id: string; source: string; painted_by: string }[] {
    return paintedCells(this._parts.model.sharedModel)
      .filter(painted => !this.replaces(painted))
      .map(({ cell, paintedBy }) => ({
        cell_id: cell.getId(),
        source: cell.getSource(),
        painted_by: paintedBy
      }));
  }

  private _onMessage(message: KernelMessage.ICommMsgMsg): void {
    const operation = readOperation(message.content.data);
    if (operation === null) {
      return;
    }
    const { parent_header: parent } = message;
    if (operation.op === 'start' && 'msg_id' in parent && !this._isDiverting) {
      this._isDiverting = true;
      this._parts.kernel.registerMessageHook(parent.msg_id, shown => this._stays(shown));
    }
    this._painter.handle(operation, seconds(message.header.date));
  }

  /** Whether the calling cell shows a message itself. */
  private _stays(message: KernelMessage.IIOPubMessage): boolean {
    const output = outputMessage(message);
    return output === null || !this._painter.output(output);
  }

  private _followEnd(): void {
    const { cell } = this._parts;
    const future = cell.isDisposed ? null : (cell.outputArea.future as MaybeFuture);
    const end = (): void => {
      this._end();
    };
    Promise.resolve(future?.done).then(end, end);
  }

  private _end(): void {
    this._isOver = true;
    this._painter.close();
    const { model } = this._parts;
    for (const { cell } of model.isDisposed ? [] : paintedCells(model.sharedModel)) {
      if (mark(cell, REPLACED_BY) === this._comm.commId) {
        note(cell, REPLACED_BY, null);
      }
    }
  }

  private _isOver = false;
  private _isDiverting = false;
  private readonly _comm: Kernel.IComm;
  private readonly _painter: Painter;
  private readonly _parts: AnnouncedParts;
}

type MaybeFuture = { readonly done: Promise<unknown> } | null | undefined;

/** A cell that is run by itself runs, whatever was noted when it was queued once. */
export function forgetQueued({ cell }: PaintedCell): void {
  if (mark(cell, REPLACED_BY) !== '') {
    note(cell, REPLACED_BY, null);
  }
}

function seconds(date: string): number {
  const time = Date.parse(date);
  return (Number.isNaN(time) ? Date.now() : time) / 1000;
}
