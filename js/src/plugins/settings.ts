import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { IPanelSettings, PanelSettings } from '../settings';

/** The plugin whose schema the settings belong to. */
const SCHEMA = 'cellwright:plugin';

/** Reads the settings and hands them to the other plugins. */
export const settings: JupyterFrontEndPlugin<PanelSettings> = {
  id: 'cellwright:settings',
  description: 'Reads the settings of cellwright.',
  autoStart: true,
  optional: [ISettingRegistry],
  provides: IPanelSettings,
  activate: (_app: JupyterFrontEnd, registry: ISettingRegistry | null): PanelSettings => {
    const choices = new PanelSettings();
    registry
      ?.load(SCHEMA)
      .then(loaded => {
        choices.follow(loaded);
      })
      .catch((reason: unknown) => {
        console.warn(`cellwright uses its default settings: ${String(reason)}`);
      });
    return choices;
  }
};
