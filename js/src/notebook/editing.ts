import type { NotebookEdit } from '../chat/notebooks';
import { loadsFromElsewhere } from '../markdown/loads';
import type {
  CellAdded,
  CellEdited,
  CellMoved,
  CellRemoved,
  Json,
  JsonObject,
  RunStarted,
  WireCell
} from '../wire/generated';
import type { SharedCell, SharedNotebook } from './cell_lookup';
import { toNbformat } from './drawing';
import { METADATA_KEY, provenanceMetadata, provenanceOf } from './provenance';
import {
  CellBatch,
  type NewCell,
  type OwnChanges,
  type RunLog,
  type UndoSteps,
  type Version
} from './run_log';
import { sourceHash } from './source_hash';

export type StructuralEvent = CellAdded | CellEdited | CellRemoved | CellMoved;

export interface EditingParts {
  readonly shared: SharedNotebook;
  readonly log: RunLog;
  readonly steps: UndoSteps;
  readonly own: OwnChanges;
}

/**
 * Does to the document's cells what events say.
 *
 * The person's text wins: a cell that is not as the event expects stays as it is. JupyterLab draws
 * Markdown as soon as it is there: what would load from elsewhere is drawn only where the person
 * allowed the call. Otherwise it comes as a raw cell, and no cell is changed into it.
 */
export class CellEditing {
  constructor(parts: EditingParts) {
    this._parts = parts;
  }

  /** The person allowed a call. */
  allow(run: string, call: string): void {
    this._allowed.add(`${run} ${call}`);
  }

  /** What a branch did comes all at once when it is kept, and is one undo step. */
  begin(run: string, { branch }: RunStarted): void {
    if (branch !== null) {
      this._joined.add(run);
    }
  }

  apply(run: string, event: StructuralEvent): void {
    switch (event.kind) {
      case 'cell_added':
        if (!event.is_scratch) {
          this._add(run, event);
        }
        break;
      case 'cell_edited':
        if (event.outputs === null) {
          this._edit(run, event);
        } else {
          this._showOutputs(run, event, event.outputs);
        }
        break;
      case 'cell_removed':
        this._remove(run, event);
        break;
      case 'cell_moved':
        this._move(run, event);
        break;
    }
  }

  /**
   * Whether the person changed or deleted a cell before a branch was kept that changes it.
   *
   * Nobody confirmed the text before it ran, as it is done for other runs: it ran in a copy.
   */
  isLeft(run: string, cellId: string): boolean {
    return this._left.has(`${run} ${cellId}`);
  }

  private _note(run: string, cellId: string, isDone: boolean): void {
    if (this._joined.has(run) && !isDone) {
      this._left.add(`${run} ${cellId}`);
    } else {
      this._left.delete(`${run} ${cellId}`);
    }
  }

  private _add(run: string, event: CellAdded): void {
    const { shared, log } = this._parts;
    const { cell_id: id, call_id: call, source } = event;
    const batch = new CellBatch(shared);
    const mark = provenanceMetadata(run, call, source, call);
    const type = this._isAllowed(run, call) ? event.cell_type : undrawn(event.cell_type, source);
    const cell = newCell(type, source, mark);
    if (batch.get(id) === null) {
      const after = this._place(run, event.after, batch);
      this._change(run, call, () => {
        if (after === null) {
          batch.append(id, cell);
        } else {
          batch.insert(id, cell, after);
        }
      });
    }
    log.note(run, call, { kind: 'added', cellId: id, json: cell, behind: batch.allBefore(id) });
  }

  /** Behind the cell it names, else behind the run's last one; null: at the end. */
  private _place(run: string, after: string, batch: CellBatch): string | null {
    if (after !== '' && batch.get(after) !== null) {
      return after;
    }
    const own = this._parts.log.added(run).filter(id => batch.get(id) !== null);
    return own.at(-1) ?? null;
  }

  private _edit(run: string, event: CellEdited): void {
    const { cell_id: id, call_id: call, source } = event;
    const cell = new CellBatch(this._parts.shared).get(id);
    if (cell === null) {
      this._note(run, id, false);
      return;
    }
    const before = versionOf(cell);
    const mark = provenanceMetadata(run, call, source, addedBy(cell, run));
    const isThere = before.source === source;
    const isDrawn = undrawn(cell.cell_type, source) === cell.cell_type;
    if (!isThere && !isDrawn && !this._isAllowed(run, call)) {
      this._note(run, id, false);
      return;
    }
    if (!isThere && isAsExpected(cell, event.previous_hash, 'editable')) {
      const write = (): void => {
        cell.setSource(source);
        cell.setMetadata(METADATA_KEY, mark);
      };
      this._change(run, call, write, [cell]);
    }
    this._note(run, id, cell.getSource() === source);
    if (cell.getSource() === source) {
      const old = isThere ? this._parts.log.text(id, event.previous_hash) : before.source;
      const after = { ...before, source, mark };
      const known = { ...before, source: old ?? source };
      this._parts.log.note(run, call, { kind: 'edited', cellId: id, before: known, after });
    }
  }

