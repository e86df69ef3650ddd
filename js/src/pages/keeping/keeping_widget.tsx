import * as React from 'react';

import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';

import '../../../style/keeping.css';
import '../../../style/assistants.css';
import { AssistantRest } from '../../client/assistants_rest';
import { KeepingRest } from '../../client/keeping_rest';
import { bundleFor } from '../../locale';
import { KEEPING_CHINESE } from '../../locale/keeping_zh_CN';
import { PAGES_CHINESE } from '../../locale/pages_zh_CN';
import { TranslationProvider, useSignal, useTrans } from '../../ui/hooks';
import { type AssistantChange, type Opener, OpenerProvider } from '../../ui/opening';
import { Tabs } from '../controls';
import { PageWidget } from '../page_widget';
import { DraftStore } from './assistant_list';
import { AssistantsView } from './assistants_view';
import { KeepingPage, type KeepingPart, PARTS, partWords } from './keeping_page';
import { LibraryView } from './library_view';
import { MemoryView } from './memory_view';
import { ToolsView } from './tools_view';
import { UsageView } from './usage_view';

interface KeepingPageViewProps {
  readonly page: KeepingPage;
  readonly trans: TranslationBundle;
  readonly opener: Opener;
}

/** The whole page. */
export function KeepingPageView({ page, trans, opener }: KeepingPageViewProps) {
  return (
    <TranslationProvider value={trans}>
      <OpenerProvider value={opener}>
        <KeepingBody page={page} />
      </OpenerProvider>
    </TranslationProvider>
  );
}

function KeepingBody({ page }: { readonly page: KeepingPage }) {
  const trans = useTrans();
  const { part } = useSignal(page.changed, () => page.state);
  const id = React.useId();
  return (
    <div className="cw-page-body">
      <div className="cw-header">
        <h2>{trans.__('Memory, Library and Usage')}</h2>
        <Tabs
          label={trans.__('Parts of the page')}
          tabs={PARTS.map(key => ({ key, label: partWords(key, trans) }))}
          chosen={part}
          panel={id}
          onChoose={key => {
            page.show(key);
          }}
        />
      </div>
      <div id={id} role="tabpanel" className="cw-page-main" aria-label={partWords(part, trans)}>
        <ShownPart page={page} />
      </div>
    </div>
  );
}

function ShownPart({ page }: { readonly page: KeepingPage }) {
  const { part } = page.state;
  switch (part) {
    case 'memory':
      return <MemoryView list={page.memory} />;
    case 'library':
      return <LibraryView list={page.library} />;
    case 'usage':
      return <UsageView list={page.usage} />;
    case 'tools':
      return <ToolsView list={page.tools} />;
    case 'assistants':
      return <AssistantsView list={page.assistants} />;
    default:
      return part satisfies never;
  }
}

interface KeepingParts {
  readonly settings: ServerConnection.ISettings;
  readonly translator: ITranslator | null;
  readonly opener: Opener;
  /** Path of the notebook that the person looks at; empty: none. */
  readonly notebook: () => string;
  /** Told of each assistant that is changed here. */
  readonly onAssistant: (change: AssistantChange) => void;
}

/** What the person is led to. */
interface Goal {
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
    const ours = { ...PAGES_CHINESE, ...KEEPING_CHINESE };
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
