import { CodeCell } from '@jupyterlab/cells';
import {
  type INotebookModel,
  type Notebook,
  NotebookActions,
  type NotebookPanel
} from '@jupyterlab/notebook';
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';

import type { NotebookEdit, UndoResult } from '../chat/notebooks';
import type { JsonObject, RecordedEvent, RunEvent } from '../wire/generated';
import type { CellLookup } from './cell_lookup';
import { type Drawing, type DrawingEvent, OutputDrawing } from './drawing';
import { CellEditing, type EditingParts, insertCells, type StructuralEvent } from './editing';
import { type OwnChanges, RunLog, UndoSteps } from './run_log';
import { RunUndo } from './undoing';

type Hook = (message: KernelMessage.IIOPubMessage) => boolean | PromiseLike<boolean>;

/** After a cell's end, how long its last messages may still be on their way to this page. */
const LATE_MILLISECONDS = 10_000;

/**
 * Lets widgets capture what a cell prints that the server runs (`with output:`, `interact`).
 *
 * They register a hook for the message that runs the cell. JupyterLab's connection knows hooks
 * only for messages of its own, so the list of those gets an entry that does nothing but call
 * hooks. The list is private: where it looks different, such widgets stay empty, and that is all.
 */
export class Captures {
  constructor(kernel: () => Kernel.IKernelConnection | null) {
    this._kernel = kernel;
  }

  open(cellId: string, messageId: string): void {
    const futures = futuresOf(this._kernel());
    if (messageId !== '' && futures?.has(messageId) === false) {
      const entry = new HookEntry(() => futures.delete(messageId));
      futures.set(messageId, entry);
      this._entries.get(cellId)?.dispose();
      this._entries.set(cellId, entry);
    }
  }

  /** The cell ended; the entry goes when the kernel's last word on it has come, or soon. */
  close(cellId: string): void {
    const entry = this._entries.get(cellId);
    this._entries.delete(cellId);
    if (entry !== undefined && !entry.isDisposed) {
      setTimeout(() => {
        entry.dispose();
      }, LATE_MILLISECONDS);
    }
  }

  dispose(): void {
    for (const entry of this._entries.values()) {
      entry.dispose();
    }
    this._entries.clear();
  }

  private readonly _entries = new Map<string, HookEntry>();
  private readonly _kernel: () => Kernel.IKernelConnection | null;
}

/** As much of a kernel future as the connection uses for hooks. */
export class HookEntry {
  constructor(remove: () => void) {
    this._remove = remove;
  }

  isDisposed = false;

  registerMessageHook(hook: Hook): void {
    this.removeMessageHook(hook);
    this._hooks.push(hook);
  }

  removeMessageHook(hook: Hook): void {
    this._hooks = this._hooks.filter(known => known !== hook);
  }

  /** The newest hook comes first; one that returns false keeps the message from the others. */
  async handleMsg(message: KernelMessage.IMessage): Promise<void> {
    if (message.channel !== 'iopub') {
      return;
    }
    const published = message as KernelMessage.IIOPubMessage;
    await this._callHooks(published);
    const content = published.content as { readonly execution_state?: unknown };
    if (published.header.msg_type === 'status' && content.execution_state === 'idle') {
      this.dispose();
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      this._hooks = [];
      this._remove();
    }
  }

  private async _callHooks(message: KernelMessage.IIOPubMessage): Promise<void> {
    for (const hook of [...this._hooks].reverse()) {
      try {
        if (!(await hook(message))) {
          return;
        }
      } catch (error) {
        // Somebody else's hook; the connection logs these, too, and goes on.
        console.error(error);
      }
    }
  }

  private _hooks: Hook[] = [];
  private readonly _remove: () => void;
}

function futuresOf(kernel: object | null): Map<string, unknown> | null {
  const futures: unknown = kernel === null ? null : Reflect.get(kernel, '_futures');
  return futures instanceof Map ? (futures as Map<string, unknown>) : null;
}

interface RunWorkParts {
  readonly panel: NotebookPanel;
  readonly lookup: CellLookup;
  readonly own: OwnChanges;
  /** A cell of a run begins to run now. */
  readonly onStarted: (cellId: string) => void;
}

