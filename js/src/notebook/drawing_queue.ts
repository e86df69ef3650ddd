import type { CellFinished, CellOutput, CellStarted } from '../events';

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
export class DrawingQueue {
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
