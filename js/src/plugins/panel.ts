import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { ITranslator } from '@jupyterlab/translation';
import { DisposableSet } from '@lumino/disposable';

import type { NotebookRegistry } from '../chat/notebooks';
import { PanelCommandIDs, MODES } from '../command_ids';
import { bundleFor } from '../locale';
import { highlightWith } from '../markdown';
import { IKeepingHost, type KeepingHost } from '../pages/page_host';
import { IPanelHost, PanelHost } from '../panel/panel_host';
import { IPanelSettings, type PanelSettings } from '../settings';
import { INotebookRegistry, IPanel, type PanelOpener } from '../tokens';

/** Keeps the place of the panel. */
export const panelHost: JupyterFrontEndPlugin<PanelHost> = {
  id: 'cellwright:panel-host',
  description: 'Keeps the place of the panel.',
  autoStart: true,
  provides: IPanelHost,
  requires: [IPanelSettings],
  optional: [INotebookRegistry, ITranslator, IKeepingHost],
  activate: (
    app: JupyterFrontEnd,
    settings: PanelSettings,
    notebooks: NotebookRegistry | null,
    translator: ITranslator | null,
    keeping: KeepingHost | null
  ): PanelHost => {
    const trans = bundleFor(translator);
    const assistantChanged = keeping?.assistantChanged ?? null;
    return new PanelHost({ app, settings, notebooks, trans, assistantChanged });
  }
};

/** The side panel with the conversation. */
export const panel: JupyterFrontEndPlugin<PanelOpener> = {
  id: 'cellwright:panel',
  description: 'The side panel with the conversation.',
  autoStart: true,
  provides: IPanel,
  requires: [IPanelHost],
  optional: [ILayoutRestorer, IEditorLanguageRegistry],
  activate: (
    _app: JupyterFrontEnd,
    host: PanelHost,
    restorer: ILayoutRestorer | null,
    languages: IEditorLanguageRegistry | null
  ): PanelOpener => {
    host.highlight = languages === null ? null : highlightWith(languages);
    host.parts.settings.whileEnabled(() => host.begin(restorer));
    return host;
  }
};

/** Lists the panel's commands in the palette. */
export const panelPalette: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:panel-palette',
  description: 'Lists the commands of the panel in the palette.',
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
      const { setMode, ...others } = PanelCommandIDs;
      return DisposableSet.from([
        ...Object.values(others).map(command => palette.addItem({ command, category })),
        ...MODES.map(mode => palette.addItem({ command: setMode, category, args: { mode } }))
      ]);
    });
  }
};
