import type { ICodeCellModel } from '@jupyterlab/cells';
import type { IOutput } from '@jupyterlab/nbformat';
import type { IOutputAreaModel } from '@jupyterlab/outputarea';
import type { IOutputModel } from '@jupyterlab/rendermime';

import type {
  CellFinished,
  CellOutput,
  CellStarted,
  ClearOutput,
  DisplayData,
  DisplayUpdate,
  ErrorOutput,
  ExecuteResult,
  Execution,
  JsonObject,
  OutputMessage,
  StreamOutput
} from '../wire/generated';
import type { CellLookup } from './cell_lookup';
import type { OwnChanges } from './run_log';

export type DrawingEvent = CellStarted | CellOutput | CellFinished;

/** An event that is to be drawn. */
export interface Drawing {
  readonly run: string;
  readonly event: DrawingEvent;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly isReplay: boolean;
}

/**
 * Collects what comes in one batch and hands it on as soon as the batch is over.
 *
 * Text that follows text on the same stream is joined: a renderer goes through all of a stream's
 * text with each addition, so 5,000 short prints would cost seconds.
 */
class DrawingQueue {
  constructor(draw: (drawings: readonly Drawing[]) => void) {
    this._draw = draw;
  }

  add(drawing: Drawing): void {
    const last = this._drawings.at(-1);
    if (last !== undefined && isSameStream(last.event, drawing.event)) {
      this._texts.push(textOf(drawing.event));
      return;
    }
    this._close();
    this._drawings.push(drawing);
    this._texts = [textOf(drawing.event)];
    if (this._drawings.length === 1) {
      void Promise.resolve().then(() => {
        this.flush();
      });
    }
  }

  flush(): void {
    this._close();
    const drawings = this._drawings;
    this._drawings = [];
    this._texts = [];
    if (drawings.length > 0) {
      this._draw(drawings);
    }
  }

  /** Give the last drawing the text that was joined to it. */
  private _close(): void {
    const last = this._drawings.at(-1);
    if (this._texts.length > 1 && last?.event.kind === 'cell_output') {
      const { event } = last;
      if (event.message.kind === 'stream') {
        const message = { ...event.message, text: this._texts.join('') };
        this._drawings[this._drawings.length - 1] = { ...last, event: { ...event, message } };
      }
    }
  }

  private _drawings: Drawing[] = [];
  private _texts: string[] = [];
  private readonly _draw: (drawings: readonly Drawing[]) => void;
}

function textOf(event: DrawingEvent): string {
  return event.kind === 'cell_output' && event.message.kind === 'stream' ? event.message.text : '';
}

function isSameStream(one: DrawingEvent, other: DrawingEvent): boolean {
  return (
    one.kind === 'cell_output' &&
    other.kind === 'cell_output' &&
    one.message.kind === 'stream' &&
    other.message.kind === 'stream' &&
    one.cell_id === other.cell_id &&
    one.message.name === other.message.name
  );
}

/** Where an output with a display id stands. */
interface DisplayPlace {
  readonly cellId: string;
  readonly index: number;
}

/** Which outputs a later message with the same display id changes. */
class DisplayIds {
  places(id: string): readonly DisplayPlace[] {
    return this._places.get(id) ?? [];
  }

  note(id: string, place: DisplayPlace): void {
    this._places.set(id, [...this.places(id), place]);
  }

  /** The cell's outputs are gone. */
  forget(cellId: string): void {
    for (const [id, places] of this._places) {
      const left = places.filter(place => place.cellId !== cellId);
      if (left.length === 0) {
        this._places.delete(id);
      } else {
        this._places.set(id, left);
      }
    }
  }

  private readonly _places = new Map<string, DisplayPlace[]>();
}

/** An output of a record as the file format has it. */
export function toNbformat(output: StreamOutput | LastingOutput): IOutput {
  return output.kind === 'stream'
    ? { output_type: 'stream', name: output.name, text: output.text }
    : toOutput(output);
}

/** What is an output of its own; the other messages change outputs or are joined to one. */
type LastingOutput = DisplayData | ExecuteResult | ErrorOutput;

/** An output as the file format has it. */
function toOutput(message: LastingOutput): IOutput {
  switch (message.kind) {
    case 'error': {
      const { ename, evalue, traceback } = message;
      return { output_type: 'error', ename, evalue, traceback: [...traceback] };
    }
    case 'display_data':
      return { output_type: 'display_data', ...bundle(message) };
    case 'execute_result': {
      const count = message.execution_count;
      return { output_type: 'execute_result', execution_count: count, ...bundle(message) };
    }
  }
}

/** The id under which later messages change it; empty: none. */
function displayId(message: LastingOutput): string {
  return 'display_id' in message ? message.display_id : '';
}

function bundle({ data, metadata }: DisplayData | ExecuteResult): Pick<IOutput, string> {
  return { data, metadata };
}

/** A line that is being written, and how many of its characters stand before the cursor. */
interface Line {
  readonly text: string;
  readonly cursor: number;
}

const CONTROL = /[\b\r]/;

