import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { NotebookRegistry } from '../chat/notebooks';
import type { OpenNotebook, PortOptions } from './port';

/** The notebook documents that are open in this page, one port for each. */
export class OpenNotebooks implements NotebookRegistry, IDisposable {
  constructor(tracker: INotebookTracker, options: PortOptions) {
    this._tracker = tracker;
    this._options = options;
    tracker.widgetAdded.connect(this._onPanel, this);
    tracker.currentChanged.connect(this._onCurrent, this);
    tracker.forEach(panel => {
      this._onPanel(tracker, panel);
    });
  }

  get all(): readonly OpenNotebook[] {
    return [...this._ports];
  }

  get current(): OpenNotebook | null {
    const context = this._tracker.currentWidget?.context;
    return this.all.find(port => port.panel.context === context) ?? null;
  }

  get currentChanged(): ISignal<this, void> {
    return this._currentChanged;
  }

  get added(): ISignal<this, OpenNotebook> {
    return this._added;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  find(path: string): OpenNotebook | null {
    return this.all.find(port => port.path === path) ?? null;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._tracker.widgetAdded.disconnect(this._onPanel, this);
    this._tracker.currentChanged.disconnect(this._onCurrent, this);
    for (const port of this.all) {
      port.dispose();
    }
    Signal.clearData(this);
  }

  private _onPanel(_: INotebookTracker, panel: NotebookPanel): void {
    void panel.context.ready.then(() => this._open(panel));
  }

  private async _open(panel: NotebookPanel): Promise<void> {
    // A page without notebooks does without all that works in them.
    const port = await import('./port');
    const isKnown = this.all.some(({ panel: { context } }) => context === panel.context);
    if (this._isDisposed || panel.isDisposed || isKnown) {
      return;
    }
    const opened = new port.OpenNotebook(panel, this._options);
    this._ports.add(opened);
    opened.closed.connect(this._onClosed, this);
    this._added.emit(opened);
    if (this.current === opened) {
      this._currentChanged.emit();
    }
  }

  private _onClosed(port: OpenNotebook): void {
    this._ports.delete(port);
    const other = this._tracker.find(
      panel => panel.context === port.panel.context && panel !== port.panel
    );
    if (other !== undefined) {
      void this._open(other);
    }
  }

  private _onCurrent(): void {
    this._currentChanged.emit();
  }

  private _isDisposed = false;
  private readonly _tracker: INotebookTracker;
  private readonly _options: PortOptions;
  private readonly _ports = new Set<OpenNotebook>();
  private readonly _currentChanged = new Signal<this, void>(this);
  private readonly _added = new Signal<this, OpenNotebook>(this);
}
