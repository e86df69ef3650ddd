import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';

import { bundleFor } from '../locale';
import { highlightWith } from '../markdown';
import { pagePlugins } from '../page_plugins';
import { IRunsHost, RunsHost } from '../runs_host';
import { IPanelSettings, type PanelSettings } from '../settings';

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