  /** Outputs are cleared, or those of before come back; the source stays as it is. */
  private _showOutputs(
    run: string,
    event: CellEdited,
    outputs: NonNullable<CellEdited['outputs']>
  ): void {
    const { cell_id: id, call_id: call, source, execution_count: count } = event;
    const cell = new CellBatch(this._parts.shared).get(id);
    if (cell === null || !('setOutputs' in cell) || cell.getSource() !== source) {
      return;
    }
    const before = versionOf(cell);
    this._parts.own.run(() => {
      cell.setOutputs(outputs.map(toNbformat));
      cell.execution_count = count;
    });
    this._parts.log.note(run, call, { kind: 'edited', cellId: id, before, after: versionOf(cell) });
  }

  private _remove(run: string, event: CellRemoved): void {
    const { cell_id: id, call_id: call } = event;
    const batch = new CellBatch(this._parts.shared);
    const cell = batch.get(id);
    if (cell === null || !isAsExpected(cell, event.previous_hash, 'deletable')) {
      this._note(run, id, cell === null);
      return;
    }
    const gone = { kind: 'removed', cellId: id, json: cell.toJSON() } as const;
    this._parts.log.note(run, call, { ...gone, behind: batch.allBefore(id) });
    this._change(run, call, () => {
      batch.remove(id);
    });
  }

  private _move(run: string, event: CellMoved): void {
    const { cell_id: id, call_id: call, after: to } = event;
    const batch = new CellBatch(this._parts.shared);
    const isKnown = to === '' || batch.get(to) !== null;
    if (batch.get(id) === null || !isKnown || to === id || batch.before(id) === to) {
      return;
    }
    this._parts.log.note(run, call, { kind: 'moved', cellId: id, from: batch.before(id), to });
    this._change(run, call, () => {
      batch.move(id, to);
    });
  }

  private _isAllowed(run: string, call: string): boolean {
    return this._allowed.has(`${run} ${call}`);
  }

  private _change(run: string, call: string, change: () => void, cells: SharedCell[] = []): void {
    const step = this._joined.has(run) ? run : `${run} ${call}`;
    this._parts.own.run(() => {
      this._parts.steps.run(step, change, cells);
    });
  }

  private readonly _allowed = new Set<string>();
  private readonly _joined = new Set<string>();
  private readonly _left = new Set<string>();
  private readonly _parts: EditingParts;
}

/** The type of a cell that nobody has allowed to load anything: raw where drawing it would. */
function undrawn<Type extends string>(type: Type, source: string): Type | 'raw' {
  return type === 'markdown' && loadsFromElsewhere(source) ? 'raw' : type;
}

/** A cell's text as it is now, with what goes with it. */
export function versionOf(cell: SharedCell): Version {
  const mark: unknown = cell.getMetadata(METADATA_KEY);
  const json = cell.toJSON();
  return {
    source: cell.getSource(),
    mark: (mark ?? null) as Json,
    outputs: 'outputs' in json ? (json.outputs as JsonObject[]) : [],
    executionCount: 'execution_count' in json ? (json.execution_count as number | null) : null
  };
}

function isAsExpected(cell: SharedCell, hash: string, permission: string): boolean {
  return sourceHash(cell.getSource()) === hash && cell.getMetadata(permission) !== false;
}

function newCell(type: CellAdded['cell_type'], source: string, mark: JsonObject): NewCell {
  // Like any code cell that has no outputs: one that is not would untrust the whole notebook.
  const trust = type === 'code' ? { trusted: true } : {};
  return { cell_type: type, source, metadata: { ...trust, [METADATA_KEY]: mark } };
}

/** The call of this run that added a cell; empty: it is not the run's own. */
function addedBy(cell: SharedCell, run: string): string {
  const mark = provenanceOf(cell);
  return mark?.run === run ? mark.added : '';
}

/** Put cells of an earlier run where they belong, as one undo; those there are left. */
export function insertCells(parts: EditingParts, run: string, cells: NotebookEdit['cells']): void {
  const { shared, log, own, steps } = parts;
  own.run(() => {
    steps.run(`insert ${run}`, () => {
      const batch = new CellBatch(shared);
      for (const { cell, after } of cells) {
        if (batch.get(cell.id) === null) {
          const json = restored(run, cell);
          if (after === '') {
            batch.append(cell.id, json);
          } else {
            batch.insert(cell.id, json, after);
          }
          log.note(run, 'insert', {
            kind: 'added',
            cellId: cell.id,
            json,
            behind: batch.allBefore(cell.id)
          });
        }
      }
    });
  });
}

function restored(run: string, cell: WireCell): NewCell {
  const trust = cell.cell_type === 'code' ? { trusted: true } : {};
  const mark = provenanceMetadata(run, '', cell.source);
  const metadata = { [METADATA_KEY]: mark, ...cell.metadata, ...trust };
  // Where it was asked about is not known here: the person turns it into Markdown.
  const cell_type = undrawn(cell.cell_type, cell.source);
  // The file format's outputs are plain JSON; JupyterLab's type for them is narrower.
  return { ...cell, cell_type, metadata } as unknown as NewCell;
}