/**
 * Adds text of a stream to a cell's outputs, where JupyterLab would put it.
 *
 * `OutputAreaModel.add` copies all of a stream's text for each backspace, carriage return and line
 * feed in what is added: a megabyte of them holds the page up for minutes. Here such text is folded
 * first, in linear time, so that the model is handed plain text.
 */
export class StreamWriter {
  add(outputs: IOutputAreaModel, message: StreamOutput): void {
    const { name, text } = message;
    const last = outputs.length > 0 ? outputs.get(outputs.length - 1) : null;
    const isSame = last?.type === 'stream' && last.toJSON().name === name;
    if (isSame && last.streamText !== undefined) {
      this._continue(last, text);
      return;
    }
    const line = writeText({ text: '', cursor: 0 }, text);
    outputs.add({ output_type: 'stream', name, text: line.text });
    this._cursors.set(outputs.get(outputs.length - 1), line.cursor);
  }

  private _continue(output: IOutputModel, text: string): void {
    const { streamText } = output;
    if (streamText === undefined) {
      return;
    }
    const old = streamText.text;
    // JupyterLab, too, goes on at the end of an output that a move or an undo made anew.
    const cursor = Math.min(this._cursors.get(output) ?? old.length, old.length);
    if (cursor === old.length && !CONTROL.test(text)) {
      streamText.insert(cursor, text);
      this._cursors.set(output, cursor + text.length);
      return;
    }
    const start = old.lastIndexOf('\n') + 1;
    const line = old.slice(start);
    const written = writeText({ text: line, cursor: Math.max(0, cursor - start) }, text);
    const same = sameLength(line, written.text);
    if (same < line.length) {
      // The notebook's file takes a removal for one up to the end.
      streamText.remove(start + same, old.length);
    }
    if (same < written.text.length) {
      streamText.insert(start + same, copyOf(written.text.slice(same)));
    }
    this._cursors.set(output, start + written.cursor);
  }

  private readonly _cursors = new WeakMap<IOutputModel, number>();
}

/**
 * What is there after text was written at the cursor of a line, by JupyterLab's rules.
 *
 * Characters replace those behind the cursor. A backspace deletes the character before the cursor
 * and the one behind it. A line feed ends the whole line, wherever the cursor stands in it.
 */
function writeText(line: Line, text: string): Line {
  const finished: string[] = [];
  let before = line.text.slice(0, line.cursor).split('');
  /** The nearest one last. */
  let behind = line.text.slice(line.cursor).split('').reverse();
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    switch (character) {
      case '\n':
        finished.push(joined(before, behind), '\n');
        before = [];
        behind = [];
        break;
      case '\r':
        while (before.length > 0) {
          behind.push(before.pop() ?? '');
        }
        break;
      case '\b':
        if (before.pop() !== undefined) {
          behind.pop();
        }
        break;
      default:
        before.push(character);
        behind.pop();
    }
  }
  const ended = finished.join('');
  return { text: ended + joined(before, behind), cursor: ended.length + before.length };
}

function joined(before: readonly string[], behind: readonly string[]): string {
  return before.join('') + [...behind].reverse().join('');
}

function sameLength(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  let same = 0;
  while (same < length && one[same] === other[same]) {
    same++;
  }
  return same;
}

/** The text in memory of its own: engines let a piece of a string keep all of the string alive. */
function copyOf(piece: string): string {
  return JSON.parse(JSON.stringify(piece)) as string;
}

interface DrawingParts {
  readonly lookup: CellLookup;
  readonly own: OwnChanges;
  /** Whether the person wants times in the cells' metadata. */
  readonly recordsTiming: () => boolean;
  /** Show outputs that are folded away, as running the cell by hand does. */
  readonly unfold: (cellId: string) => void;
}

interface Drawn {
  readonly run: string;
  isRunning: boolean;
  /** Clear when the next output comes. */
  clearsNext: boolean;
}

/**
 * Draws what cells show from events.
 *
 * It writes to the models of the outputs and not to their views: a view may not be there yet, and
 * moving, undoing and redoing make new ones.
 */
export class OutputDrawing {
  constructor(parts: DrawingParts) {
    this._parts = parts;
    this._queue = new DrawingQueue(drawings => {
      this._parts.own.run(() => {
        this._drawAll(drawings);
      });
    });
  }

  add(drawing: Drawing): void {
    this._queue.add(drawing);
  }

  /** Draw now what waits for the end of its batch. */
  flush(): void {
    this._queue.flush();
  }

  /** The person runs the cell: what it shows is theirs from now on. */
  release(cellId: string): void {
    this.flush();
    this._drawn.delete(cellId);
    this._displays.forget(cellId);
  }

  /** Nothing more comes of a run: cells whose end it did not tell run no longer. */
  end(run: string): void {
    this.flush();
    this._parts.own.run(() => {
      for (const [id, drawn] of this._drawn) {
        const model = drawn.run === run && drawn.isRunning ? this._parts.lookup.code(id) : null;
        if (model !== null) {
          drawn.isRunning = false;
          model.executionState = 'idle';
        }
      }
    });
  }

