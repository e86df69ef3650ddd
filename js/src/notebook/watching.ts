import type { INotebookModel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { NotebookEdit } from '../chat/notebooks';
import type { WireCell } from '../wire/generated';
import type { SharedCell, SharedNotebook } from './cell_lookup';
import type { OwnChanges } from './run_log';

/** A cell as it goes over the wire. */
export function wireCell(cell: SharedCell): WireCell {
  // nbformat allows lists of lines and other cell types; the shared model has neither.
  return cell.toJSON() as unknown as WireCell;
}

/** Typing is told once it pauses this long. */
const PAUSE_MILLISECONDS = 50;

type NotebookChange = Parameters<Parameters<SharedNotebook['changed']['connect']>[0]>[1];
type CellChange = Parameters<Parameters<SharedCell['changed']['connect']>[0]>[1];

/** Tells what the person changes in a notebook while a run goes on. */
export class EditWatch implements IDisposable {
  constructor(model: INotebookModel, own: OwnChanges) {
    this._shared = model.sharedModel;
    this._own = own;
  }

  get edited(): ISignal<this, NotebookEdit> {
    return this._edited;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  begin(run: string): void {
    if (this._runs.size === 0) {
      this._ids = this._shared.cells.map(cell => cell.getId());
      this._shared.changed.connect(this._onNotebook, this);
      this._connect(this._shared.cells);
    }
    this._runs.add(run);
  }

  end(run: string): void {
    if (this._runs.delete(run) && this._runs.size === 0) {
      this.flush();
      this._disconnect();
    }
  }

  /** Tell at once what has not been told yet. */
  flush(): void {
    clearTimeout(this._timer);
    this._timer = undefined;
    if (this._touched.size === 0 && this._removed.size === 0) {
      return;
    }
    const cells: NotebookEdit['cells'][number][] = [];
    let after = '';
    for (const cell of this._shared.cells) {
      const id = cell.getId();
      if (this._touched.has(id)) {
        cells.push({ cell: wireCell(cell), after });
      }
      after = id;
    }
    const removed = [...this._removed];
    this._touched.clear();
    this._removed.clear();
    this._edited.emit({ cells, removed });
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      clearTimeout(this._timer);
      this._disconnect();
      Signal.clearData(this);
    }
  }

  private _onNotebook(shared: SharedNotebook, change: NotebookChange): void {
    if (change.cellsChange === undefined) {
      return;
    }
    const inserted = change.cellsChange.flatMap(delta => delta.insert ?? []);
    this._connect(inserted);
    const ids = shared.cells.map(cell => cell.getId());
    if (!this._own.isActive) {
      const there = new Set(ids);
      for (const cell of inserted) {
        this._removed.delete(cell.getId());
        this._touched.add(cell.getId());
      }
      for (const id of this._ids.filter(known => !there.has(known))) {
        this._touched.delete(id);
        this._removed.add(id);
      }
      this._tellSoon();
    }
    this._ids = ids;
  }

  private _onCell(cell: SharedCell, change: CellChange): void {
    const isTold = change.sourceChange !== undefined || 'executionCountChange' in change;
    if (isTold && !this._own.isActive) {
      this._touched.add(cell.getId());
      this._tellSoon();
    }
  }

  private _tellSoon(): void {
    this._timer ??= setTimeout(() => {
      this.flush();
    }, PAUSE_MILLISECONDS);
  }

  private _connect(cells: readonly SharedCell[]): void {
    for (const cell of cells) {
      cell.changed.connect(this._onCell, this);
    }
  }

  private _disconnect(): void {
    this._shared.changed.disconnect(this._onNotebook, this);
    for (const cell of this._shared.cells) {
      cell.changed.disconnect(this._onCell, this);
    }
  }

  private _ids: readonly string[] = [];
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
  private readonly _runs = new Set<string>();
  private readonly _touched = new Set<string>();
  private readonly _removed = new Set<string>();
  private readonly _shared: SharedNotebook;
  private readonly _own: OwnChanges;
  private readonly _edited = new Signal<this, NotebookEdit>(this);
}
