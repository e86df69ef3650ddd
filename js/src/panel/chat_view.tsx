import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Suggestion } from '../chat/suggestions';
import type { Turn } from '../chat/types';
import type { Choices } from '../settings';
import { agentIcon } from '../ui/agent_icon';
import { Button, Icon } from '../ui/button';
import { formatElapsed } from '../ui/figures';
import { takeAnswer, useSeconds, useSignal, useTrans } from '../ui/hooks';
import { useDropZone, useUploads } from '../ui/uploads';
import { phaseWords, statusWords } from '../ui/words';
import type { ChatState } from '../wire/generated';
import { Asked } from './asked_input';
import { useChatActions } from './chat_actions';
import { Composer } from './composer';
import { type DocumentChoice, LibraryNote, useLibraryOffers } from './library_offers';
import { ServiceCard } from './model_settings';
import type { Chat, Notebooks, Panel } from './ports';
import { PromptBubble } from './prompt';
import { Transcript } from './transcript';
import { TurnActionsProvider } from './turn_actions';
import { areTried, Ways } from './ways';

/** A wait this short needs no number. */
const TOLD_FROM_SECONDS = 3;
/** A cell that has run for so long may reach its limit. */
const LONG_SECONDS = 30;
const EXTENSION_SECONDS = 600;

interface ActivityProps {
  readonly state: ChatState;
  /** The last one; undefined: there is none. */
  readonly turn: Turn | undefined;
  /** Null: not from here. */
  readonly onExtend: ((seconds: number) => void) | null;
}

/** One line at the end of the conversation: what the run does now and for how long. */
export function Activity({ state, turn, onExtend }: ActivityProps) {
  const trans = useTrans();
  const isRunning = state.run !== '';
  const now = useSeconds(isRunning);
  if (!isRunning) {
    return null;
  }
  const seconds = turn === undefined ? 0 : elapsedIn(turn, now);
  const needsPerson = state.phase === 'approval' || state.phase === 'input';
  const cell = state.phase === 'tool' ? runningCell(turn) : null;
  const isLong = cell !== null && now - cell.startedAt >= LONG_SECONDS;
  return (
    <div className="cw-phase">
      {needsPerson ? <span className="cw-dot" /> : <span className="cw-spinner" />}
      <span>{phaseWords(state.phase, trans)}</span>
      {seconds >= TOLD_FROM_SECONDS && (
        <span className="cw-phase-time">{formatElapsed(seconds)}</span>
      )}
      {isLong && onExtend !== null && <Extension key={cell.callId} onExtend={onExtend} />}
    </div>
  );
}

/** How long the open approval waits; else how long the run works, without such waits. */
function elapsedIn({ startedAt, waitedSeconds, waitingSince }: Turn, now: number): number {
  return waitingSince === null ? now - startedAt - waitedSeconds : now - waitingSince;
}

interface RunningCell {
  readonly callId: string;
  readonly startedAt: number;
}

/** The call whose cell runs; null: none does. */
function runningCell(turn: Turn | undefined): RunningCell | null {
  for (const block of turn?.blocks ?? []) {
    const runs = block.kind === 'tool' && block.status === 'running' && block.cellIds.length > 0;
    if (runs && block.startedAt !== null) {
      return { callId: block.callId, startedAt: block.startedAt };
    }
  }
  return null;
}

/** Gives a long cell more time before it is interrupted. */
function Extension({ onExtend }: { onExtend: (seconds: number) => void }) {
  const trans = useTrans();
  const [minutes, setMinutes] = React.useState(0);
  const more = EXTENSION_SECONDS / 60;
  return (
    <>
      <Button
        kind="quiet"
        onClick={() => {
          onExtend(EXTENSION_SECONDS);
          setMinutes(minutes + more);
        }}
      >
        {trans.__('Give the cell %1 more minutes', more)}
      </Button>
      {minutes > 0 && (
        <span role="status">{trans.__('It may run %1 minutes longer.', minutes)}</span>
      )}
    </>
  );
}

interface AnnouncerProps {
  readonly turns: readonly Turn[];
  readonly state: ChatState;
}

/** Says when a run starts, ends or needs the person, to those who cannot see it. */
export function Announcer({ turns, state }: AnnouncerProps) {
  const trans = useTrans();
  const { words, count } = useAnnouncement(momentOf(turns, state), trans);
  return (
    <div className="cw-hidden" role="status" aria-live="polite">
      {/* The same words again are said again. */}
      <span key={count}>{words}</span>
    </div>
  );
}

/** What could be worth saying, as plain values that compare. */
interface Moment {
  readonly run: string;
  readonly status: Turn['status'];
  readonly reason: string;
  readonly approval: string;
  readonly approvalLabel: string;
  readonly input: string | null;
  /** The service that asks; empty: a cell does. */
  readonly server: string;
}

function momentOf(turns: readonly Turn[], state: ChatState): Moment {
  const input = state.input?.prompt ?? null;
  const server = state.input?.form?.server ?? '';
  const turn = turns.at(-1);
  if (turn === undefined) {
    const nothing = { run: '', status: 'completed', reason: '' } as const;
    return { ...nothing, approval: '', approvalLabel: '', input, server };
  }
  const { runId: run, status, reason } = turn;
  const approvalLabel = labelOf(turn, state.approval);
  return {
    run,
    status,
    reason,
    approval: approvalLabel === '' ? '' : state.approval,
    approvalLabel,
    input,
    server
  };
}

