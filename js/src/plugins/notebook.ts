import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator } from '@jupyterlab/translation';
import { DisposableDelegate, DisposableSet } from '@lumino/disposable';

import type { NotebookRegistry } from '../chat/notebooks';
import { bundleFor } from '../locale';
import { addCellCommands, CellCommandIDs } from '../notebook/actions';
import { OpenNotebooks } from '../notebook/registry';
import { IPanelSettings, type PanelSettings } from '../settings';
import { INotebookRegistry, IPanel, type PanelOpener } from '../tokens';

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

/** Lets the panel work in the notebooks that are open. */
export const notebook: JupyterFrontEndPlugin<NotebookRegistry> = {
  id: 'cellwright:notebook',
  description: 'Lets the panel work in the notebooks that are open.',
  autoStart: true,
  requires: [INotebookTracker, IPanelSettings],
  optional: [ITranslator],
  provides: INotebookRegistry,
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    settings: PanelSettings,
    translator: ITranslator | null
  ): NotebookRegistry =>
    new OpenNotebooks(tracker, {
      trans: bundleFor(translator),
      follows: () => settings.choices.followCells,
      activate: panel => {
        app.shell.activateById(panel.id);
      }
    })
};

/** Marks the agent's cells and offers help on cells. */
export const cells: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:cells',
  description: 'Marks the cells of the agent and offers help on cells.',
  autoStart: true,
  requires: [INotebookTracker, IPanelSettings, IPanel],
  optional: [ITranslator],
  activate: (
    app: JupyterFrontEnd,
    tracker: INotebookTracker,
    settings: PanelSettings,
    panel: PanelOpener,
    translator: ITranslator | null
  ): void => {
    const trans = bundleFor(translator);
    const parts = { tracker, panel, trans, settings };
    settings.whileEnabled(() => {
      const shown = DisposableSet.from([addCellCommands(app.commands, parts)]);
      void app.restored.then(async () => {
        const { CellMarks } = await import('../notebook/cell_marks');
        if (!shown.isDisposed) {
          shown.add(new CellMarks(parts));
        }
      });
      return shown;
    });
  }
};

/** Lists the commands about cells in the palette. */
export const cellPalette: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:cell-palette',
  description: 'Lists what the agent can do with a cell in the palette.',
  autoStart: true,
  requires: [ICommandPalette, IPanelSettings],
  optional: [ITranslator],
  activate: (
    _app: JupyterFrontEnd,
    palette: ICommandPalette,
    settings: PanelSettings,
    translator: ITranslator | null
  ): void => {
    const category = bundleFor(translator).__('cellwright');
    settings.whileEnabled(() => {
      const items = Object.values(CellCommandIDs).map(command =>
        palette.addItem({ command, category })
      );
      return new DisposableDelegate(() => {
        for (const item of items) {
          item.dispose();
        }
      });
    });
  }
};
