import { type Cell, CodeCell } from '@jupyterlab/cells';
import type { INotebookTracker, Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { PanelSettings } from '../settings';
import { act, type ActionParts, hasError } from './actions';
import type { SharedCell } from './cell_lookup';
import { button, CellWalk, element, keepKeys, placeInCell } from './cell_walk';
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

interface CellMarkParts extends ActionParts {
  readonly settings: PanelSettings;
}

/** What is drawn on cells besides outputs: who wrote them, and help where they failed. */
export class CellMarks implements IDisposable {
  constructor(parts: CellMarkParts) {
    this._parts = parts;
    parts.tracker.widgetAdded.connect(this._onPanel, this);
    parts.settings.changed.connect(this._lookAtAll, this);
    parts.tracker.forEach(panel => {
      this._onPanel(parts.tracker, panel);
    });
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._parts.tracker.widgetAdded.disconnect(this._onPanel, this);
    this._parts.settings.changed.disconnect(this._lookAtAll, this);
    for (const marks of [...this._badges.values(), ...this._buttons.values()]) {
      marks.dispose();
    }
    Signal.clearData(this);
  }

  private _onPanel(_: INotebookTracker, panel: NotebookPanel): void {
    void panel.context.ready.then(() => {
      if (this._isDisposed || panel.isDisposed) {
        return;
      }
      this._badges.set(panel, new Badges(panel.content, this._parts.trans));
      panel.disposed.connect(this._onClosed, this);
      this._look(panel);
    });
  }

  private _onClosed(panel: NotebookPanel): void {
    this._badges.get(panel)?.dispose();
    this._badges.delete(panel);
    this._buttons.get(panel)?.dispose();
    this._buttons.delete(panel);
  }

  private _lookAtAll(): void {
    for (const panel of this._badges.keys()) {
      this._look(panel);
    }
  }

  private _look(panel: NotebookPanel): void {
    const buttons = this._buttons.get(panel);
    const isWanted = this._parts.settings.choices.cellButtons;
    if (isWanted && buttons === undefined) {
      const fix = (cell: { readonly model: Parameters<typeof act>[1] }): void => {
        act('fix', cell.model, panel.context.localPath, this._parts);
      };
      this._buttons.set(panel, new ErrorButtons(panel.content, this._parts.trans, fix));
    } else if (!isWanted) {
      buttons?.dispose();
      this._buttons.delete(panel);
    }
  }

  private _isDisposed = false;
  private readonly _badges = new Map<NotebookPanel, Badges>();
  private readonly _buttons = new Map<NotebookPanel, ErrorButtons>();
  private readonly _parts: CellMarkParts;
}
