import * as React from 'react';

import type { ServerConnection } from '@jupyterlab/services';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator } from '@jupyterlab/translation';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';

import '../../style/runs.css';

import { bundleFor } from '../locale';
import { RUNS_PAGE_CHINESE } from '../locale/runs_page_zh_CN';
import type { Highlight } from '../markdown';
import { outputDrawer } from './output_drawing';
import type { DrawOutputs } from './outputs_view';
import { PageView } from './page_view';
import { RunsRest } from './requests';
import { type Place, RunsPage } from './runs_page';

export interface RunsParts {
  readonly settings: ServerConnection.ISettings;
  /** Null: nothing here draws outputs. */
  readonly rendermime: IRenderMimeRegistry | null;
  readonly highlight: Highlight | null;
  readonly translator: ITranslator | null;
}

/** The page as a widget; it looks for news only while it is seen. */
export class RunsWidget extends ReactWidget {
  constructor(parts: RunsParts) {
    super();
    this.addClass('cw-panel');
    this.addClass('cw-runs');
    this._trans = bundleFor(parts.translator, { zh_CN: RUNS_PAGE_CHINESE });
    this._highlight = parts.highlight;
    this._draw = parts.rendermime === null ? null : outputDrawer(parts.rendermime);
    this._page = new RunsPage(new RunsRest(parts.settings));
  }

  override dispose(): void {
    this._page.dispose();
    super.dispose();
  }

  /** Lead the person to a place. */
  go(place: Place): void {
    this._page.go(place);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._page.setVisible(true);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._page.setVisible(this.isVisible);
  }

  protected override onBeforeHide(message: Message): void {
    this._page.setVisible(false);
    super.onBeforeHide(message);
  }

  protected override onBeforeDetach(message: Message): void {
    this._page.setVisible(false);
    super.onBeforeDetach(message);
  }

  protected override render(): React.ReactElement {
    return (
      <PageView
        page={this._page}
        trans={this._trans}
        highlight={this._highlight}
        draw={this._draw}
      />
    );
  }

  private readonly _page: RunsPage;
  private readonly _trans: ReturnType<typeof bundleFor>;
  private readonly _highlight: Highlight | null;
  private readonly _draw: DrawOutputs | null;
}
