import { Token } from '@lumino/coreutils';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { Mode } from './wire/generated';

/** What a person can set; `js/schema/plugin.json` describes each. */
export interface Choices {
  /** False: nothing of ours shows or runs. */
  readonly enabled: boolean;
  readonly sendWith: 'Enter' | 'Shift Enter';
  readonly mode: Exclude<Mode, 'auto'>;
  readonly followCells: boolean;
  readonly cellButtons: boolean;
  readonly paintCells: boolean;
}

/** What holds before the settings are read, and where there are none. */
export const DEFAULTS: Choices = {
  enabled: true,
  sendWith: 'Enter',
  mode: 'ask',
  followCells: false,
  cellButtons: true,
  paintCells: true
};

/** The settings as they are now; `changed` tells of every change. */
export class PanelSettings implements IDisposable {
  private _choices: Choices = DEFAULTS;
  private _source: ISettingRegistry.ISettings | null = null;
  private _isDisposed = false;
  private readonly _changed = new Signal<this, Choices>(this);

  get choices(): Choices {
    return this._choices;
  }

  get changed(): ISignal<this, Choices> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Take the values of the settings system, now and whenever they change. */
  follow(source: ISettingRegistry.ISettings): void {
    this._source?.changed.disconnect(this._read, this);
    this._source = source;
    source.changed.connect(this._read, this);
    this._read(source);
  }

  /** Turn parts on while cellwright is enabled and off when it is not; `on` returns the off. */
  whileEnabled(on: () => IDisposable): IDisposable {
    let running: IDisposable | null = null;
    const look = (): void => {
      if (this._choices.enabled && running === null) {
        running = on();
      } else if (!this._choices.enabled) {
        running?.dispose();
        running = null;
      }
    };
    this._changed.connect(look);
    look();
    return new DisposableDelegate(() => {
      this._changed.disconnect(look);
      running?.dispose();
    });
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._source?.changed.disconnect(this._read, this);
      Signal.clearData(this);
    }
  }

  private _read(source: ISettingRegistry.ISettings): void {
    // The schema gives every value its type and default.
    this._choices = { ...DEFAULTS, ...(source.composite as Partial<Choices>) };
    this._changed.emit(this._choices);
  }
}

export const IPanelSettings = new Token<PanelSettings>(
  'cellwright:IPanelSettings',
  'What a person set about cellwright.'
);
