import { type ISignal, Signal } from '@lumino/signaling';

import type { Rest, ServiceChange, ServiceState } from '../client/panel_rest';
import { MODES } from '../command_ids';
import type { Mode } from '../wire/generated';

/** The wanted mode, or the next stricter one that is allowed, or else the strictest there is. */
export function allowedMode(wanted: Mode, allowed: readonly Mode[]): Mode {
  const stricter = MODES.slice(0, MODES.indexOf(wanted) + 1);
  const best = stricter.filter(mode => allowed.includes(mode)).at(-1);
  return best ?? MODES.find(mode => allowed.includes(mode)) ?? 'plan';
}

/** What is allowed as long as the server has not said more. */
const CAUTIOUS_MODES: readonly Mode[] = ['plan', 'ask'];
/** While nothing can be recorded, the server is asked this often whether it can again. */
const ASK_AGAIN_MILLISECONDS = 5000;

/** The model service: what is set, and what an administrator allows. */
export class ServiceModel {
  constructor(rest: Pick<Rest, 'service' | 'changeService'>) {
    this._rest = rest;
  }

  /** Null: not known yet, or cellwright is switched off on the server. */
  get state(): ServiceState | null {
    return this._state;
  }

  get changed(): ISignal<this, ServiceState | null> {
    return this._changed;
  }

  /** The modes that may be chosen. */
  get modes(): readonly Mode[] {
    return this._state?.modes ?? CAUTIOUS_MODES;
  }

  async refresh(): Promise<void> {
    this._set(await this._rest.service());
  }

  async change(change: ServiceChange): Promise<void> {
    this._set(await this._rest.changeService(change));
  }

  /** The mode of the settings, for chats in which none was chosen; null: the server's. */
  setPreferredMode(mode: Mode | null): void {
    this._preferredMode = mode;
    this._changed.emit(this._state);
  }

  /** What a chat's mode is, given what was chosen for it. */
  modeFor(chosen: Mode | null): Mode {
    const wanted = chosen ?? this._preferredMode ?? this._state?.mode ?? 'ask';
    return allowedMode(wanted, this.modes);
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._timer);
    Signal.clearData(this);
  }

  private _set(state: ServiceState): void {
    if (this._isDisposed) {
      return;
    }
    clearTimeout(this._timer);
    if (!state.recording) {
      this._askAgain();
    }
    this._state = state;
    this._changed.emit(state);
  }

  /** The record is written once its lock goes, and no event of a run tells of that. */
  private _askAgain(): void {
    this._timer = setTimeout(() => {
      this.refresh().catch(() => {
        if (!this._isDisposed) {
          this._askAgain();
        }
      });
    }, ASK_AGAIN_MILLISECONDS);
  }

  private readonly _rest: Pick<Rest, 'service' | 'changeService'>;
  private readonly _changed = new Signal<this, ServiceState | null>(this);
  private _state: ServiceState | null = null;
  private _preferredMode: Mode | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isDisposed = false;
}
