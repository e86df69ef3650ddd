import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';

import type { NotebookRegistry } from '../models/notebooks';
import { IPanelSettings, type PanelSettings } from '../settings';
import { INotebookRegistry } from '../tokens';

/** Puts the code of `%agent` into cells under the calling cell. */
export const painting: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:painting',
  description: 'Puts the code of %agent into cells under the calling cell.',
  autoStart: true,
  requires: [INotebookTracker, INotebookRegistry, IPanelSettings],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    notebooks: NotebookRegistry,
    settings: PanelSettings
  ): void => {
    const isWanted = (): boolean => settings.choices.paintCells;
    void app.restored.then(async () => {
      const { Announcing } = await import('../notebook/painting/announcing');
      settings.whileEnabled(() => new Announcing({ tracker, notebooks, isWanted }));
    });
  }
};
