import { type Cell, CodeCell } from '@jupyterlab/cells';
import {
  type INotebookModel,
  type INotebookTracker,
  type Notebook,
  NotebookActions,
  type NotebookPanel
} from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

import type { NotebookRegistry } from '../../models/notebooks';
import { callsAgent } from './agent_call';
import { AnnouncedCell, forgetQueued } from './announced';
import { paintedCell } from './painted_cells';

export interface AnnouncingParts {
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
