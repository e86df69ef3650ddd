import { Token } from '@lumino/coreutils';

import type { NotebookRegistry } from './chat/notebooks';
import type { Draft } from './chat/types';

export const INotebookRegistry = new Token<NotebookRegistry>(
  'cellwright:INotebookRegistry',
  'The notebooks that are open in this tab.'
);

/** Opens the panel, for those who have something to say in it. */
export interface PanelOpener {
  /** Show the panel with this in the composer, and send it if asked to. */
  open(draft: Partial<Draft>, send?: boolean): void;
}

export const IPanel = new Token<PanelOpener>(
  'cellwright:IPanel',
  'Opens the panel of cellwright with something in its composer.'
);
