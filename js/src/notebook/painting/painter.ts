import type { INotebookModel } from '@jupyterlab/notebook';
import { UUID } from '@lumino/coreutils';

import type { Execution, OutputMessage, RunEvent } from '../../events';
import type { NotebookPort } from '../../models/notebooks';
import { CellLookup } from '../cell_lookup';
import { sourceHash } from '../source_hash';
import { mark, note, paintedCells } from './painted_cells';
import type { Add, Edit, End, Operation } from './protocol';

/** Displays of the transcript; everything else that a calling cell shows comes from its code. */
const PROSE = 'cellwright-';

export interface PainterParts {
  readonly port: Pick<NotebookPort, 'apply' | 'endRun'>;
  readonly model: INotebookModel;
  /** Id of the calling cell. */
  readonly callingId: string;
}

/** Puts the cells of one execution of a calling cell into the notebook, with what they show. */
export class Painter {
  constructor(parts: PainterParts) {
    this._parts = parts;
    this._lookup = new CellLookup(parts.model);
  }

  /**
   * Do what the kernel says.
   *
   * @param time When it said so, in seconds since the epoch.
   */
  handle(operation: Operation, time: number): void {
    this._time = time;
    switch (operation.op) {
      case 'start':
        this._start(operation.run);
        break;
      case 'add':
        this._allow(operation);
        this._add(operation);
        break;
      case 'edit':
        this._allow(operation);
        this._edit(operation);
        break;
      case 'remove':
        this._change('cell_removed', operation, { previous_hash: operation.previous_hash });
        break;
      case 'move':
        this._change('cell_moved', operation, { after: operation.after });
        break;
      case 'begin':
        this._current = this._shown(operation.cell_id);
        this._last = this._current;
        this._apply({ kind: 'cell_started', cell_id: this._current });
        break;
      case 'clear':
        this._draw(this._shown(operation.cell_id), { kind: 'clear_output', wait: operation.wait });
        break;
      case 'end':
        this._end(operation);
        break;
      case 'done':
        this._finishRun();
        break;
    }
  }

  /** Take an output of the calling cell; false: it is the calling cell's own. */
  output(message: OutputMessage): boolean {
    const target = this._current === '' ? this._target(message) : this._current;
    if (target === '') {
      return false;
    }
    this._draw(target, message);
    return true;
  }

  /** The calling cell has run to its end: what comes now is from threads. */
  close(): void {
    this._finishRun();
    this._phase = 'closed';
  }

  private _start(run: string): void {
    const { callingId, model } = this._parts;
    this._run = run;
    this._runs.add(run);
    this._phase = 'running';
    for (const { cell, ...painted } of paintedCells(model.sharedModel)) {
      const isOld = painted.paintedBy === callingId && !this._runs.has(painted.run);
      if (isOld && !painted.isEdited) {
        const previous_hash = sourceHash(cell.getSource());
        this._apply({ kind: 'cell_removed', cell_id: cell.getId(), previous_hash, call_id: '' });
      }
    }
  }

  /** The kernel has asked the person about a call where it had to. */
  private _allow({ asks, call }: Add | Edit): void {
    if (asks === true) {
      const answer = { call_id: call, allowed: true, by: '', reason: '' };
      this._apply({ kind: 'approval_answered', ...answer });
    }
  }

  private _add({ cell_id, call, source, cell_type, after }: Add): void {
    const place = this._isThere(after) ? after : this._lastPainted();
    this._apply({ kind: 'cell_added', cell_id, source, cell_type, after: place, call_id: call });
    this._painted.push(cell_id);
    this._note(cell_id, this._parts.callingId);
  }

  private _edit({ cell_id, call, source, previous_hash, ...change }: Edit): void {
    const id = this._shown(cell_id);
    const old = this._lookup.shared(id);
    const paintedBy = old === null ? '' : mark(old, 'painted_by');
    if (id !== this._parts.callingId) {
      this._apply({ kind: 'cell_edited', cell_id: id, source, previous_hash, call_id: call });
    }
    const now = this._lookup.shared(id);
    if (now?.getSource() === source && id !== this._parts.callingId) {
      this._note(id, paintedBy);
      return;
    }
    // The person's text stays, and what runs is shown all the same.
    const copy = UUID.uuid4();
    const cell_type = now?.cell_type === 'markdown' ? 'markdown' : 'code';
    this._add({ ...change, op: 'add', call, cell_id: copy, cell_type, source, after: id });
    this._copies.set(cell_id, copy);
  }

  private _change(
    kind: 'cell_removed' | 'cell_moved',
    { cell_id, call }: { readonly cell_id: string; readonly call: string },
    how: { readonly previous_hash: string } | { readonly after: string }
  ): void {
    const id = this._shown(cell_id);
    if (id !== this._parts.callingId) {
      this._apply({ kind, cell_id: id, call_id: call, ...how } as RunEvent);
    }
  }

  private _end({ cell_id, execution }: End): void {
    const id = this._shown(cell_id);
    this._current = '';
    this._apply({ kind: 'cell_finished', cell_id: id, execution: ended(execution) });
  }

  private _finishRun(): void {
    this._current = '';
    this._phase = 'calling';
    for (const run of this._runs) {
      this._parts.port.endRun(run);
    }
  }

  /** Where output goes that comes between two cells; empty: it stays where it is. */
  private _target(message: OutputMessage): string {
    const fromThread =
      message.kind === 'stream' ||
      (message.kind === 'display_data' && !message.display_id.startsWith(PROSE));
    return fromThread && this._phase !== 'calling' && this._isThere(this._last) ? this._last : '';
  }

  private _draw(cell_id: string, message: OutputMessage): void {
    this._apply({ kind: 'cell_output', cell_id, message });
  }

  private _apply(event: RunEvent): void {
    this._parts.port.apply(this._run, { sequence: 0, time: this._time, event }, false);
  }

  private _note(cellId: string, paintedBy: string): void {
    const cell = this._lookup.shared(cellId);
    if (cell !== null && paintedBy !== '') {
      note(cell, 'painted_by', paintedBy);
    }
  }

  /** The cell that stands for the one the kernel means. */
  private _shown(cellId: string): string {
    return this._copies.get(cellId) ?? cellId;
  }

  private _lastPainted(): string {
    return this._painted.filter(id => this._isThere(id)).at(-1) ?? this._parts.callingId;
  }

  private _isThere(id: string): boolean {
    return id !== '' && this._lookup.index(id) >= 0;
  }

  /** `calling`: the calling cell's own code runs, before, between or after runs. */
  private _phase: 'calling' | 'running' | 'closed' = 'calling';
  private _run = '';
  private _time = 0;
  /** The cell that runs now; empty: none does. */
  private _current = '';
  /** The cell that ran last. */
  private _last = '';
  private readonly _runs = new Set<string>();
  private readonly _painted: string[] = [];
  private readonly _copies = new Map<string, string>();
  private readonly _lookup: CellLookup;
  private readonly _parts: PainterParts;
}

function ended(execution: End['execution']): Execution {
  return {
    status: execution.status,
    duration_seconds: execution.seconds,
    execution_count: execution.execution_count,
    error: null,
    result_summary: '',
    changed: [],
    removed: [],
    files: [],
    cwd: '',
    note: '',
    figures: []
  };
}
