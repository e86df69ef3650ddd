import * as React from 'react';

import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ServerConnection } from '@jupyterlab/services';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';

import '../../../style/runs.css';
import { RunsRest } from '../../client/runs_rest';
import { bundleFor } from '../../locale';
import { PAGES_CHINESE } from '../../locale/pages_zh_CN';
import { RUNS_PAGE_CHINESE } from '../../locale/runs_page_zh_CN';
import { type Highlight, HighlightContext } from '../../markdown';
import { Button, IconButton } from '../../ui/button';
import { TranslationProvider, useSignal, useTrans } from '../../ui/hooks';
import { Tabs } from '../controls';
import { PageWidget } from '../page_widget';
import { CompareView, PairView } from './compare_view';
import { type DrawOutputs, outputDrawer } from './output_drawer';
import { PlotView } from './plot_view';
import { RecordedView } from './recorded_view';
import { ResultView } from './result_view';
import { ResultsView } from './results_view';
import { RunsPage, type RunsPlace, type SampleModel } from './runs_page';
import { OutputsProvider, SampleView } from './sample_view';

interface RunsPageViewProps {
  readonly page: RunsPage;
  readonly trans: TranslationBundle;
  readonly highlight: Highlight | null;
  /** Null: outputs are shown as plain text. */
  readonly draw: DrawOutputs | null;
  /** Show a chat in the panel. */
  readonly openChat: (chat: string) => void;
}

/** The whole page. */
export function RunsPageView({ page, trans, highlight, draw, openChat }: RunsPageViewProps) {
  return (
    <TranslationProvider value={trans}>
      <HighlightContext.Provider value={highlight}>
        <OutputsProvider value={draw}>
          <RunsBody page={page} openChat={openChat} />
        </OutputsProvider>
      </HighlightContext.Provider>
    </TranslationProvider>
  );
}

function RunsBody({ page, openChat }: Pick<RunsPageViewProps, 'page' | 'openChat'>) {
  const trans = useTrans();
  const { trail } = useSignal(page.changed, () => page.state);
  const id = React.useId();
  const tab = trail[0]?.kind ?? 'results';
  const isDeep = trail.length > 1;
  return (
    <div
      className="cw-page-body"
      onKeyDown={event => {
        if (event.key === 'Escape' && isDeep && !(event.target instanceof HTMLInputElement)) {
          page.back();
        }
      }}
    >
      <div className="cw-header">
        <h2>{trans.__('Runs')}</h2>
        <Tabs
          label={trans.__('Parts of the page')}
          tabs={[
            { key: 'results', label: trans.__('Benchmarks') },
            { key: 'plot', label: trans.__('Cost and accuracy') },
            { key: 'runs', label: trans.__('Recorded runs') }
          ]}
          chosen={tab === 'plot' || tab === 'runs' ? tab : 'results'}
          panel={id}
          onChoose={kind => {
            page.go({ kind });
          }}
        />
      </div>
      <div id={id} role="tabpanel" className="cw-page-main" aria-label={titleOf(page.place, trans)}>
        {isDeep && <Trail page={page} openChat={openChat} />}
        <ShownPlace page={page} />
      </div>
    </div>
  );
}

/** Where in the page this is, and the way back. */
function Trail({ page, openChat }: Pick<RunsPageViewProps, 'page' | 'openChat'>) {
  const trans = useTrans();
  const heading = React.useRef<HTMLHeadingElement>(null);
  const { place } = page;
  const { detail } = page.state;
  // Whoever came here with the keyboard goes on from here.
  React.useEffect(() => {
    heading.current?.focus();
  }, [place]);
  return (
    <div className="cw-trail">
      <IconButton
        icon="undo"
        label={trans.__('Back (Esc)')}
        onClick={() => {
          page.back();
        }}
      />
      <h3 ref={heading} tabIndex={-1}>
        {titleOf(place, trans)}
      </h3>
      <span className="cw-muted">{originOf(place)}</span>
      {detail.kind === 'sample' && <ChatLink model={detail.sample} openChat={openChat} />}
    </div>
  );
}

interface ChatLinkProps extends Pick<RunsPageViewProps, 'openChat'> {
  readonly model: SampleModel;
}

/** Leads to the chat that a run belongs to, where there is one. */
function ChatLink({ model, openChat }: ChatLinkProps) {
  const trans = useTrans();
  const chat = useSignal(model.changed, () => model.state.sample?.chat ?? '');
  return chat === '' ? null : (
    <Button
      icon="bubble"
      onClick={() => {
        openChat(chat);
      }}
    >
      {trans.__('Show chat')}
    </Button>
  );
}

function ShownPlace({ page }: { readonly page: RunsPage }) {
  const { place } = page;
  const { detail } = page.state;
  switch (detail.kind) {
    case 'none':
      return place.kind === 'plot' ? (
        <PlotView page={page} />
      ) : place.kind === 'runs' ? (
        <RecordedView page={page} />
      ) : (
        <ResultsView page={page} />
      );
    case 'samples':
      return <ResultView key={detail.samples.result} page={page} samples={detail.samples} />;
    case 'sample':
      return <SampleView model={detail.sample} />;
    case 'comparison':
      return <CompareView page={page} model={detail.comparison} />;
    case 'pair':
      return <PairView first={detail.first} second={detail.second} />;
    default:
      return detail satisfies never;
  }
}

/** The results that something is of; empty: it is of none. */
function originOf(place: RunsPlace): string {
  if (place.kind === 'sample') {
    return place.sample.result;
  }
  return place.kind === 'pair' ? `${place.first.result} · ${place.second.result}` : '';
}

function titleOf(place: RunsPlace, trans: TranslationBundle): string {
  switch (place.kind) {
    case 'results':
      return trans.__('Benchmarks');
    case 'plot':
      return trans.__('Cost and accuracy');
    case 'runs':
      return trans.__('Recorded runs');
    case 'result':
      return place.result;
    case 'sample':
      return place.sample.id;
    case 'run':
      return trans.__('Run %1', place.run);
    case 'comparison':
      return trans.__('Comparison');
    case 'pair':
      return trans.__('Side by side: %1', place.second.id);
    default:
      return place satisfies never;
  }
}

interface RunsParts {
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
