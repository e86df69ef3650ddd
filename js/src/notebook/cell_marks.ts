import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { PanelSettings } from '../settings';
import { act, type ActionParts } from './actions';
import { Badges } from './badges';
import { ErrorButtons } from './error_buttons';

export interface CellMarkParts extends ActionParts {
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
        act('fix', cell.model, this._parts);
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
