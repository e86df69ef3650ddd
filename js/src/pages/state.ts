import type { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';

/** Frozen state that is replaced as a whole, and a signal that tells of it. */
export abstract class StateModel<S extends object> implements IDisposable {
  constructor(state: S) {
    this._state = state;
  }

  get state(): S {
    return this._state;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    Signal.clearData(this);
  }

  /** Replace parts of the state; nothing happens any more once this is disposed of. */
  protected set(change: Partial<S>): void {
    if (!this._isDisposed) {
      this._state = { ...this._state, ...change };
      this._changed.emit();
    }
  }

  private _state: S;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, void>(this);
}

const SLOWEST_MILLISECONDS = 30_000;

/** A page that looks for news while somebody sees it. */
export abstract class WatchedPage<S extends object> extends StateModel<S> {
  /**
   * @param state - What it begins with.
   * @param name - What its looking is called in logs.
   * @param intervalMilliseconds - How long it waits between two looks.
   */
  constructor(state: S, name: string, intervalMilliseconds: number) {
    super(state);
    this._poll = new Poll({
      name,
      auto: false,
      standby: () => (this._isVisible ? 'when-hidden' : true),
      frequency: { interval: intervalMilliseconds, backoff: true, max: SLOWEST_MILLISECONDS },
      factory: () => this.look()
    });
  }

  /** Look for news only while somebody sees the page. */
  setVisible(isVisible: boolean): void {
    if (this._isVisible === isVisible || this.isDisposed) {
      return;
    }
    this._isVisible = isVisible;
    void (isVisible ? this._poll.refresh() : this._poll.stop());
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      super.dispose();
    }
  }

  /** Read what may have changed of what is shown. */
  protected abstract look(): Promise<void>;

  /** Look without waiting for the next time, when somebody sees the page. */
  protected lookNow(): void {
    if (this._isVisible) {
      void this._poll.refresh();
    }
  }

  private readonly _poll: Poll;
  private _isVisible = false;
}
