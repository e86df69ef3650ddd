import type { Json, JsonObject } from '../events';
import type { CellJson, NewCell } from './cell_batch';
import { sourceHash } from './source_hash';

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
  /** Id of the cell it followed. */
  after: string;
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
