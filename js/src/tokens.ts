import { Token } from '@lumino/coreutils';

import type { NotebookRegistry } from './chat/notebooks';
import type { Draft } from './chat/types';

export const INotebookRegistry = new Token<NotebookRegistry>(
  'cellwright:INotebookRegistry',
  'The notebooks that are open in this tab.'
);

/** Opens the panel, for those who have something to say in it. */
export interface PanelOpener {
  /**
   * Show the panel with this in the composer, and send it if asked to.
   *
   * @param notebook Path of the notebook it is about: a chat of that one is shown first.
   */
  open(draft: Partial<Draft>, send?: boolean, notebook?: string): void;
}

export const IPanel = new Token<PanelOpener>(
  'cellwright:IPanel',
  'Opens the panel of cellwright with something in its composer.'
);
