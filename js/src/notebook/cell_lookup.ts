import type { ICodeCellModel } from '@jupyterlab/cells';
import { isCodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

export type SharedNotebook = INotebookModel['sharedModel'];
export type SharedCell = SharedNotebook['cells'][number];

/** Finds cells by id without walking the notebook each time. */
export class CellLookup {
  constructor(model: INotebookModel) {
    this._model = model;
  }

  /** Where a cell is; -1: it is not there. */
  index(id: string): number {
    const known = this._positions.get(id);
    if (known !== undefined && this._cells[known]?.getId() === id) {
      return known;
    }
    this._positions = new Map(this._cells.map((cell, index) => [cell.getId(), index]));
    return this._positions.get(id) ?? -1;
  }

  shared(id: string): SharedCell | null {
    return this._cells[this.index(id)] ?? null;
  }

  /** The model of a code cell; undoing, redoing and moving put another in its place. */
  code(id: string): ICodeCellModel | null {
    const index = this.index(id);
    const model = index < 0 ? null : this._model.cells.get(index);
    return model !== null && isCodeCellModel(model) ? model : null;
  }

  private get _cells(): readonly SharedCell[] {
    return this._model.isDisposed ? [] : this._model.sharedModel.cells;
  }

  private _positions = new Map<string, number>();
  private readonly _model: INotebookModel;
}
