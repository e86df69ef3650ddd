import { Signal, type ISignal } from '@lumino/signaling';

/** What a command wants of the panel. */
export type PanelRequest = 'compose' | 'sessions' | 'service' | 'approval';

/** Hands commands to the panel, also to one that is not drawn yet. */
export class PanelRequests {
  get asked(): ISignal<this, void> {
    return this._asked;
  }

  ask(request: PanelRequest): void {
    this._waiting = request;
    this._asked.emit();
  }

  /** What was asked last and not done yet; asked for once. */
  take(): PanelRequest | null {
    const request = this._waiting;
    this._waiting = null;
    return request;
  }

  private readonly _asked = new Signal<this, void>(this);
  private _waiting: PanelRequest | null = null;
}
