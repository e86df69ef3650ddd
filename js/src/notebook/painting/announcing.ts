import { type Cell, CodeCell } from '@jupyterlab/cells';
import {
  type INotebookModel,
  type INotebookTracker,
  type Notebook,
  NotebookActions,
  type NotebookPanel
} from '@jupyterlab/notebook';
import { CommsOverSubshells, type Kernel, type KernelMessage } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import type { NotebookPort, NotebookRegistry } from '../../chat/notebooks';
import {
  mark,
  note,
  outputMessage,
  paintedCell,
  type PaintedCell,
  paintedCells,
  Painter
} from './painter';
import { PROTOCOL, readOperation, TARGET } from './protocol';

interface AnnouncedParts {
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
class AnnouncedCell {
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
function forgetQueued({ cell }: PaintedCell): void {
  if (mark(cell, REPLACED_BY) !== '') {
    note(cell, REPLACED_BY, null);
  }
}

function seconds(date: string): number {
  const time = Date.parse(date);
  return (Number.isNaN(time) ? Date.now() : time) / 1000;
}

const CALL = /(?:^|[=\s])%%?agent\b/m;

/** Whether a cell may call the agent; a comm that is not used does no harm. */
export function callsAgent(source: string): boolean {
  return CALL.test(source);
}

interface AnnouncingParts {
  readonly tracker: INotebookTracker;
  readonly notebooks: NotebookRegistry;
  /** Whether the person wants cells painted. */
  readonly isWanted: () => boolean;
}

interface Scheduled {
  readonly notebook: Notebook;
  readonly cell: Cell;
}

/** Tells the kernel, just before it gets a cell that calls the agent, that cells can be painted. */
export class Announcing implements IDisposable {
  constructor(parts: AnnouncingParts) {
    this._parts = parts;
    // JupyterLab emits this synchronously before it sends the request.
    NotebookActions.executionScheduled.connect(this._onScheduled, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    NotebookActions.executionScheduled.disconnect(this._onScheduled, this);
  }

  private _onScheduled(_: unknown, { notebook, cell }: Scheduled): void {
    const panel = this._parts.tracker.find(open => open.content === notebook);
    if (panel === undefined || notebook.model === null || !(cell instanceof CodeCell)) {
      return;
    }
    this._noteQueued(notebook.model, cell);
    if (this._parts.isWanted() && callsAgent(cell.model.sharedModel.getSource())) {
      this._announce(panel, notebook.model, cell);
    }
  }

  private _announce(panel: NotebookPanel, model: INotebookModel, cell: CodeCell): void {
    const kernel = panel.sessionContext.session?.kernel;
    const port = this._parts.notebooks.find(panel.context.localPath);
    if (!kernel || port?.editable !== true || !isPython(model)) {
      return;
    }
    try {
      const announced = new AnnouncedCell({ port, model, kernel, cell });
      this._of(model).set(announced.callingId, announced);
    } catch (reason) {
      // The kernel is gone; JupyterLab says so when it sends the cell.
      console.debug(`cellwright does not paint: ${String(reason)}`);
    }
  }

  /** With Run All a painted cell is queued behind the cell that is going to replace it. */
  private _noteQueued(model: INotebookModel, cell: CodeCell): void {
    const painted = paintedCell(cell.model.sharedModel);
    if (painted === null) {
      return;
    }
    forgetQueued(painted);
    const calling = this._of(model).get(painted.paintedBy);
    if (calling?.isOver === false && calling.replaces(painted)) {
      calling.queued(painted);
    }
  }

  private _of(model: INotebookModel): Map<string, AnnouncedCell> {
    const known = this._announced.get(model) ?? new Map<string, AnnouncedCell>();
    this._announced.set(model, known);
    return known;
  }

  private _isDisposed = false;
  private readonly _announced = new WeakMap<INotebookModel, Map<string, AnnouncedCell>>();
  private readonly _parts: AnnouncingParts;
}

/** A notebook that has not met its kernel yet does not tell. */
function isPython(model: INotebookModel): boolean {
  const told = model.getMetadata('language_info') as { readonly name?: unknown } | undefined;
  return ['python', '', undefined].includes(told?.name as string | undefined);
}
