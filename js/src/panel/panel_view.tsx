import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChatSettings } from '../chat/chat_settings';
import type { LinkState, NoticeBlock } from '../chat/types';
import type { Problem } from '../client/problems';
import { type Highlight, HighlightContext } from '../markdown';
import type { PanelSettings } from '../settings';
import { Button, Icon, IconButton } from '../ui/button';
import { focusApproval, focusUndo } from '../ui/focus';
import { keyOf, TranslationProvider, useDelay, useSignal, useTrans } from '../ui/hooks';
import {
  type AssistantEditor,
  AssistantEditorProvider,
  type Opener,
  OpenerProvider,
  OpenNotebookButton
} from '../ui/opening';
import { ChatView } from './chat_view';
import { Header, type PageLink } from './header';
import { InstructionsForm, useChatSettings } from './instructions_form';
import type { DocumentChoice } from './library_offers';
import { type MadeFile, OpenMadeProvider, placeOf } from './made_files';
import { ModelSettings } from './model_settings';
import { actionOf } from './notice';
import { ChatPins } from './pins';
import type { Chat, Notebooks, Panel } from './ports';
import type { PanelRequest, PanelRequests } from './requests';
import { Sessions } from './sessions';

/** Stands in place of the panel where cellwright is switched off on the server. */
function Disabled() {
  const trans = useTrans();
  return (
    <div className="cw-empty">
      <h3>{trans.__('cellwright is switched off here')}</h3>
      <p className="cw-muted">
        {trans.__('Whoever runs this server switched it off. Nothing of it shows or runs.')}
      </p>
    </div>
  );
}

/** Offers the cells that were made for the notebook while it was closed. */
function MissingBar({ panel }: { panel: Panel }) {
  const trans = useTrans();
  const missing = useSignal(panel.missingChanged, () => panel.missing);
  // A chat of a notebook that is closed says so itself; these cells are another one's.
  const isElsewhere = useSignal(panel.noticesChanged, () =>
    panel.notices.some(({ code }) => code === 'notebook_closed')
  );
  const count = missing.reduce((sum, { cells }) => sum + cells.length, 0);
  if (count === 0 || isElsewhere) {
    return null;
  }
  return (
    <section className="cw-missing" aria-label={trans.__('Cells made meanwhile')}>
      <Icon name="cell" />
      <p>
        {trans._n(
          '%1 cell was made while this notebook was closed.',
          '%1 cells were made while this notebook was closed.',
          count
        )}
      </p>
      <div className="cw-row">
        <Button
          kind="primary"
          onClick={() => {
            missing.forEach(cells => {
              panel.insertMissing(cells);
            });
          }}
        >
          {trans.__('Insert')}
        </Button>
        <Button
          onClick={() => {
            missing.forEach(cells => {
              void panel.discardMissing(cells);
            });
          }}
        >
          {trans.__('Discard')}
        </Button>
      </div>
    </section>
  );
}

/** A line that is back sooner is nothing to speak of. */
const LOST_AFTER_MILLISECONDS = 1200;

/** The notice that the chat's notebook is closed, and the server's refusal of a prompt for it. */
const CLOSED = 'notebook_closed';

interface BannersProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly settings: ChatSettings;
}

/** What holds for the panel as a whole: the line, versions, records, other tabs. */
function Banners({ panel, chat, settings }: BannersProps) {
  const notices = useSignal(panel.noticesChanged, () => panel.notices);
  const isDemo = useSignal(panel.serviceChanged, () => panel.service?.is_demo ?? false);
  const link = useSignal(panel.linkChanged, () => panel.link);
  const panelProblem = useSignal(panel.problemChanged, () => panel.problem);
  const chatProblem = useSignal(chat.changed, () => chat.problem);
  const settingsProblem = useSignal(settings.changed, () => settings.problem);
  // The card about the demo model says the same and more.
  const shown = notices.filter(
    ({ code, level }) => !(isDemo && code === 'service' && level === 'info')
  );
  return (
    <div className="cw-banners">
      <LinkBanner link={link} panel={panel} />
      {shown.map(notice => (
        <Banner key={`${notice.code}:${notice.text}`} notice={notice}>
          {notice.code === 'driven_elsewhere' && <TakeOverButton chat={chat} />}
          {notice.code === CLOSED && <OpenNotebookButton path={chat.state.notebook_path} />}
        </Banner>
      ))}
      {[
        { problem: chatProblem, source: chat },
        { problem: settingsProblem, source: settings },
        { problem: panelProblem, source: panel }
      ].map(
        ({ problem, source }, index) =>
          !(problem?.code === CLOSED && notices.some(({ code }) => code === CLOSED)) && (
            <ProblemBanner key={index} problem={problem} source={source} />
          )
      )}
    </div>
  );
}

