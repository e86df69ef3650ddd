import { about } from './about';
import { keeping, keepingHost } from './plugins/keeping';
import { cellPalette, cells, notebook } from './plugins/notebook';
import { painting } from './plugins/painting';
import { panel, panelHost, panelPalette } from './plugins/panel';
import { runs, runsHost } from './plugins/runs';
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
