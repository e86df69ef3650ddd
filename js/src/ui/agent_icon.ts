import { LabIcon } from '@jupyterlab/ui-components';

/** What the panel's tab, the commands and the settings show. */
export const agentIcon = new LabIcon({
  name: 'cellwright:agent',
  svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24">
<g class="jp-icon3 jp-icon-selectable" fill="#616161">
<path d="M4 4h7v2H6v12h12v-5h2v7H4z"/>
<path d="M17 1c.5 4 2 5.5 6 6-4 .5-5.5 2-6 6-.5-4-2-5.5-6-6 4-.5 5.5-2 6-6z"/>
<path d="M8.5 13h5v1.8h-5z"/></g></svg>`
});
