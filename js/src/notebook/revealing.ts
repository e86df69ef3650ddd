import type { Notebook } from '@jupyterlab/notebook';

import type { CellLookup } from './cell_lookup';

const FLASH_MILLISECONDS = 1_500;

/** Brings cells into view. */
export class CellRevealing {
  constructor(notebook: Notebook, lookup: CellLookup) {
    this._notebook = notebook;
    this._lookup = lookup;
  }

  /** Go to a cell as if the person had, and flash it. */
  async reveal(cellId: string): Promise<void> {
    const index = this._lookup.index(cellId);
    if (index < 0) {
      return;
    }
    this._notebook.deselectAll();
    this._notebook.activeCellIndex = index;
    await this._notebook.scrollToItem(index, 'smart');
    this._flash(cellId);
  }

  /** Scroll to a cell and leave the person's own place alone. */
  async follow(cellId: string): Promise<void> {
    const index = this._lookup.index(cellId);
    if (index >= 0 && this._notebook.isVisible) {
      await this._notebook.scrollToItem(index, 'smart');
    }
  }

  /** Mark a cell until it is taken back. */
  highlight(cellId: string, isOn: boolean): void {
    this._notebook.widgets[this._lookup.index(cellId)]?.toggleClass('cw-mod-asked', isOn);
  }

  private _flash(cellId: string): void {
    const cell = this._notebook.widgets[this._lookup.index(cellId)];
    cell?.addClass('cw-mod-flash');
    setTimeout(() => {
      cell?.removeClass('cw-mod-flash');
    }, FLASH_MILLISECONDS);
  }

  private readonly _notebook: Notebook;
  private readonly _lookup: CellLookup;
}
