import type { Json, JsonObject } from '../wire/generated';
import type { SharedCell, SharedNotebook } from './cell_lookup';
import { sourceHash } from './source_hash';

/** What is needed of yjs's undo manager. */
interface UndoManager {
  readonly undoStack: readonly unknown[];
  readonly trackedOrigins: Set<unknown>;
  lastChange: number;
  stopCapturing(): void;
}

/** Makes each step one undo, apart from what the person typed just before or after it. */
export class UndoSteps {
  constructor(shared: SharedNotebook) {
    this._shared = shared;
  }

  /**
   * Change the document in one transaction.
   *
   * @param step Changes of the same step that follow each other are undone together.
   * @param cells Cells whose text changes: undo inside such a cell takes that back, too.
   */
  run(step: string, change: () => void, cells: readonly SharedCell[] = []): void {
    const whole = managerOf(this._shared);
    const own = cells.map(managerOf).filter(manager => manager !== null && manager !== whole);
    this._separate(step, whole);
    for (const manager of own) {
      manager?.stopCapturing();
      manager?.trackedOrigins.add(this._shared);
    }
    try {
      this._shared.transact(change);
    } finally {
      for (const manager of own) {
        manager?.trackedOrigins.delete(this._shared);
        manager?.stopCapturing();
      }
      this._step = step;
      this._entry = whole?.undoStack.at(-1);
      whole?.stopCapturing();
    }
  }

  private _separate(step: string, whole: UndoManager | null): void {
    if (whole === null) {
      return;
    }
    const isNext = this._entry !== undefined && whole.undoStack.at(-1) === this._entry;
    if (isNext && step === this._step) {
      // It joins what changed a moment ago; for us that is the step, however long it takes.
      whole.lastChange = Date.now();
    } else {
      whole.stopCapturing();
    }
  }

  private _step = '';
  private _entry: unknown;
  private readonly _shared: SharedNotebook;
}

/** The undo manager of a document or cell, which the interfaces of JupyterLab leave out. */
function managerOf(shared: object): UndoManager | null {
  const manager: unknown = Reflect.get(shared, 'undoManager');
  return isUndoManager(manager) ? manager : null;
}

function isUndoManager(value: unknown): value is UndoManager {
  return (
    typeof value === 'object' &&
    value !== null &&
    'undoStack' in value &&
    'trackedOrigins' in value &&
    'stopCapturing' in value
  );
}

/** Tells what we change from what the person changes: a document reports both alike. */
export class OwnChanges {
  get isActive(): boolean {
    return this._depth > 0;
  }

  run<T>(change: () => T): T {
    this._depth += 1;
    try {
      return change();
    } finally {
      this._depth -= 1;
    }
  }

  private _depth = 0;
}

type CellJson = ReturnType<SharedCell['toJSON']>;
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

  /** Ids of all cells before this one, from the first on. */
  allBefore(id: string): readonly string[] {
    return this._ids.slice(0, Math.max(0, this._ids.indexOf(id)));
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

/** A cell's text with what goes with it. */
export interface Version {
  readonly source: string;
  /** The metadata that says who wrote it; null: none. */
  readonly mark: Json;
  readonly outputs: readonly JsonObject[];
  readonly executionCount: number | null;
}

/** A cell that a run put in or took out. */
export interface Presence {
  readonly kind: 'added' | 'removed';
  readonly cellId: string;
  /** The cell as it is, or was when it was taken out. */
  json: NewCell | CellJson;
  /** Ids of all cells that it followed: the last of them may be gone when it comes back. */
  behind: readonly string[];
}

export interface Rewriting {
  readonly kind: 'edited';
  readonly cellId: string;
  before: Version;
  after: Version;
}

export interface Moving {
  readonly kind: 'moved';
  readonly cellId: string;
  from: string;
  to: string;
}

export type RunChange = Presence | Rewriting | Moving;

/** What one tool call did to the cells. */
export interface RunStep {
  readonly call: string;
  readonly changes: RunChange[];
  isUndone: boolean;
}

/** What runs did to the cells of a notebook, for as long as the page is open. */
export class RunLog {
  /** Ids of the cells a run added, in the order it did. */
  added(run: string): readonly string[] {
    return this.steps(run)
      .flatMap(step => step.changes)
      .filter(change => change.kind === 'added')
      .map(change => change.cellId);
  }

  steps(run: string): readonly RunStep[] {
    return this._runs.get(run) ?? [];
  }

  note(run: string, call: string, change: RunChange): void {
    const steps = this._runs.get(run) ?? [];
    this._runs.set(run, steps);
    const last = steps.at(-1);
    if (last?.call === call && !last.isUndone) {
      last.changes.push(change);
    } else {
      steps.push({ call, changes: [change], isUndone: false });
    }
  }

  /** A text that some run gave a cell, by its hash; null: none did. */
  text(cellId: string, hash: string): string | null {
    for (const steps of this._runs.values()) {
      for (const change of steps.flatMap(step => step.changes)) {
        const text = change.cellId === cellId ? textOf(change) : null;
        if (text !== null && sourceHash(text) === hash) {
          return text;
        }
      }
    }
    return null;
  }

  private readonly _runs = new Map<string, RunStep[]>();
}

function textOf(change: RunChange): string | null {
  switch (change.kind) {
    case 'added':
    case 'removed':
      return String(change.json.source ?? '');
    case 'edited':
      return change.after.source;
    case 'moved':
      return null;
  }
}
