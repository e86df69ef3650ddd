import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal, type ISignal } from '@lumino/signaling';

import type { NotebookRegistry } from '../chat/notebooks';
import type { Highlight } from '../markdown/highlighting';
import type { PanelSettings } from '../settings';
import type { AssistantEditor } from '../ui/opening';

/** What a command wants of the panel. */
export type PanelRequest = 'compose' | 'sessions' | 'service' | 'approval' | 'undo';

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

export interface HostParts {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
  readonly trans: TranslationBundle;
  /** Tells of assistants that are changed elsewhere; null: nobody changes them. */
  readonly assistantChanged: AssistantEditor['changed'] | null;
}

/** The panel's place in the window, as what fills it sees it. */
export interface PanelContext {
  readonly parts: HostParts;
  readonly requests: PanelRequests;
  /** Colours code; null: it stays plain. */
  readonly highlight: Highlight | null;
  /** Bring the panel to the front and do this in it. */
  show(request: PanelRequest): void;
}
