import type { UndoResult } from '../chat/notebooks';
import type { JsonObject } from '../wire/generated';
import type { CellLookup, SharedCell, SharedNotebook } from './cell_lookup';
import { versionOf } from './editing';
import { isEdited, METADATA_KEY, provenanceOf } from './provenance';
import {
  CellBatch,
  type Moving,
  type OwnChanges,
  type Presence,
  type Rewriting,
  type RunChange,
  type RunLog,
  type RunStep,
  type UndoSteps,
  type Version
} from './run_log';

interface UndoingParts {
  readonly shared: SharedNotebook;
  readonly lookup: CellLookup;
  readonly log: RunLog;
  readonly steps: UndoSteps;
  readonly own: OwnChanges;
}

type UndoOutcome = 'done' | 'kept' | 'nothing';
type Direction = 'undo' | 'redo';

/** Takes back what runs did to the cells, or does it again; each time one undo of the notebook. */
export class RunUndo {
  constructor(parts: UndoingParts) {
    this._parts = parts;
  }

  /** Take back a run, one call of it, or that call and all later ones. */
  undo(run: string, call?: string, andLater = false): UndoResult {
    if (this._parts.log.steps(run).length === 0) {
      this._noteAdded(run);
    }
    const steps = this._steps(run, call, andLater).filter(step => !step.isUndone);
    const done = this._turn(steps.reverse(), 'undo');
    return this._late.has(run) ? { ...done, isLate: true } : done;
  }

  /** The document was opened after a run: what the run added and nobody changed can be told. */
  private _noteAdded(run: string): void {
    const { shared, log } = this._parts;
    const batch = new CellBatch(shared);
    this._late.add(run);
    for (const cell of shared.cells) {
      const mark = provenanceOf(cell);
      const isOwn = mark !== null && mark.run === run && mark.added !== '';
      if (isOwn && !isEdited(mark, cell.getSource())) {
        const cellId = cell.getId();
        const behind = batch.allBefore(cellId);
        log.note(run, mark.added, { kind: 'added', cellId, json: cell.toJSON(), behind });
      }
    }
  }

  redo(run: string, call?: string, andLater = false): UndoResult {
    const steps = this._steps(run, call, andLater).filter(step => step.isUndone);
    return this._turn(steps, 'redo');
  }

  private _steps(run: string, call: string | undefined, andLater: boolean): RunStep[] {
    const steps = this._parts.log.steps(run);
    const first = steps.findIndex(step => step.call === call);
    return steps.filter(
      (step, index) =>
        call === undefined || step.call === call || (andLater && first >= 0 && index >= first)
    );
  }

  private _turn(steps: readonly RunStep[], direction: Direction): UndoResult {
    const { shared, own } = this._parts;
    const outcomes = new Map<string, UndoOutcome>();
    const rewritten: Rewriting[] = [];
    own.run(() => {
      this._parts.steps.run(
        `${direction} ${String((this._turns += 1))}`,
        () => {
          const batch = new CellBatch(shared);
          for (const step of steps) {
            const seen = inOrder(step, direction).map(change => {
              const outcome = turn(batch, change, direction);
              outcomes.set(change.cellId, worse(outcomes.get(change.cellId), outcome));
              if (outcome === 'done' && change.kind === 'edited') {
                rewritten.push(change);
              }
              return outcome;
            });
            // What was only kept can be turned once the person takes their change back.
            if (seen.includes('done') || !seen.includes('kept')) {
              step.isUndone = direction === 'undo';
            }
          }
        },
        this._touched(steps)
      );
      this._showOutputs(rewritten, direction);
    });
    return { changed: withOutcome(outcomes, 'done'), kept: withOutcome(outcomes, 'kept') };
  }

  private _touched(steps: readonly RunStep[]): SharedCell[] {
    const changes = steps.flatMap(step => step.changes).filter(change => change.kind === 'edited');
    const ids = new Set(changes.map(change => change.cellId));
    return [...ids].map(id => this._parts.lookup.shared(id)).filter(cell => cell !== null);
  }

