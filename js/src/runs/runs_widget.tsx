import * as React from 'react';

import type { ServerConnection } from '@jupyterlab/services';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator } from '@jupyterlab/translation';

import '../../style/runs.css';

import { bundleFor } from '../locale';
import { PAGES_CHINESE } from '../locale/pages_zh_CN';
import { RUNS_PAGE_CHINESE } from '../locale/runs_page_zh_CN';
import type { Highlight } from '../markdown';
import { PageWidget } from '../pages/page_widget';
import { outputDrawer } from './output_drawing';
import type { DrawOutputs } from './outputs_view';
import { RunsPageView } from './page_view';
import { RunsRest } from './requests';
import { type RunsPlace, RunsPage } from './runs_page';

export interface RunsParts {
  readonly settings: ServerConnection.ISettings;
  /** Null: nothing here draws outputs. */
  readonly rendermime: IRenderMimeRegistry | null;
  readonly highlight: Highlight | null;
  readonly translator: ITranslator | null;
  /** Show a chat in the panel. */
  readonly openChat: (chat: string) => void;
}

/** The page of runs as a widget. */
export class RunsWidget extends PageWidget<RunsPage> {
  constructor(parts: RunsParts) {
    super(new RunsPage(new RunsRest(parts.settings)));
    this._trans = bundleFor(parts.translator, {
      zh_CN: { ...PAGES_CHINESE, ...RUNS_PAGE_CHINESE }
    });
    this._highlight = parts.highlight;
    this._openChat = parts.openChat;
    this._draw = parts.rendermime === null ? null : outputDrawer(parts.rendermime);
  }

  /** Lead the person to a place. */
  go(place: RunsPlace): void {
    this.page.go(place);
  }

  protected override render(): React.ReactElement {
    return (
      <RunsPageView
        page={this.page}
        trans={this._trans}
        highlight={this._highlight}
        draw={this._draw}
        openChat={this._openChat}
      />
    );
  }

  private readonly _trans: ReturnType<typeof bundleFor>;
  private readonly _highlight: Highlight | null;
  private readonly _draw: DrawOutputs | null;
  private readonly _openChat: (chat: string) => void;
}
