import type { ILayoutRestorer } from '@jupyterlab/application';
import { Token } from '@lumino/coreutils';
import { DisposableSet, type IDisposable } from '@lumino/disposable';

import type { Highlight } from '../markdown/highlighting';
import type { PanelOpener } from '../tokens';
import { CellwrightPanel } from './panel';
import type { PanelSession } from './panel_session';
import { type HostParts, type PanelContext, type PanelRequest, PanelRequests } from './requests';

const RANK = 900;

type Said = Parameters<PanelOpener['open']>;

/** Keeps the panel's place in the window; what fills it is loaded once the window stands. */
export class PanelHost implements PanelOpener, PanelContext {
  constructor(readonly parts: HostParts) {}

  readonly requests = new PanelRequests();

  /** Colours code; null: it stays plain. */
  highlight: Highlight | null = null;

  /** Show the panel until what is returned is disposed of. */
  begin(restorer: ILayoutRestorer | null): IDisposable {
    const { app, trans } = this.parts;
    const widget = new CellwrightPanel(trans);
    app.shell.add(widget, 'right', { rank: RANK, type: 'cellwright' });
    restorer?.add(widget, widget.id);
    const shown = DisposableSet.from([widget]);
    void app.restored.then(async () => {
      const { PanelSession } = await import('./panel_session');
      if (!shown.isDisposed) {
        const session = new PanelSession(this, widget);
        shown.add(session);
        this._serve(session);
      }
    });
    return shown;
  }

  open(...said: Said): void {
    if (this._session === null || this._session.isDisposed) {
      this._waiting = said;
    } else {
      void this._session.say(...said);
    }
  }

  /** Bring the panel to the front and do this in it. */
  show(request: PanelRequest): void {
    this.parts.app.shell.activateById('cellwright-panel');
    this.requests.ask(request);
  }

  private _serve(session: PanelSession): void {
    this._session = session;
    const waiting = this._waiting;
    this._waiting = null;
    if (waiting !== null) {
      void session.say(...waiting);
    }
  }

  private _session: PanelSession | null = null;
  private _waiting: Said | null = null;
}

export const IPanelHost = new Token<PanelHost>(
  'cellwright:IPanelHost',
  'Keeps the place of the panel of cellwright.'
);
