import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, ICommandPalette, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import type { ServerConnection } from '@jupyterlab/services';
import { ITranslator, type TranslationBundle } from '@jupyterlab/translation';
import { DisposableSet } from '@lumino/disposable';

import { bundleFor } from '../locale';
import { IPanelSettings, type PanelSettings } from '../settings';

/** The commands of this plugin. */
export namespace AboutCommandIDs {
  export const about = 'cellwright:about';
}

/** Says which version of cellwright the server runs. */
export const about: JupyterFrontEndPlugin<void> = {
  id: 'cellwright:plugin',
  description: 'Says which version of cellwright the server runs.',
  autoStart: true,
  requires: [IPanelSettings],
  optional: [ICommandPalette, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    settings: PanelSettings,
    palette: ICommandPalette | null,
    translator: ITranslator | null
  ): void => {
    const trans = bundleFor(translator);
    settings.whileEnabled(() => {
      const shown = new DisposableSet();
      shown.add(
        app.commands.addCommand(AboutCommandIDs.about, {
          label: trans.__('About cellwright'),
          caption: trans.__('Show the version of cellwright that the server runs'),
          describedBy: { args: { type: 'object', properties: {} } },
          execute: () => showVersion(app.serviceManager.serverSettings, trans)
        })
      );
      if (palette !== null) {
        shown.add(palette.addItem({ command: AboutCommandIDs.about, category: trans.__('Help') }));
      }
      return shown;
    });
  }
};

async function showVersion(
  settings: ServerConnection.ISettings,
  trans: TranslationBundle
): Promise<void> {
  let version: string;
  try {
    const { fetchHealth } = await import('../client/health');
    ({ version } = await fetchHealth(settings));
  } catch (error) {
    await showErrorMessage(trans.__('The cellwright server extension does not answer'), {
      message: trans.__(
        'Run "jupyter server extension list" to see whether it is enabled. (%1)',
        String(error)
      )
    });
    return;
  }
  await showDialog({
    title: trans.__('About cellwright'),
    body: trans.__('cellwright %1', version),
    buttons: [Dialog.okButton({ label: trans.__('Close') })]
  });
}
