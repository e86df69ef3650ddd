import * as React from 'react';

import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator } from '@jupyterlab/translation';

import '../../style/keeping.css';

import { bundleFor } from '../locale';
import { KEEPING_CHINESE } from '../locale/keeping_zh_CN';
import { PAGES_CHINESE } from '../locale/pages_zh_CN';
import { PageWidget } from '../pages/page_widget';
import { KeepingPage, type Part } from './keeping_page';
import type { Opener } from '../views/opening';
import { PageView } from './page_view';
import { KeepingRest } from './requests';

export interface KeepingParts {
  readonly settings: ServerConnection.ISettings;
  readonly translator: ITranslator | null;
  readonly opener: Opener;
  /** Path of the notebook that the person looks at; empty: none. */
  readonly notebook: () => string;
}

/** The page of memory, library, usage and tools as a widget. */
export class KeepingWidget extends PageWidget<KeepingPage> {
  constructor({ settings, translator, opener, notebook }: KeepingParts) {
    super(new KeepingPage(new KeepingRest(settings), notebook));
    this._trans = bundleFor(translator, { zh_CN: { ...PAGES_CHINESE, ...KEEPING_CHINESE } });
    this._opener = opener;
  }

  /** Lead the person to a part. */
  go(part: Part): void {
    this.page.show(part);
  }

  protected override render(): React.ReactElement {
    return <PageView page={this.page} trans={this._trans} opener={this._opener} />;
  }

  private readonly _trans: ReturnType<typeof bundleFor>;
  private readonly _opener: Opener;
}
