import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { HighlightContext, type Highlight } from '../markdown';
import { type MadeFile, placeOf } from '../models/made_files';
import type { PanelSettings } from '../settings';
import { type AssistantEditor, AssistantEditorProvider } from './assistant_editor';
import { Banners } from './banners';
import { useChatSettings } from './chat_settings';
import { ChatView } from './chat_view';
import { Disabled } from './disabled';
import { focusApproval } from './focus';
import { Header, type PageLink } from './header';
import { InstructionsForm } from './instructions_form';
import type { DocumentChoice } from './library_offers';
import { OpenMadeProvider } from './made_files';
import { MissingBar } from './missing_bar';
import { type Opener, OpenerProvider } from './opening';
import { ChatPins } from './pins';
import type { Notebooks, Panel } from './ports';
import type { PanelRequest, PanelRequests } from './requests';
import { TranslationProvider, useTrans } from './scope';
import { Sessions } from './sessions';
import { useSignal } from './signal';

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
  const [isListing, setListing] = React.useState(false);
  const [isServiceShown, setServiceShown] = React.useState(false);
  const field = React.useRef<HTMLTextAreaElement>(null);
  const root = React.useRef<HTMLDivElement>(null);
  const closeList = React.useCallback(() => {
    setListing(false);
    requestAnimationFrame(() => field.current?.focus());
  }, []);
  useRequests(requests, request => {
    setListing(request === 'sessions');
    if (request === 'service') {
      setServiceShown(true);
    }
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
      {isListing ? (
        <Sessions panel={panel} onClose={closeList} />
      ) : (
        <>
          <Header
            panel={panel}
            chat={chat}
            onSessions={() => {
              setListing(true);
            }}
            isInstructed={isInstructed}
            onInstruct={() => {
              setInstructed(chat);
            }}
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
          <OpenerProvider value={opener}>
            <Banners panel={panel} chat={chat} settings={chatSettings} />
          </OpenerProvider>
          <MissingBar panel={panel} />
          <OpenMadeProvider value={openMade}>
            <OpenerProvider value={opener}>
              <ChatPins key={keyOf(chat)} chat={chat} settings={chatSettings}>
                <ChatView
                  panel={panel}
                  chat={chat}
                  notebooks={notebooks}
                  sendWith={sendWith}
                  field={field}
                  documentChoice={documentChoice}
                  isServiceShown={isServiceShown}
                  onService={setServiceShown}
                />
              </ChatPins>
            </OpenerProvider>
          </OpenMadeProvider>
        </>
      )}
    </div>
  );
}

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** A chat stays the same while it gets its id from the server. */
function keyOf(chat: object): number {
  const key = keys.get(chat) ?? ++lastKey;
  keys.set(chat, key);
  return key;
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
  } else if (request === 'service') {
    root?.querySelector<HTMLElement>('.cw-service .cw-field')?.focus();
  }
}