/** What runs do in a document: cells come and change, run and show; and back again. */
export class RunWork implements IDisposable {
  constructor(parts: RunWorkParts) {
    const { panel, lookup, own } = parts;
    const shared = panel.context.model.sharedModel;
    this._parts = parts;
    this._editingParts = { shared, log: new RunLog(), steps: new UndoSteps(shared), own };
    this._editing = new CellEditing(this._editingParts);
    this._undoing = new RunUndo({ ...this._editingParts, lookup });
    this._captures = new Captures(() => panel.sessionContext.session?.kernel ?? null);
    this._drawing = makeDrawing(parts);
    this._cells = panel.context.model.cells;
    this._cells.changed.connect(this._drawing.restoreMarks, this._drawing);
    panel.sessionContext.iopubMessage.connect(this._onMessage, this);
    NotebookActions.executionScheduled.connect(this._onExecution, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { panel } = this._parts;
    this._cells.changed.disconnect(this._drawing.restoreMarks, this._drawing);
    panel.sessionContext.iopubMessage.disconnect(this._onMessage, this);
    NotebookActions.executionScheduled.disconnect(this._onExecution, this);
    this._captures.dispose();
  }

  /** Do what an event says; false: its cell stays as the person left it, see `isLeft`. */
  apply(run: string, { sequence, time, event }: RecordedEvent, isReplay: boolean): boolean {
    if (!this._isNew(run, sequence)) {
      return true;
    }
    if (event.kind === 'run_started') {
      this._editing.begin(run, event);
    } else if (event.kind === 'approval_answered' && event.allowed) {
      this._editing.allow(run, event.call_id);
    } else if (isStructural(event)) {
      this._drawing.flush();
      this._editing.apply(run, event);
      return !this._editing.isLeft(run, event.cell_id);
    } else if (isDrawn(event) && !this._editing.isLeft(run, event.cell_id)) {
      this._draw({ run, event, time, isReplay });
    }
    return true;
  }

  /** Draw at once what waits for the end of its batch. */
  flush(): void {
    if (!this._isDisposed) {
      this._drawing.flush();
    }
  }

  /** Nothing more comes of a run. */
  end(run: string): void {
    this._drawing.end(run);
  }

  /** Let widgets capture what a message's code shows. */
  capture(cellId: string, messageId: string): void {
    this._captures.open(cellId, messageId);
  }

  insert(run: string, cells: NotebookEdit['cells']): void {
    insertCells(this._editingParts, run, cells);
  }

  undo(run: string, call?: string, andLater?: boolean): UndoResult {
    this._drawing.flush();
    return this._undoing.undo(run, call, andLater);
  }

  redo(run: string, call?: string, andLater?: boolean): UndoResult {
    return this._undoing.redo(run, call, andLater);
  }

  private _draw(drawing: Drawing): void {
    const { event, isReplay } = drawing;
    this._drawing.add(drawing);
    if (event.kind === 'cell_finished') {
      this._captures.close(event.cell_id);
    }
    if (event.kind === 'cell_started' && !isReplay) {
      this._parts.onStarted(event.cell_id);
    }
  }

  private _isNew(run: string, sequence: number): boolean {
    const last = this._applied.get(run) ?? 0;
    this._applied.set(run, Math.max(last, sequence));
    return sequence === 0 || sequence > last;
  }

  /** The person runs a cell: what it shows is theirs. */
  private _onExecution(
    _: unknown,
    { notebook, cell }: { readonly notebook: Notebook; readonly cell: { model: { id: string } } }
  ): void {
    if (notebook.model === this._parts.panel.context.model) {
      this._drawing.release(cell.model.id);
    }
  }

  /** The person's own cells may update what the agent's cells display. */
  private _onMessage(_: unknown, message: KernelMessage.IMessage): void {
    const kernel = this._parts.panel.sessionContext.session?.kernel;
    const parent = message.parent_header as Partial<KernelMessage.IHeader>;
    if (message.header.msg_type !== 'update_display_data' || parent.session !== kernel?.clientId) {
      return;
    }
    const content = message.content as KernelMessage.IUpdateDisplayDataMsg['content'];
    this._parts.own.run(() => {
      this._drawing.update({
        display_id: content.transient.display_id,
        data: content.data as JsonObject,
        metadata: content.metadata as JsonObject
      });
    });
  }

  private _isDisposed = false;
  // The model is gone by the time a closed document is disposed of.
  private readonly _cells: INotebookModel['cells'];
  private readonly _applied = new Map<string, number>();
  private readonly _parts: RunWorkParts;
  private readonly _editingParts: EditingParts;
  private readonly _editing: CellEditing;
  private readonly _undoing: RunUndo;
  private readonly _captures: Captures;
  private readonly _drawing: OutputDrawing;
}

function makeDrawing({ panel, lookup, own }: RunWorkParts): OutputDrawing {
  return new OutputDrawing({
    lookup,
    own,
    recordsTiming: () => panel.content.notebookConfig.recordTiming,
    unfold: id => {
      const cell = panel.content.widgets[lookup.index(id)];
      if (cell instanceof CodeCell) {
        cell.outputHidden = false;
      }
    }
  });
}

const STRUCTURAL: ReadonlySet<string> = new Set<StructuralEvent['kind']>([
  'cell_added',
  'cell_edited',
  'cell_removed',
  'cell_moved'
]);

const DRAWN: ReadonlySet<string> = new Set<DrawingEvent['kind']>([
  'cell_started',
  'cell_output',
  'cell_finished'
]);

function isStructural(event: RunEvent): event is StructuralEvent {
  return STRUCTURAL.has(event.kind);
}

function isDrawn(event: RunEvent): event is DrawingEvent {
  return DRAWN.has(event.kind);
}
