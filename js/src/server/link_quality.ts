/** How quick the line is, and whether something on it holds text back. */

/** What comes within this time of what came before is one burst. */
const BURST_MILLISECONDS = 150;
/** A burst of events that were made over a longer time was held back. */
const HELD_BACK_SECONDS = 2;
const GOOD_SECONDS = 1;
const STRIKES = 2;

/**
 * Finds a proxy that buffers: it lets frames through in bursts, each burst made of events that
 * the server sent seconds apart. Needs no clock that server and tab share.
 */
export class LinkQuality {
  /** Time from a `ping` to its `pong`; null: not measured. */
  get lagSeconds(): number | null {
    return this._lagSeconds;
  }

  get isBuffered(): boolean {
    return this._isBuffered;
  }

  /** A `pong` came; both times in milliseconds of one clock. */
  pong(sentAt: number, now: number): void {
    this._lagSeconds = Math.max(0, now - sentAt) / 1000;
    if (this._lagSeconds > HELD_BACK_SECONDS) {
      this._strike();
    } else if (this._lagSeconds < GOOD_SECONDS) {
      this._strikes = Math.max(0, this._strikes - 1);
      this._isBuffered = this._isBuffered && this._strikes > 0;
    }
  }

  /** Events came that were made at these times (seconds), and that were not asked for anew. */
  batch(times: readonly number[], now: number): void {
    if (now - this._burst.end > BURST_MILLISECONDS) {
      this._burst = { end: now, first: Infinity, last: -Infinity, isCounted: false };
    }
    const burst = this._burst;
    burst.end = now;
    burst.first = times.reduce((least, time) => Math.min(least, time), burst.first);
    burst.last = times.reduce((most, time) => Math.max(most, time), burst.last);
    if (!burst.isCounted && burst.last - burst.first > HELD_BACK_SECONDS) {
      burst.isCounted = true;
      this._strike();
    }
  }

  private _strike(): void {
    this._strikes += 1;
    this._isBuffered = this._isBuffered || this._strikes >= STRIKES;
  }

  private _lagSeconds: number | null = null;
  private _isBuffered = false;
  private _strikes = 0;
  private _burst = { end: -Infinity, first: Infinity, last: -Infinity, isCounted: false };
}
