import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator } from '@jupyterlab/translation';

import { IKeepingHost, KeepingHost } from '../keeping_host';
import { bundleFor } from '../locale';
import type { NotebookRegistry } from '../models/notebooks';
import { pagePlugins } from '../page_plugins';
import { IPanelSettings, type PanelSettings } from '../settings';
import { INotebookRegistry } from '../tokens';

/** Keeps the place of the page of memory, library, usage and tools. */
export const keepingHost: JupyterFrontEndPlugin<KeepingHost> = {
  id: 'cellwright:keeping-host',
  description: 'Keeps the place of the page of memory, library, usage and tools.',
  autoStart: true,
  provides: IKeepingHost,
  requires: [IPanelSettings],
  optional: [INotebookRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    settings: PanelSettings,
    notebooks: NotebookRegistry | null,
    translator: ITranslator | null
  ): KeepingHost => {
    const trans = bundleFor(translator);
    return new KeepingHost({ app, settings, notebooks, translator, trans });
  }
};

/** The page of memory, library, usage and tools. */
export const keeping = pagePlugins({
  id: 'cellwright:keeping',
  words: 'page of memory, library, usage and tools',
  host: IKeepingHost
});
