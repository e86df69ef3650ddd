/**
 * What the kernel says over the comm while a calling cell runs: the mirror of
 * `cellwright_magics/easels.py` and `painted.py`.
 */
import type { CellAdded, Execution } from '../../wire/generated';

export const TARGET = 'cellwright';
export const PROTOCOL = 1;

interface PaintedChange {
  readonly run: string;
  /** The tool call that asks for it. */
  readonly call: string;
  readonly cell_id: string;
}

/** A run begins: what was painted under the calling cell before goes. */
interface Start {
  readonly op: 'start';
  readonly run: string;
}

export interface Add extends PaintedChange {
  readonly op: 'add';
  /** The kernel asks before it sends text that loads from elsewhere; older ones did not. */
  readonly asks?: unknown;
  readonly cell_type: CellAdded['cell_type'];
  readonly source: string;
  readonly after: string;
}

export interface Edit extends PaintedChange {
  readonly op: 'edit';
  readonly asks?: unknown;
  readonly source: string;
  readonly previous_hash: string;
}

interface Remove extends PaintedChange {
  readonly op: 'remove';
  readonly previous_hash: string;
}

interface Move extends PaintedChange {
  readonly op: 'move';
  readonly after: string;
}

/** What the kernel shows from now on belongs to this cell. */
interface Begin {
  readonly op: 'begin';
  readonly cell_id: string;
}

interface Clear {
  readonly op: 'clear';
  readonly cell_id: string;
  readonly wait: boolean;
}

export interface End {
  readonly op: 'end';
  readonly cell_id: string;
  readonly execution: {
    readonly status: Execution['status'];
    readonly seconds: number;
    readonly execution_count: number;
  };
}

/** The run is over; the calling cell may go on. */
interface Done {
  readonly op: 'done';
  readonly run: string;
}

export type Operation = Start | Add | Edit | Remove | Move | Begin | Clear | End | Done;

const CHANGE = { run: 'string', call: 'string', cell_id: 'string' };

type Op = Operation['op'];

/** The fields of each operation and their types. */
const FIELDS: Record<Op, Record<string, string>> = {
  start: { run: 'string' },
  add: { ...CHANGE, cell_type: 'string', source: 'string', after: 'string' },
  edit: { ...CHANGE, source: 'string', previous_hash: 'string' },
  remove: { ...CHANGE, previous_hash: 'string' },
  move: { ...CHANGE, after: 'string' },
  begin: { cell_id: 'string' },
  clear: { cell_id: 'string', wait: 'boolean' },
  end: { cell_id: 'string', execution: 'object' },
  done: { run: 'string' }
};

/** The operation in a message; null: this page does not know it. */
export function readOperation(data: unknown): Operation | null {
  if (typeof data !== 'object' || data === null) {
    return null;
  }
  const op: unknown = Reflect.get(data, 'op');
  const fields = typeof op === 'string' && Object.hasOwn(FIELDS, op) ? FIELDS[op as Op] : null;
  const fits =
    fields !== null &&
    Object.entries(fields).every(([name, type]) => typeof Reflect.get(data, name) === type);
  return fits ? (data as Operation) : null;
}
