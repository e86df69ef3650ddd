import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

type Context = DocumentRegistry.IContext<INotebookModel>;

/** Where a document is, which kernel it has and whether it may be changed. */
export class DocumentFacts implements IDisposable {
  constructor(panel: NotebookPanel) {
    this._context = panel.context;
    const { context } = panel;
    context.pathChanged.connect(this._look, this);
    context.fileChanged.connect(this._look, this);
    context.model.stateChanged.connect(this._look, this);
    context.sessionContext.kernelChanged.connect(this._look, this);
    context.saveState.connect(this._onSave, this);
    this._seen = this._summary();
  }

  get path(): string {
    return this._context.localPath;
  }

  get kernelId(): string {
    return this._context.sessionContext.session?.kernel?.id ?? '';
  }

  get editable(): boolean {
    return !this._context.model.readOnly && this._context.contentsModel?.writable !== false;
  }

  /** One of them is another than before. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get saved(): ISignal<this, void> {
    return this._saved;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { _context: context } = this;
    context.pathChanged.disconnect(this._look, this);
    context.fileChanged.disconnect(this._look, this);
    context.model.stateChanged.disconnect(this._look, this);
    context.sessionContext.kernelChanged.disconnect(this._look, this);
    context.saveState.disconnect(this._onSave, this);
    Signal.clearData(this);
  }

  private _look(): void {
    const now = this._summary();
    if (now !== this._seen) {
      this._seen = now;
      this._changed.emit();
    }
  }

  private _onSave(_: Context, state: DocumentRegistry.SaveState): void {
    if (state === 'completed') {
      this._saved.emit();
    }
  }

  private _summary(): string {
    return JSON.stringify([this.path, this.kernelId, this.editable]);
  }

  private _seen: string;
  private _isDisposed = false;
  private readonly _context: Context;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _saved = new Signal<this, void>(this);
}
