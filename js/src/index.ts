import { about } from './plugins/about';
import { cellPalette, cells, notebook, painting } from './plugins/notebook';
import { keeping, keepingHost, runs, runsHost } from './plugins/pages';
import { panel, panelHost, panelPalette } from './plugins/panel';
import { settings } from './plugins/settings';

export default [
  about,
  settings,
  notebook,
  panelHost,
  panel,
  panelPalette,
  cells,
  cellPalette,
  painting,
  runsHost,
  ...runs,
  keepingHost,
  ...keeping
];