interface ProblemBannerProps {
  readonly problem: Problem | null;
  readonly source: { clearProblem(): void };
}

/** What went wrong, until the person closes it. */
function ProblemBanner({ problem, source }: ProblemBannerProps) {
  const trans = useTrans();
  if (problem === null || problem.code === 'disabled') {
    return null;
  }
  const { code, message: text, hint: action } = problem;
  return (
    <Banner notice={{ kind: 'notice', level: 'error', code, text, action }}>
      <IconButton
        icon="close"
        label={trans.__('Close this message')}
        onClick={() => {
          source.clearProblem();
        }}
      />
    </Banner>
  );
}

/** What went wrong beside the chat, in a view that stands in its place. */
function ProblemAside({ panel }: { panel: Panel }) {
  const problem = useSignal(panel.problemChanged, () => panel.problem);
  return (
    <div className="cw-banners">
      <ProblemBanner problem={problem} source={panel} />
    </div>
  );
}

interface BannerProps {
  readonly notice: NoticeBlock;
  readonly children?: React.ReactNode;
}

function Banner({ notice, children }: BannerProps) {
  const action = actionOf(notice, useTrans());
  return (
    <div className={`cw-banner cw-mod-${notice.level}`} role="status">
      <Icon name={notice.level} />
      <div className="cw-banner-text">
        <span>{notice.text}</span>
        {action !== '' && <span className="cw-muted">{action}</span>}
      </div>
      {children}
    </div>
  );
}

function LinkBanner({ link, panel }: { link: LinkState; panel: Panel }) {
  const trans = useTrans();
  const isLost = link === 'connecting' || link === 'waiting' || link === 'closed';
  const isLasting = useDelay(String(isLost), LOST_AFTER_MILLISECONDS);
  if (!isLost || !isLasting) {
    return null;
  }
  const text =
    link === 'connecting' ? trans.__('Connecting to the server …') : trans.__('Connection lost.');
  const action = trans.__('Runs go on in the server; what you missed comes when it is back.');
  return (
    <Banner
      notice={{
        kind: 'notice',
        level: 'warning',
        code: 'link',
        text,
        action: link === 'connecting' ? '' : action
      }}
    >
      <Button
        icon="retry"
        onClick={() => {
          panel.reconnect();
        }}
      >
        {trans.__('Reconnect')}
      </Button>
    </Banner>
  );
}

function TakeOverButton({ chat }: { chat: Chat }) {
  const trans = useTrans();
  return (
    <span className="cw-row">
      <Button
        icon="stop"
        onClick={() => {
          chat.stop();
        }}
      >
        {trans.__('Stop')}
      </Button>
      <Button
        title={trans.__('Insert the cells here, once the other tab is closed')}
        onClick={() => {
          chat.drive();
        }}
      >
        {trans.__('Take over')}
      </Button>
    </span>
  );
}

export interface PanelViewProps {
  readonly panel: Panel;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: Notebooks | null;
  readonly settings: Pick<PanelSettings, 'choices' | 'changed'>;
  readonly requests: PanelRequests;
  readonly trans: TranslationBundle;
  readonly highlight: Highlight | null;
  /** Pages that the panel leads to. */
  readonly pages: readonly PageLink[];
  readonly opener: Opener;
  /** Null: there is no page for assistants in this application. */
  readonly editor: AssistantEditor | null;
}

/** The whole panel. */
export function PanelView(props: PanelViewProps) {
  return (
    <TranslationProvider value={props.trans}>
      <HighlightContext.Provider value={props.highlight}>
        <AssistantEditorProvider value={props.editor}>
          <PanelBody {...props} />
        </AssistantEditorProvider>
      </HighlightContext.Provider>
    </TranslationProvider>
  );
}

