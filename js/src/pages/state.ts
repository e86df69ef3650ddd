import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { RequestError } from '../server/request';

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

/** Why something could not be read, in words for the person. */
export function complaintOf(error: unknown): string {
  if (error instanceof RequestError) {
    return [error.message, error.hint].filter(text => text !== '').join(' ');
  }
  return String(error);
}
