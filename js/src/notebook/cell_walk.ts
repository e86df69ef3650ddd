import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { PanelLayout, type Widget } from '@lumino/widgets';

/** Keys pressed in it are its own, not commands of the notebook around it. */
const OWN_KEYS = 'lmSuppressShortcuts';

/** An element with a class and a text. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  text = ''
): HTMLElementTagNameMap[Name] {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  return node;
}

/** A button that looks like JupyterLab's. */
export function button(className: string, label: string, press: () => void): HTMLButtonElement {
  const node = element('button', `cw-cell-button ${className}`, label);
  node.type = 'button';
  node.addEventListener('click', event => {
    event.stopPropagation();
    if (event.detail < 2) {
      press(); // the second click of a double one would do it again, at cost
    }
  });
  return node;
}

/** Let the keyboard work in a part of a cell as on any page. */
export function keepKeys(node: HTMLElement): void {
  node.dataset[OWN_KEYS] = 'true';
}

/** Visits each cell of a notebook once, those to come included. */
export class CellWalk implements IDisposable {
  constructor(notebook: Notebook, visit: (cell: Cell) => void) {
    this._notebook = notebook;
    this._visit = visit;
    // The notebook makes its cells when it hears of them, which is before we do.
    notebook.model?.cells.changed.connect(this._look, this);
    this._look();
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._notebook.model?.cells.changed.disconnect(this._look, this);
    }
  }

  private _look(): void {
    for (const cell of this._notebook.widgets) {
      if (!this._seen.has(cell)) {
        this._seen.add(cell);
        this._visit(cell);
      }
    }
  }

  private _isDisposed = false;
  private readonly _seen = new WeakSet<Cell>();
  private readonly _notebook: Notebook;
  private readonly _visit: (cell: Cell) => void;
}

/** Put something of ours below a cell's input, or below all of it, once the cell is drawn. */
export function placeInCell(cell: Cell, widget: Widget, place: 'input' | 'end'): void {
  void cell.ready.then(() => {
    if (cell.isDisposed || widget.isDisposed || !(cell.layout instanceof PanelLayout)) {
      return;
    }
    const parts = cell.layout.widgets;
    const input = parts.findIndex(part => part.hasClass('jp-Cell-inputWrapper'));
    cell.layout.insertWidget(place === 'input' ? input + 1 : parts.length - 1, widget);
  });
}
