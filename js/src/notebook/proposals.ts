import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { ProposalAnswer } from '../models/notebooks';
import { CellWalk, placeInCell } from './cell_walk';
import { DiffView } from './diff_view';

/** The edits that wait for the person, each shown on its cell. */
export class Proposals implements IDisposable {
  constructor(notebook: Notebook, trans: TranslationBundle) {
    this._notebook = notebook;
    this._trans = trans;
    this._walk = new CellWalk(notebook, cell => {
      this._show(cell);
    });
  }

  get answered(): ISignal<this, ProposalAnswer> {
    return this._answered;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Show an edit on its cell; null takes it away. */
  propose(cellId: string, source: string | null, runs = false): void {
    this._views.get(cellId)?.dispose();
    this._views.delete(cellId);
    if (source === null) {
      this._sources.delete(cellId);
      return;
    }
    this._sources.set(cellId, source);
    this._running[runs ? 'add' : 'delete'](cellId);
    const cell = this._notebook.widgets.find(widget => widget.model.id === cellId);
    if (cell !== undefined) {
      this._show(cell);
    }
  }

  /** Say the same to all that wait. */
  answerAll(isAccepted: boolean): void {
    for (const cellId of [...this._sources.keys()]) {
      this._answer(cellId, isAccepted);
    }
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._walk.dispose();
      for (const view of this._views.values()) {
        view.dispose();
      }
      Signal.clearData(this);
    }
  }

  private _show(cell: Cell): void {
    const cellId = cell.model.id;
    const after = this._sources.get(cellId);
    if (after === undefined) {
      return;
    }
    const before = cell.model.sharedModel.getSource();
    const answer = (isAccepted: boolean): void => {
      this._answer(cellId, isAccepted);
    };
    const runs = this._running.has(cellId);
    const view = new DiffView({ before, after, runs, trans: this._trans, answer });
    this._views.get(cellId)?.dispose();
    this._views.set(cellId, view);
    placeInCell(cell, view, 'input');
  }

  private _answer(cellId: string, isAccepted: boolean): void {
    this.propose(cellId, null);
    this._answered.emit({ cellId, isAccepted });
  }

  private _isDisposed = false;
  private readonly _sources = new Map<string, string>();
  /** Cells that accepting runs as well. */
  private readonly _running = new Set<string>();
  private readonly _views = new Map<string, DiffView>();
  private readonly _walk: CellWalk;
  private readonly _notebook: Notebook;
  private readonly _trans: TranslationBundle;
  private readonly _answered = new Signal<this, ProposalAnswer>(this);
}