function PanelBody({ panel, notebooks, settings, requests, pages, opener }: PanelViewProps) {
  const trans = useTrans();
  const chat = useSignal(panel.chatChanged, () => panel.chat);
  const openMade = React.useCallback(
    (file: MadeFile) => opener.place(placeOf(file, chat.state.notebook_path)),
    [opener, chat]
  );
  const isOff = useSignal(panel.problemChanged, () => panel.problem?.code === 'disabled');
  const sendWith = useSignal(settings.changed, () => settings.choices.sendWith);
  const chatSettings = useChatSettings(panel, chat);
  const isInstructed = useSignal(chatSettings.changed, () => chatSettings.kept.prompt !== '');
  const [instructed, setInstructed] = React.useState<object | null>(null);
  const documentChoice = React.useRef<DocumentChoice>('');
  const [view, setView] = React.useState<'chat' | 'sessions' | 'service'>('chat');
  const field = React.useRef<HTMLTextAreaElement>(null);
  const root = React.useRef<HTMLDivElement>(null);
  const setUp = React.useCallback(() => {
    setView('service');
  }, []);
  const showChat = React.useCallback(() => {
    setView('chat');
    requestAnimationFrame(() => field.current?.focus());
  }, []);
  useRequests(requests, request => {
    setView(request === 'sessions' || request === 'service' ? request : 'chat');
    requestAnimationFrame(() => {
      focusFor(request, root.current, field.current);
    });
  });
  if (isOff) {
    return <Disabled />;
  }
  return (
    <div ref={root} className="cw-panel-body">
      <button
        type="button"
        className="cw-skip"
        onClick={() => {
          field.current?.focus();
        }}
      >
        {trans.__('Skip to the prompt')}
      </button>
      {view !== 'chat' && <ProblemAside panel={panel} />}
      {view === 'sessions' && <Sessions panel={panel} onClose={showChat} />}
      {view === 'service' && <ModelSettings panel={panel} onClose={showChat} />}
      {/* What the person has begun in the chat is there when they come back to it. */}
      <div className="cw-panel-chat" hidden={view !== 'chat'}>
        <Header
          panel={panel}
          chat={chat}
          onSessions={() => {
            setView('sessions');
          }}
          isInstructed={isInstructed}
          onInstruct={() => {
            setInstructed(chat);
          }}
          onSetUp={setUp}
          pages={pages}
        />
        {instructed === chat && (
          <InstructionsForm
            settings={chatSettings}
            onClose={() => {
              setInstructed(null);
              field.current?.focus();
            }}
          />
        )}
        <OpenMadeProvider value={openMade}>
          <OpenerProvider value={opener}>
            {view === 'chat' && <Banners panel={panel} chat={chat} settings={chatSettings} />}
            <MissingBar panel={panel} />
            {/* A chat stays the same while it gets its id from the server. */}
            <ChatPins key={keyOf(chat)} chat={chat} settings={chatSettings}>
              <ChatView
                panel={panel}
                chat={chat}
                notebooks={notebooks}
                sendWith={sendWith}
                field={field}
                documentChoice={documentChoice}
                onSetUp={setUp}
              />
            </ChatPins>
          </OpenerProvider>
        </OpenMadeProvider>
      </div>
    </div>
  );
}

function useRequests(requests: PanelRequests, take: (request: PanelRequest) => void): void {
  const latest = React.useRef(take);
  latest.current = take;
  React.useEffect(() => {
    const look = (): void => {
      const request = requests.take();
      if (request !== null) {
        latest.current(request);
      }
    };
    requests.asked.connect(look);
    look();
    return () => {
      requests.asked.disconnect(look);
    };
  }, [requests]);
}

function focusFor(
  request: PanelRequest,
  root: HTMLElement | null,
  field: HTMLTextAreaElement | null
): void {
  if (request === 'compose') {
    field?.focus();
  } else if (request === 'approval') {
    focusApproval(root);
  } else if (request === 'undo') {
    focusUndo(root);
  }
}
