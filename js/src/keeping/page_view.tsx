import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { Tabs } from '../pages/tabs';
import { TranslationProvider, useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { AssistantsView } from './assistants/assistants_view';
import { type KeepingPage, PARTS } from './keeping_page';
import { LibraryView } from './library_view';
import { MemoryView } from './memory_view';
import { type Opener, OpenerProvider } from '../views/opening';
import { ToolsView } from './tools_view';
import { UsageView } from './usage_view';
import { partWords } from './words';

export interface KeepingPageViewProps {
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
