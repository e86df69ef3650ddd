import type { ServerConnection } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import { Rest } from '../server/rest';
import { ServerSocket } from '../server/socket';
import { takeTabId } from '../server/tab';
import { VERSION } from '../server/version';
import { ChatMemory } from './memory';
import type { NotebookRegistry } from './notebooks';
import { PanelModel } from './session';

export interface OpenOptions {
  readonly settings: ServerConnection.ISettings;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
  readonly trans: TranslationBundle;
}

/** The model of this page's panel, connected to the server; there is one a page. */
export function openPanel({ settings, notebooks, trans }: OpenOptions): PanelModel {
  const tab = takeTabId(window.sessionStorage, window);
  return new PanelModel({
    socket: new ServerSocket({ settings, version: VERSION, tab }),
    rest: new Rest(settings),
    memory: new ChatMemory(window.sessionStorage, window.localStorage),
    trans,
    notebooks
  });
}
