import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ILauncher } from '@jupyterlab/launcher';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ITranslator } from '@jupyterlab/translation';

import { bundleFor } from '../locale';
import { highlightWith } from '../markdown';
import { OPEN_RUNS } from '../runs_command_id';
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

/** The page of runs, where there is a main area to put it in. */
export const runs: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:runs',
  description: 'The page of recorded runs and results of benchmarks.',
  autoStart: true,
  requires: [IRunsHost],
  optional: [ILabShell, ILayoutRestorer],
  activate: (
    _app: JupyterFrontEnd,
    host: RunsHost,
    shell: ILabShell | null,
    restorer: ILayoutRestorer | null
  ): void => {
    if (shell === null) {
      return;
    }
    host.parts.settings.whileEnabled(() => host.begin());
    if (restorer !== null) {
      host.remember(restorer);
    }
  }
};

/** Lists the page of runs in the palette. */
export const runsPalette: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:runs-palette',
  description: 'Lists the page of runs in the palette.',
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
    settings.whileEnabled(() => palette.addItem({ command: OPEN_RUNS, category }));
  }
};

/** Puts the page of runs into the launcher, where there is one. */
export const runsLauncher: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:runs-launcher',
  description: 'Puts the page of runs into the launcher.',
  autoStart: true,
  requires: [IRunsHost],
  optional: [ILauncher],
  activate: (_app: JupyterFrontEnd, host: RunsHost, launcher: ILauncher | null): void => {
    if (launcher !== null) {
      const category = host.parts.trans.__('cellwright');
      host.parts.settings.whileEnabled(() => launcher.add({ command: OPEN_RUNS, category }));
    }
  }
};
