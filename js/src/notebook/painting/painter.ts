import type { INotebookModel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';

import type { NotebookPort } from '../../chat/notebooks';
import type { Execution, JsonObject, OutputMessage, RunEvent } from '../../wire/generated';
import { CellLookup, type SharedCell, type SharedNotebook } from '../cell_lookup';
import { isEdited, METADATA_KEY, provenanceOf } from '../provenance';
import { sourceHash } from '../source_hash';
import type { Add, Edit, End, Operation } from './protocol';

/** A cell that was painted under a calling cell. */
export interface PaintedCell {
  readonly cell: SharedCell;
  readonly run: string;
  /** Id of the calling cell. */
  readonly paintedBy: string;
  /** Somebody changed it since, or copied it: it stays. */
  readonly isEdited: boolean;
}

/** What the metadata of a cell says of its being painted; null: it was not. */
export function paintedCell(cell: SharedCell): PaintedCell | null {
  const paintedBy = mark(cell, 'painted_by');
  const provenance = provenanceOf(cell);
  if (paintedBy === '' || provenance === null) {
    return null;
  }
  const isCopy = !['', cell.getId()].includes(mark(cell, PAINTED_AS)); // older versions noted no id
  const edited = isCopy || isEdited(provenance, cell.getSource());
  return { cell, run: provenance.run, paintedBy, isEdited: edited };
}

/** The note of a painted cell's own id: a copy has the note of another cell. */
const PAINTED_AS = 'painted_as';

export function paintedCells(shared: SharedNotebook): readonly PaintedCell[] {
  return shared.cells.map(paintedCell).filter(painted => painted !== null);
}

/** Note something beside who wrote the cell; null takes the note away. Nobody undoes that. */
export function note(cell: SharedCell, key: string, value: string | null): void {
  const known = (cell.getMetadata(METADATA_KEY) ?? {}) as JsonObject;
  const others = Object.entries(known).filter(([name]) => name !== key);
  cell.setMetadata(
    METADATA_KEY,
    Object.fromEntries(value === null ? others : [...others, [key, value]])
  );
}

/** A note of a cell; empty: there is none. */
export function mark(cell: SharedCell, key: string): string {
  const known: unknown = cell.getMetadata(METADATA_KEY);
  const found: unknown =
    typeof known === 'object' && known !== null ? Reflect.get(known, key) : undefined;
  return typeof found === 'string' ? found : '';
}

/** The kernel's message as a run's events carry it; null: it shows nothing new. */
export function outputMessage(message: KernelMessage.IIOPubMessage): OutputMessage | null {
  if (KernelMessage.isStreamMsg(message)) {
    const { name, text } = message.content;
    return { kind: 'stream', name, text };
  }
  if (KernelMessage.isErrorMsg(message)) {
    const { ename, evalue, traceback } = message.content;
    return { kind: 'error', ename, evalue, traceback };
  }
  if (KernelMessage.isDisplayDataMsg(message)) {
    return { kind: 'display_data', ...bundle(message.content) };
  }
  if (KernelMessage.isExecuteResultMsg(message)) {
    const { execution_count } = message.content;
    return { kind: 'execute_result', execution_count, ...bundle(message.content) };
  }
  if (KernelMessage.isClearOutputMsg(message)) {
    return { kind: 'clear_output', wait: message.content.wait };
  }
  return null;
}

type ShownOutput =
  KernelMessage.IDisplayDataMsg['content'] | KernelMessage.IExecuteResultMsg['content'];

function bundle(content: ShownOutput): {
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly display_id: string;
} {
  return {
    data: content.data as JsonObject,
    metadata: content.metadata as JsonObject,
    display_id: content.transient?.display_id ?? ''
  };
}

/** Displays of the transcript; everything else that a calling cell shows comes from its code. */
const PROSE = 'cellwright-';

interface PainterParts {
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
      const said = { allowed: true, by: '', reason: '', previewed: false, adopted: false };
      const answer = { call_id: call, ...said };
      this._apply({ kind: 'approval_answered', ...answer });
    }
  }

  private _add({ cell_id, call, source, cell_type, after }: Add): void {
    const place = this._isThere(after) ? after : this._lastPainted();
    this._apply({
      kind: 'cell_added',
      cell_id,
      source,
      cell_type,
      after: place,
      call_id: call,
      is_scratch: false
    });
    this._painted.push(cell_id);
    this._note(cell_id, this._parts.callingId, cell_id);
  }

  private _edit({ cell_id, call, source, previous_hash, ...change }: Edit): void {
    const id = this._shown(cell_id);
    const old = this._lookup.shared(id);
    const [paintedBy, paintedAs] = ['painted_by', PAINTED_AS].map(key =>
      old === null ? '' : mark(old, key)
    );
    if (id !== this._parts.callingId) {
      const text = { cell_id: id, source, previous_hash, call_id: call } as const;
      this._apply({ kind: 'cell_edited', ...text, outputs: null, execution_count: null });
    }
    const now = this._lookup.shared(id);
    if (now?.getSource() === source && id !== this._parts.callingId) {
      this._note(id, paintedBy, paintedAs);
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

  private _note(cellId: string, paintedBy = '', paintedAs = ''): void {
    const cell = this._lookup.shared(cellId);
    if (cell !== null && paintedBy !== '') {
      note(cell, 'painted_by', paintedBy);
      note(cell, PAINTED_AS, paintedAs === '' ? null : paintedAs);
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
    figures: [],
    cpu_seconds: null,
    rss_bytes: null,
    waited_seconds: 0
  };
}
