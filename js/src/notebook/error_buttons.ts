import { CodeCell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { CellWalk, placeInCell } from './cell_walk';
import { button, keepKeys } from './elements';
import { hasError } from './outline';

/** Offers help on cells that failed. */
export class ErrorButtons implements IDisposable {
  constructor(notebook: Notebook, trans: TranslationBundle, fix: (cell: CodeCell) => void) {
    this._trans = trans;
    this._fix = fix;
    this._walk = new CellWalk(notebook, cell => {
      if (cell instanceof CodeCell) {
        this._visit(cell);
      }
    });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._walk.dispose();
      for (const bar of this._bars.values()) {
        bar.dispose();
      }
      Signal.clearData(this);
    }
  }

  private _visit(cell: CodeCell): void {
    const look = (): void => {
      this._look(cell);
    };
    cell.model.outputs.changed.connect(look, this);
    cell.model.stateChanged.connect(look, this);
    look();
  }

  private _look(cell: CodeCell): void {
    const isOffered = cell.model.executionState !== 'running' && hasError(cell.model);
    const bar = this._bars.get(cell);
    if (isOffered && bar === undefined) {
      this._offer(cell);
    } else if (!isOffered) {
      bar?.dispose();
    }
  }

  private _offer(cell: CodeCell): void {
    const bar = new Widget();
    bar.addClass('cw-cell-error-bar');
    keepKeys(bar.node);
    bar.node.append(
      button('cw-mod-fix', this._trans.__('Fix with agent'), () => {
        this._fix(cell);
      })
    );
    this._bars.set(cell, bar);
    bar.disposed.connect(() => this._bars.delete(cell), this);
    cell.disposed.connect(bar.dispose, bar);
    placeInCell(cell, bar, 'end');
  }

  private _isDisposed = false;
  private readonly _bars = new Map<CodeCell, Widget>();
  private readonly _walk: CellWalk;
  private readonly _trans: TranslationBundle;
  private readonly _fix: (cell: CodeCell) => void;
}
