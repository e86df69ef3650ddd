import type { SharedCell, SharedNotebook } from './cell_lookup';

export type CellJson = ReturnType<SharedCell['toJSON']>;
export type NewCell = Parameters<SharedNotebook['insertCell']>[1];

/**
 * Cells by id within one transaction.
 *
 * The document's own list of cells lags behind until the transaction ends, so places are kept here.
 */
export class CellBatch {
  constructor(shared: SharedNotebook) {
    this._shared = shared;
    this._ids = shared.cells.map(cell => cell.getId());
    this._cells = new Map(shared.cells.map(cell => [cell.getId(), cell]));
  }

  get(id: string): SharedCell | null {
    return this._cells.get(id) ?? null;
  }

  /** Id of the cell before this one; empty: it is the first. */
  before(id: string): string {
    return this._ids[this._ids.indexOf(id) - 1] ?? '';
  }

  /** Put a cell behind another: empty: first; not there: last. */
  insert(id: string, cell: NewCell, after: string): void {
    const index = this._place(after);
    this._cells.set(id, this._shared.insertCell(index, { ...cell, id }));
    this._ids.splice(index, 0, id);
  }

  append(id: string, cell: NewCell): void {
    this.insert(id, cell, this._ids.at(-1) ?? '');
  }

  remove(id: string): void {
    const index = this._ids.indexOf(id);
    if (index >= 0) {
      this._shared.deleteCell(index);
      this._ids.splice(index, 1);
      this._cells.delete(id);
    }
  }

  move(id: string, after: string): void {
    const json = this.get(id)?.toJSON();
    if (json !== undefined && after !== id && this.before(id) !== after) {
      this.remove(id);
      this.insert(id, json, after);
    }
  }

  private _place(after: string): number {
    if (after === '') {
      return 0;
    }
    const index = this._ids.indexOf(after);
    return index < 0 ? this._ids.length : index + 1;
  }

  private readonly _shared: SharedNotebook;
  private readonly _ids: string[];
  private readonly _cells: Map<string, SharedCell>;
}
