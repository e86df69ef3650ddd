import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';

import type { NotebookRegistry } from '../chat/notebooks';
import { bundleFor } from '../locale';
import { highlightWith } from '../markdown';
import { IKeepingHost, IRunsHost, KeepingHost, pagePlugins, RunsHost } from '../pages/page_host';
import { IPanelSettings, type PanelSettings } from '../settings';
import { INotebookRegistry } from '../tokens';

/** Keeps the place of the page of runs. */
export const runsHost: JupyterFrontEndPlugin<RunsHost> = {
  id: 'cellwright:runs-host',
  description: 'Keeps the place of the page of runs.',
  autoStart: true,
  provides: IRunsHost,
  requires: [IPanelSettings],
  optional: [IRenderMimeRegistry, IEditorLanguageRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    settings: PanelSettings,
    rendermime: IRenderMimeRegistry | null,
    languages: IEditorLanguageRegistry | null,
    translator: ITranslator | null
  ): RunsHost => {
    const highlight = languages === null ? null : highlightWith(languages);
    const trans = bundleFor(translator);
    return new RunsHost({ app, settings, rendermime, highlight, translator, trans });
  }
};

/** The page of recorded runs and results of benchmarks. */
export const runs = pagePlugins({ id: 'cellwright:runs', words: 'page of runs', host: IRunsHost });

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
