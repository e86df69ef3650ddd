import type { Cell } from '@jupyterlab/cells';
import type { Notebook } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { SharedCell } from './cell_lookup';
import { CellWalk, placeInCell } from './cell_walk';
import { element } from './elements';
import { isEdited, METADATA_KEY, provenanceOf } from './provenance';

const TYPING_MILLISECONDS = 200;

/** Marks agent-written cells, and those that somebody changed since. */
export class Badges implements IDisposable {
  constructor(notebook: Notebook, trans: TranslationBundle) {
    this._trans = trans;
    this._walk = new CellWalk(notebook, cell => {
      this._visit(cell);
    });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._walk.dispose();
      for (const badge of this._badges.values()) {
        badge.dispose();
      }
      Signal.clearData(this);
    }
  }

  private _visit(cell: Cell): void {
    cell.model.metadataChanged.connect((_, { key }) => {
      if (key === METADATA_KEY) {
        this._look(cell);
      }
    }, this);
    this._look(cell);
  }

  /** Only agent-written cells have a badge, and only a badge listens to typing. */
  private _look(cell: Cell): void {
    const badge = this._badges.get(cell);
    const isOurs = provenanceOf(cell.model.sharedModel) !== null;
    if (isOurs && badge === undefined) {
      const made = new Badge(cell, this._trans);
      this._badges.set(cell, made);
      made.disposed.connect(() => this._badges.delete(cell), this);
      placeInCell(cell, made, 'end');
    } else if (!isOurs) {
      badge?.dispose();
    } else {
      badge?.draw();
    }
  }

  private _isDisposed = false;
  private readonly _badges = new Map<Cell, Badge>();
  private readonly _walk: CellWalk;
  private readonly _trans: TranslationBundle;
}

/** Says that the agent wrote a cell; it takes no room of its own. */
class Badge extends Widget {
  constructor(cell: Cell, trans: TranslationBundle) {
    super({ node: element('span', 'cw-cell-badge') });
    this._cell = cell.model.sharedModel;
    this._trans = trans;
    this._cell.changed.connect(this._onChanged, this);
    cell.disposed.connect(this.dispose, this);
    this.draw();
  }

  draw(): void {
    const { _cell: cell, _trans: trans } = this;
    const provenance = provenanceOf(cell);
    const edited = provenance !== null && isEdited(provenance, cell.getSource());
    this.node.textContent = edited ? trans.__('AI · edited') : trans.__('AI');
    this.node.title = edited
      ? trans.__('The agent wrote this cell; it was changed since')
      : trans.__('The agent wrote this cell');
    this.toggleClass('cw-mod-edited', edited);
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._drawing.dispose();
      this._cell.changed.disconnect(this._onChanged, this);
      super.dispose();
    }
  }

  private _onChanged(_: unknown, change: object): void {
    if ('sourceChange' in change) {
      void this._drawing.invoke();
    }
  }

  // The cell's own model is gone by the time its view is disposed of.
  private readonly _cell: SharedCell;
  private readonly _trans: TranslationBundle;
  private readonly _drawing = new Debouncer(() => {
    this.draw();
  }, TYPING_MILLISECONDS);
}