  /** Mark the running cells again that were moved or brought back. */
  restoreMarks(): void {
    this._parts.own.run(() => {
      for (const [id, { isRunning }] of this._drawn) {
        const model = isRunning ? this._parts.lookup.code(id) : null;
        if (model !== null && model.executionState !== 'running') {
          model.executionState = 'running';
        }
      }
    });
  }

  /** Change outputs that carry a display id, whoever asked for it. */
  update(message: Pick<DisplayUpdate, 'display_id' | 'data' | 'metadata'>): void {
    const { data, metadata } = message;
    for (const { cellId, index } of this._displays.places(message.display_id)) {
      const outputs = this._parts.lookup.code(cellId)?.outputs;
      const old = outputs !== undefined && index < outputs.length ? outputs.get(index) : null;
      if (old !== null && 'data' in old.toJSON()) {
        outputs?.set(index, { ...old.toJSON(), data, metadata });
      }
    }
  }

  private _drawAll(drawings: readonly Drawing[]): void {
    for (const [index, drawing] of drawings.entries()) {
      const { event, time } = drawing;
      const model = this._parts.lookup.code(event.cell_id);
      if (model === null) {
        continue;
      }
      switch (event.kind) {
        case 'cell_started':
          if (!isOutdated(model, drawings.slice(index))) {
            this._start(model, drawing);
          }
          break;
        case 'cell_output':
          this._show(model, event.cell_id, event.message);
          break;
        case 'cell_finished':
          this._finish(model, event.cell_id, { execution: event.execution, time });
      }
    }
  }

  private _start(model: ICodeCellModel, { run, event: { cell_id: id } }: Drawing): void {
    this._drawn.set(id, { run, isRunning: true, clearsNext: false });
    this._displays.forget(id);
    const clear = (): void => {
      model.clearExecution();
    };
    model.sharedModel.transact(clear, false, 'silent-change');
    this._parts.unfold(id);
    model.executionState = 'running';
    // The person allowed this code to run, as by running it themselves.
    model.trusted = true;
  }

  private _show(model: ICodeCellModel, id: string, message: OutputMessage): void {
    const drawn = this._drawn.get(id);
    if (drawn === undefined) {
      return;
    }
    switch (message.kind) {
      case 'clear_output':
        this._clear(model, id, message);
        break;
      case 'update_display_data':
        this.update(message);
        break;
      case 'stream':
      case 'display_data':
      case 'execute_result':
      case 'error':
        if (drawn.clearsNext) {
          this._clear(model, id, { kind: 'clear_output', wait: false });
        }
        if (message.kind === 'stream') {
          this._streams.add(model.outputs, message);
        } else {
          this._add(model, id, message);
        }
    }
  }

  private _clear(model: ICodeCellModel, id: string, { wait }: ClearOutput): void {
    const drawn = this._drawn.get(id);
    if (drawn !== undefined) {
      drawn.clearsNext = wait;
    }
    if (!wait) {
      model.outputs.clear();
      this._displays.forget(id);
    }
  }

  private _add(model: ICodeCellModel, id: string, message: LastingOutput): void {
    const display = displayId(message);
    if (display !== '' && 'data' in message) {
      // A second display with the same id changes the first ones, too.
      this.update(message);
    }
    const index = model.outputs.add(toOutput(message)) - 1;
    if (display !== '') {
      this._displays.note(display, { cellId: id, index });
    }
  }

  private _finish(
    model: ICodeCellModel,
    id: string,
    ended: { readonly execution: Execution; readonly time: number }
  ): void {
    const drawn = this._drawn.get(id);
    if (drawn === undefined) {
      return;
    }
    drawn.isRunning = false;
    model.executionCount = ended.execution.execution_count;
    model.executionState = 'idle';
    if (this._parts.recordsTiming()) {
      model.setMetadata('execution', timing(ended.execution, ended.time));
    }
  }

  private readonly _drawn = new Map<string, Drawn>();
  private readonly _displays = new DisplayIds();
  private readonly _streams = new StreamWriter();
  private readonly _queue: DrawingQueue;
  private readonly _parts: DrawingParts;
}

/** A returning page sees a run's past: whether the person has run this cell again since. */
function isOutdated(model: ICodeCellModel, rest: readonly Drawing[]): boolean {
  const [start] = rest;
  if (!start?.isReplay || model.executionCount === null) {
    return false;
  }
  for (const { event } of rest) {
    if (event.kind === 'cell_finished' && event.cell_id === start.event.cell_id) {
      return model.executionCount > (event.execution.execution_count ?? Infinity);
    }
  }
  return false;
}

/** When a cell ran, in the words JupyterLab uses. */
function timing(execution: Execution, time: number): JsonObject {
  const ended = new Date(time * 1000).toISOString();
  const started = new Date((time - execution.duration_seconds) * 1000).toISOString();
  return {
    'iopub.status.busy': started,
    'iopub.execute_input': started,
    'shell.execute_reply.started': started,
    'shell.execute_reply': ended,
    'iopub.status.idle': ended
  };
}
