import * as React from 'react';

import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator } from '@jupyterlab/translation';

import '../../style/keeping.css';
import '../../style/assistants.css';

import { bundleFor } from '../locale';
import { ASSISTANTS_CHINESE } from '../locale/assistants_zh_CN';
import { KEEPING_CHINESE } from '../locale/keeping_zh_CN';
import { PAGES_CHINESE } from '../locale/pages_zh_CN';
import { PageWidget } from '../pages/page_widget';
import { DraftStore } from './assistants/draft_store';
import { AssistantRest } from './assistants/requests';
import { KeepingPage, type KeepingPart } from './keeping_page';
import type { AssistantChange } from '../views/assistant_editor';
import type { Opener } from '../views/opening';
import { KeepingPageView } from './page_view';
import { KeepingRest } from './requests';

export interface KeepingParts {
  readonly settings: ServerConnection.ISettings;
  readonly translator: ITranslator | null;
  readonly opener: Opener;
  /** Path of the notebook that the person looks at; empty: none. */
  readonly notebook: () => string;
  /** Told of each assistant that is changed here. */
  readonly onAssistant: (change: AssistantChange) => void;
}

/** What the person is led to. */
export interface Goal {
  readonly part: KeepingPart;
  /** Path of the notebook whose assistants are meant; left out: of the one that is looked at. */
  readonly notebook?: string | undefined;
  /** The assistant to change; empty: a new one; left out: the list of all. */
  readonly assistant?: string | undefined;
}

/** The page of memory, library, usage and tools as a widget. */
export class KeepingWidget extends PageWidget<KeepingPage> {
  constructor({ settings, translator, opener, notebook, onAssistant }: KeepingParts) {
    const rest = new KeepingRest(settings);
    const assistants = new AssistantRest(settings);
    const drafts = new DraftStore(window.sessionStorage);
    super(new KeepingPage({ rest, assistants, notebook, drafts, onAssistant }));
    const ours = { ...PAGES_CHINESE, ...KEEPING_CHINESE, ...ASSISTANTS_CHINESE };
    this._trans = bundleFor(translator, { zh_CN: ours });
    this._opener = opener;
  }

  /** Lead the person to a part. */
  go({ part, notebook, assistant }: Goal): void {
    const { assistants } = this.page;
    if (part === 'assistants') {
      assistants.lookAt(notebook ?? null);
    }
    this.page.show(part);
    if (part === 'assistants' && assistant !== undefined) {
      void (assistant === '' ? assistants.begin() : assistants.edit(assistant));
    }
  }

  protected override render(): React.ReactElement {
    return <KeepingPageView page={this.page} trans={this._trans} opener={this._opener} />;
  }

  private readonly _trans: ReturnType<typeof bundleFor>;
  private readonly _opener: Opener;
}
