import type { ICodeCellModel } from '@jupyterlab/cells';

import type { ClearOutput, DisplayUpdate, Execution, JsonObject, OutputMessage } from '../events';
import type { CellLookup } from './cell_lookup';
import { DisplayIds } from './display_ids';
import { type Drawing, DrawingQueue } from './drawing_queue';
import { displayId, type LastingOutput, toOutput } from './output_json';
import type { OwnChanges } from './own_changes';
import { StreamWriter } from './stream_text';

export interface DrawingParts {
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
