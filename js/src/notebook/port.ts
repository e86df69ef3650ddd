import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel, Notebook, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type {
  Confirmation,
  NotebookEdit,
  NotebookPort,
  OutlineEntry,
  ProposalAnswer,
  RestartResult,
  RestartWatch,
  UndoResult
} from '../chat/notebooks';
import type { RecordedEvent, WireCell } from '../wire/generated';
import { outline } from './actions';
import { CellLookup } from './cell_lookup';
import { Proposals } from './proposals';
import { OwnChanges } from './run_log';
import { restartAndRun } from './restarting';
import { RunWork } from './run_work';
import { sourceHash } from './source_hash';
import { EditWatch, wireCell } from './watching';

type Context = DocumentRegistry.IContext<INotebookModel>;

/** Where a document is, which kernel it has and whether it may be changed. */
class DocumentFacts implements IDisposable {
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

const FLASH_MILLISECONDS = 1_500;

/** Brings cells into view. */
class CellRevealing {
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

export interface PortOptions {
  readonly trans: TranslationBundle;
  /** Whether the view follows the running cell. */
  readonly follows: () => boolean;
  /** Bring the document's tab to the front. */
  readonly activate: (panel: NotebookPanel) => void;
}

/** A notebook document that is open in this page; its context is ready. */
export class OpenNotebook implements NotebookPort, IDisposable {
  constructor(panel: NotebookPanel, options: PortOptions) {
    const own = new OwnChanges();
    const lookup = new CellLookup(panel.context.model);
    this._panel = panel;
    this._model = panel.context.model;
    this._options = options;
    this._lookup = lookup;
    this._facts = new DocumentFacts(panel);
    this._watch = new EditWatch(this._model, own);
    this._proposals = new Proposals(panel.content, options.trans);
    this._revealing = new CellRevealing(panel.content, lookup);
    const onStarted = this._onStarted.bind(this);
    this._work = new RunWork({ panel, lookup, own, onStarted });
    this._connect();
  }

  readonly notebook = UUID.uuid4();

  get path(): string {
    return this._facts.path;
  }

  get kernelId(): string {
    return this._facts.kernelId;
  }

  get editable(): boolean {
    return this._facts.editable;
  }

  get panel(): NotebookPanel {
    return this._panel;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get edited(): ISignal<this, NotebookEdit> {
    return this._edited;
  }

  get saved(): ISignal<this, void> {
    return this._saved;
  }

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  /** The person accepted or rejected a proposed edit on its cell. */
  get answered(): ISignal<this, ProposalAnswer> {
    return this._answered;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._panel.disposed.disconnect(this.dispose, this);
    for (const part of [this._work, this._facts, this._watch, this._proposals]) {
      part.dispose();
    }
    this._closed.emit();
    Signal.clearData(this);
  }

  cells(): readonly WireCell[] {
    this._work.flush();
    return this._model.sharedModel.cells.map(wireCell);
  }

  confirm(cellId: string, hash: string, messageId: string): Promise<Confirmation> {
    if (this._isDisposed) {
      return Promise.resolve({ ok: false, reason: 'closed', cells: [] });
    }
    this._watch.flush();
    this._work.flush();
    const reason = this._refusal(cellId, hash);
    if (reason === '') {
      this._work.capture(cellId, messageId);
      return Promise.resolve({ ok: true, reason, cells: [] });
    }
    const cell = this._lookup.shared(cellId);
    return Promise.resolve({ ok: false, reason, cells: cell === null ? [] : [wireCell(cell)] });
  }

  apply(run: string, recorded: RecordedEvent, isReplay: boolean): boolean {
    return this._isDisposed || !this.editable || this._work.apply(run, recorded, isReplay);
  }

  insert(run: string, cells: NotebookEdit['cells']): void {
    this._work.insert(run, cells);
  }

  beginRun(run: string): void {
    this._watch.begin(run);
  }

  endRun(run: string): void {
    if (!this._isDisposed) {
      this._work.end(run);
      this._watch.end(run);
    }
  }

  reveal(cellId: string): void {
    this._options.activate(this._panel);
    void this._revealing.reveal(cellId);
  }

  undo(run: string, callId?: string, andLater?: boolean): UndoResult {
    return this._work.undo(run, callId, andLater);
  }

  redo(run: string, callId?: string, andLater?: boolean): UndoResult {
    return this._work.redo(run, callId, andLater);
  }

  restartAndRun(sources: readonly string[], watch: RestartWatch): Promise<RestartResult> {
    return restartAndRun(this._panel, sources, watch);
  }

  outline(): readonly OutlineEntry[] {
    return outline(this._model);
  }

  highlight(cellId: string, isOn: boolean): void {
    this._revealing.highlight(cellId, isOn);
  }

  propose(cellId: string, source: string | null, runs = false): void {
    this._proposals.propose(cellId, source, runs);
  }

  private _connect(): void {
    this._panel.disposed.connect(this.dispose, this);
    this._facts.changed.connect(() => {
      this._changed.emit();
    }, this);
    this._facts.saved.connect(() => {
      this._saved.emit();
    }, this);
    this._watch.edited.connect((_, edit) => {
      this._edited.emit(edit);
    }, this);
    this._proposals.answered.connect((_, answer) => {
      this._answered.emit(answer);
    }, this);
  }

  private _onStarted(cellId: string): void {
    if (this._options.follows()) {
      void this._revealing.follow(cellId);
    }
  }

  /** Why a cell cannot run as the server knows it; empty: it can. */
  private _refusal(cellId: string, hash: string): string {
    // First: in a notebook that cannot be changed, the agent's cells never came.
    if (!this.editable) {
      return 'read_only';
    }
    const cell = this._lookup.shared(cellId);
    if (cell === null) {
      return 'gone';
    }
    return cell.cell_type === 'code' && sourceHash(cell.getSource()) === hash ? '' : 'changed';
  }

  private _isDisposed = false;
  private readonly _panel: NotebookPanel;
  private readonly _model: INotebookModel;
  private readonly _options: PortOptions;
  private readonly _lookup: CellLookup;
  private readonly _facts: DocumentFacts;
  private readonly _watch: EditWatch;
  private readonly _proposals: Proposals;
  private readonly _revealing: CellRevealing;
  private readonly _work: RunWork;
  private readonly _changed = new Signal<this, void>(this);
  private readonly _edited = new Signal<this, NotebookEdit>(this);
  private readonly _saved = new Signal<this, void>(this);
  private readonly _closed = new Signal<this, void>(this);
  private readonly _answered = new Signal<this, ProposalAnswer>(this);
}
