import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';

import { agentIcon } from '../ui/agent_icon';
import type { PanelViewProps } from './panel_view';

const LazyPanelView = React.lazy(async () => ({
  default: (await import('./panel_view')).PanelView
}));

/** The side panel: holds the views, which are loaded when it is first shown. */
export class CellwrightPanel extends ReactWidget {
  constructor(trans: TranslationBundle) {
    super();
    this._trans = trans;
    this.id = 'cellwright-panel';
    this.addClass('cw-panel');
    this.title.icon = agentIcon;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', trans.__('Agent'));
    this.setAttention(false);
  }

  /** Draw this; until then there is nothing to draw. */
  fill(content: PanelViewProps): void {
    this._content = content;
    this.update();
  }

  /** Mark the tab while a run waits for the person. */
  setAttention(needsPerson: boolean): void {
    this.title.className = needsPerson ? 'cw-attention' : '';
    this.title.caption = needsPerson
      ? this._trans.__('Agent: waits for you')
      : this._trans.__('Agent');
  }

  protected override render(): React.ReactElement {
    return (
      <React.Suspense fallback={null}>
        {this._content !== null && <LazyPanelView {...this._content} />}
      </React.Suspense>
    );
  }

  private readonly _trans: TranslationBundle;
  private _content: PanelViewProps | null = null;
}