function labelOf(turn: Turn, callId: string): string {
  const card = turn.blocks.find(block => block.kind === 'tool' && block.callId === callId);
  return card?.kind === 'tool' ? card.label : '';
}

interface Announcement {
  readonly words: string;
  /** How many were made. */
  readonly count: number;
}

function useAnnouncement(moment: Moment, trans: TranslationBundle): Announcement {
  const last = React.useRef(moment);
  const [shown, setShown] = React.useState<Announcement>({ words: '', count: 0 });
  React.useEffect(() => {
    const said = announcement(last.current, moment, trans);
    last.current = moment;
    if (said !== '') {
      setShown(({ count }) => ({ words: said, count: count + 1 }));
    }
  });
  return shown;
}

function announcement(before: Moment, now: Moment, trans: TranslationBundle): string {
  if (now.approval !== '' && now.approval !== before.approval) {
    return trans.__('Approval needed: %1', now.approvalLabel);
  }
  if (now.input !== null && before.input === null) {
    return now.server === ''
      ? trans.__('The running cell asks for input: %1', now.input)
      : trans.__('The MCP server "%1" asks: %2', now.server, now.input);
  }
  if (now.run !== before.run && now.status === 'running') {
    return trans.__('The agent started working.');
  }
  if (now.run === before.run && before.status === 'running' && now.status !== 'running') {
    return [statusWords(now.status, trans), now.reason].filter(Boolean).join('. ');
  }
  return '';
}

interface EmptyStateProps {
  readonly panel: Panel;
  readonly onChoose: (suggestion: Suggestion) => void;
}

/** What a new chat shows: where it works and what one might ask. */
function EmptyState({ panel, onChoose }: EmptyStateProps) {
  const trans = useTrans();
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const suggestions = useSuggestions(panel);
  const name = notebook?.path.split('/').at(-1) ?? '';
  return (
    <div className="cw-empty">
      <agentIcon.react className="cw-empty-icon" tag="span" aria-hidden="true" />
      <h3>
        {name === '' ? trans.__('What shall we do?') : trans.__('What shall we do in %1?', name)}
      </h3>
      <p className="cw-muted">
        {trans.__('The agent writes and runs cells in your notebook, in the kernel you use.')}
      </p>
      <ul className="cw-suggestions" aria-label={trans.__('Suggestions')}>
        {suggestions.map(suggestion => (
          <li key={suggestion.label}>
            <button
              type="button"
              className="cw-suggestion"
              title={suggestion.prompt}
              onClick={() => {
                onChoose(suggestion);
              }}
            >
              <Icon name="spark" />
              <span>{suggestion.label}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Made anew for each notebook; the last ones stay until then. */
function useSuggestions(panel: Panel): readonly Suggestion[] {
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const [suggestions, setSuggestions] = React.useState<readonly Suggestion[]>([]);
  React.useEffect(() => takeAnswer(panel.suggestions(), setSuggestions), [panel, notebook]);
  return suggestions;
}

interface ChatViewProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly notebooks: Notebooks | null;
  readonly sendWith: Choices['sendWith'];
  readonly field: React.RefObject<HTMLTextAreaElement>;
  /** Where the person wants files that a library would take. */
  readonly documentChoice: React.MutableRefObject<DocumentChoice>;
  /** Shows the model settings. */
  readonly onSetUp: () => void;
}

/** One conversation and the composer below it. */
export function ChatView(props: ChatViewProps) {
  const { panel, chat, notebooks, sendWith, field, onSetUp } = props;
  const trans = useTrans();
  const turns = useSignal(chat.changed, () => chat.turns);
  const state = useSignal(chat.changed, () => chat.state);
  const isCaughtUp = useSignal(chat.changed, () => chat.isCaughtUp);
  // Asking makes a new list each time; their number tells whether it changed.
  const sendingCount = useSignal(chat.changed, () => chat.sending.length);
  const [sentCount, setSentCount] = React.useState(0);
  const actions = useChatActions(panel, chat, notebooks, onSetUp);
  const offers = useLibraryOffers(panel, chat, props.documentChoice);
  const uploads = useUploads(
    (file, name) =>
      panel.rest.uploadFile(file, name, {
        notebook: state.notebook_path,
        assistant: chat.composer.assistant
      }),
    offers.take
  );
  const drop = useDropZone(files => {
    uploads.add(files);
    field.current?.focus();
  });
  const isEmpty = turns.length + sendingCount === 0 && isCaughtUp && state.branches === '';
  return (
    <TurnActionsProvider value={actions}>
      <div
        className="cw-chat"
        {...drop.handlers}
        onKeyDown={event => {
          const isWorking = state.run !== '' || areTried(state);
          if (event.key === 'Escape' && isWorking && !event.nativeEvent.isComposing) {
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
          <ServiceCard panel={panel} isEmpty={isEmpty} onOpen={onSetUp} />
          {sendingCount > 0 &&
            chat.sending.map((draft, index) => (
              <div key={index} className="cw-turn cw-mod-sending" aria-busy="true">
                <PromptBubble turn={{ prompt: draft.text, files: [], notes: [] }} />
              </div>
            ))}
          {state.branches !== '' && <Ways key={chat.id} panel={panel} chat={chat} />}
          {state.input !== null && (
            <Asked
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