  /** Outputs are on nobody's undo stack; what the old text had shown comes back with it. */
  private _showOutputs(changes: readonly Rewriting[], direction: Direction): void {
    for (const change of changes) {
      const model = this._parts.lookup.code(change.cellId);
      const version = direction === 'undo' ? change.before : change.after;
      if (model !== null && !isSameOutput(versionOf(model.sharedModel), version)) {
        model.outputs.fromJSON(version.outputs as Parameters<typeof model.outputs.fromJSON>[0]);
        model.executionCount = version.executionCount;
      }
    }
  }

  private _turns = 0;
  /** The runs that were over when the document was opened. */
  private readonly _late = new Set<string>();
  private readonly _parts: UndoingParts;
}

function inOrder(step: RunStep, direction: Direction): readonly RunChange[] {
  return direction === 'undo' ? [...step.changes].reverse() : step.changes;
}

function turn(batch: CellBatch, change: RunChange, direction: Direction): UndoOutcome {
  const isUndo = direction === 'undo';
  switch (change.kind) {
    case 'added':
      return isUndo ? takeOut(batch, change) : putIn(batch, change);
    case 'removed':
      return isUndo ? putIn(batch, change) : takeOut(batch, change);
    case 'edited':
      return rewrite(batch, change, direction);
    case 'moved':
      return move(batch, change, direction);
  }
}

function takeOut(batch: CellBatch, change: Presence): UndoOutcome {
  const cell = batch.get(change.cellId);
  if (cell === null) {
    return 'nothing';
  }
  if (cell.getSource() !== change.json.source) {
    return 'kept';
  }
  change.json = cell.toJSON();
  change.behind = batch.allBefore(change.cellId);
  batch.remove(change.cellId);
  return 'done';
}

function putIn(batch: CellBatch, change: Presence): UndoOutcome {
  if (batch.get(change.cellId) !== null) {
    return 'nothing';
  }
  const there = change.behind.filter(id => batch.get(id) !== null);
  batch.insert(change.cellId, change.json, there.at(-1) ?? '');
  return 'done';
}

function rewrite(batch: CellBatch, change: Rewriting, direction: Direction): UndoOutcome {
  const cell = batch.get(change.cellId);
  const isUndo = direction === 'undo';
  const now = isUndo ? change.after : change.before;
  const then = isUndo ? change.before : change.after;
  if (cell === null || cell.getSource() === then.source) {
    return cell !== null && now.source === then.source ? reshow(cell, now, then) : 'nothing';
  }
  if (cell.getSource() !== now.source) {
    return 'kept';
  }
  change[isUndo ? 'after' : 'before'] = versionOf(cell);
  write(cell, then);
  return 'done';
}

/** Only what the cell shows was changed: it is shown again afterwards. */
function reshow(cell: SharedCell, now: Version, then: Version): UndoOutcome {
  // When both are the same, this page came too late to see the old text.
  const isSeen = !isSameOutput(now, then);
  return isSeen && isSameOutput(versionOf(cell), now) ? 'done' : 'kept';
}

function isSameOutput(one: Version, other: Version): boolean {
  return one.executionCount === other.executionCount && one.outputs.length === other.outputs.length;
}

function write(cell: SharedCell, version: Version): void {
  cell.setSource(version.source);
  if (version.mark === null) {
    cell.deleteMetadata(METADATA_KEY);
  } else {
    cell.setMetadata(METADATA_KEY, version.mark as JsonObject);
  }
}

function move(batch: CellBatch, change: Moving, direction: Direction): UndoOutcome {
  const [now, then] = direction === 'undo' ? [change.to, change.from] : [change.from, change.to];
  if (batch.get(change.cellId) === null) {
    return 'nothing';
  }
  if (batch.before(change.cellId) !== now || (then !== '' && batch.get(then) === null)) {
    return 'kept';
  }
  batch.move(change.cellId, then);
  return 'done';
}

/** A cell is reported as kept when any part of it was. */
function worse(before: UndoOutcome | undefined, now: UndoOutcome): UndoOutcome {
  const order: readonly UndoOutcome[] = ['kept', 'done', 'nothing'];
  return order.find(outcome => outcome === before || outcome === now) ?? now;
}

function withOutcome(
  outcomes: ReadonlyMap<string, UndoOutcome>,
  wanted: UndoOutcome
): readonly string[] {
  return [...outcomes].filter(([, outcome]) => outcome === wanted).map(([id]) => id);
}
