import type { SharedCell, SharedNotebook } from './cell_lookup';

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
