import * as React from 'react';

import type { Choices } from '../settings';
import { Activity } from './activity';
import { Announcer } from './announcer';
import { useChatActions } from './chat_actions';
import { Composer } from './composer';
import { EmptyState } from './empty_state';
import { InputRequest } from './input_request';
import { LibraryNote } from './library_note';
import { type DocumentChoice, useLibraryOffers } from './library_offers';
import type { Chat, Notebooks, Panel } from './ports';
import { PromptBubble } from './prompt_bubble';
import { useTrans } from './scope';
import { ServiceCard } from './service_card';
import { useSignal } from './signal';
import { Transcript } from './transcript';
import { TurnActionsProvider } from './turn_actions';
import { useDropZone, useUploads } from './uploads';

interface ChatViewProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly notebooks: Notebooks | null;
  readonly sendWith: Choices['sendWith'];
  readonly field: React.RefObject<HTMLTextAreaElement>;
  /** Where the person wants files that a library would take. */
  readonly documentChoice: React.MutableRefObject<DocumentChoice>;
  readonly isServiceShown: boolean;
  readonly onService: (isShown: boolean) => void;
}

/** One conversation and the composer below it. */
export function ChatView(props: ChatViewProps) {
  const { panel, chat, notebooks, sendWith, field, isServiceShown, onService } = props;
  const trans = useTrans();
  const turns = useSignal(chat.changed, () => chat.turns);
  const state = useSignal(chat.changed, () => chat.state);
  const isCaughtUp = useSignal(chat.changed, () => chat.isCaughtUp);
  // Asking makes a new list each time; their number tells whether it changed.
  const sendingCount = useSignal(chat.changed, () => chat.sending.length);
  const [sentCount, setSentCount] = React.useState(0);
  const setUp = React.useCallback(() => {
    onService(true);
  }, [onService]);
  const actions = useChatActions(panel, chat, notebooks, setUp);
  const offers = useLibraryOffers(panel, chat, props.documentChoice);
  const uploads = useUploads(
    (file, name) =>
      panel.uploadFile(file, name, {
        notebook: state.notebook_path,
        assistant: chat.composer.assistant
      }),
    offers.take
  );
  const drop = useDropZone(files => {
    uploads.add(files);
    field.current?.focus();
  });
  const isEmpty = turns.length + sendingCount === 0 && isCaughtUp;
  return (
    <TurnActionsProvider value={actions}>
      <div
        className="cw-chat"
        {...drop.handlers}
        onKeyDown={event => {
          if (event.key === 'Escape' && state.run !== '' && !event.nativeEvent.isComposing) {
            event.preventDefault();
            chat.stop();
          }
        }}
      >
        <Transcript turns={turns} sentCount={sentCount}>
          {!isCaughtUp && turns.length === 0 && <Loading />}
          {isEmpty && (
            <EmptyState
              panel={panel}
              onChoose={suggestion => {
                chat.composer.setText(suggestion.prompt);
                suggestion.context.forEach(item => {
                  chat.composer.addContext(item);
                });
                field.current?.focus();
              }}
            />
          )}
          <ServiceCard
            panel={panel}
            isOpen={isServiceShown}
            isEmpty={isEmpty}
            onOpen={setUp}
            onClose={() => {
              onService(false);
              field.current?.focus();
            }}
          />
          {sendingCount > 0 &&
            chat.sending.map((draft, index) => (
              <div key={index} className="cw-turn cw-mod-sending" aria-busy="true">
                <PromptBubble turn={{ prompt: draft.text, files: [], notes: [] }} />
              </div>
            ))}
          {state.input !== null && (
            <InputRequest
              key={state.input.request}
              input={state.input}
              onSend={value => {
                chat.sendInput(value);
                field.current?.focus();
              }}
            />
          )}
          <Activity
            state={state}
            turn={turns.at(-1)}
            onExtend={
              actions.canAnswer
                ? seconds => {
                    chat.extend(seconds);
                  }
                : null
            }
          />
        </Transcript>
        <Announcer turns={turns} state={state} />
        {uploads.problem !== '' && (
          <p className="cw-problem" role="alert">
            {uploads.problem}
          </p>
        )}
        <LibraryNote offers={offers} />
        <Composer
          panel={panel}
          chat={chat}
          sendWith={sendWith}
          field={field}
          uploads={uploads}
          offers={offers}
          onSent={() => {
            setSentCount(count => count + 1);
          }}
        />
        {drop.isOver && <div className="cw-drop">{trans.__('Drop files to attach them')}</div>}
      </div>
    </TurnActionsProvider>
  );
}

function Loading() {
  const trans = useTrans();
  return (
    <p className="cw-phase">
      <span className="cw-spinner" />
      <span>{trans.__('Loading the conversation …')}</span>
    </p>
  );
}
