import type { IDisposable } from '@lumino/disposable';

/** Between two drawings while text streams: at most 20 a second. */
const INTERVAL_MILLISECONDS = 50;
/** A page in the background gets no animation frames. */
const FRAME_LIMIT_MILLISECONDS = 100;

/** Decides when to draw: at once, or with the next frame that is due while much is coming. */
export class RenderClock implements IDisposable {
  constructor(draw: () => void) {
    this._draw = draw;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._cancel();
    this._isDisposed = true;
  }

  /** Draw now; what was waiting is drawn with it. */
  now(): void {
    this._cancel();
    if (!this._isDisposed) {
      this._drawnAt = performance.now();
      this._draw();
    }
  }

  /** Draw once `interval` has passed since the last time. */
  soon(interval = INTERVAL_MILLISECONDS): void {
    if (this._timer !== null || this._isDisposed) {
      return;
    }
    const wait = this._drawnAt + interval - performance.now();
    if (wait <= 0) {
      this.now();
    } else {
      this._timer = setTimeout(() => {
        this._waitForFrame();
      }, wait);
    }
  }

  private _waitForFrame(): void {
    this._timer = setTimeout(() => {
      this.now();
    }, FRAME_LIMIT_MILLISECONDS);
    this._frame = requestAnimationFrame(() => {
      this.now();
    });
  }

  private _cancel(): void {
    if (this._timer !== null) {
      clearTimeout(this._timer);
      this._timer = null;
    }
    if (this._frame !== null) {
      cancelAnimationFrame(this._frame);
      this._frame = null;
    }
  }

  private readonly _draw: () => void;
  private _drawnAt = Number.NEGATIVE_INFINITY;
  private _timer: ReturnType<typeof setTimeout> | null = null;
  private _frame: number | null = null;
  private _isDisposed = false;
}
