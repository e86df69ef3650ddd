import * as React from 'react';

import type { Choices } from '../settings';
import { Button, Icon, IconButton } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import { FileChooser } from '../ui/uploads';
import type { Uploads } from '../ui/uploads';
import { modeWords, stopWords } from '../ui/words';
import type { ChatState, Mode, QueuedPrompt } from '../wire/generated';
import { Chips } from './chips';
import type { NameSource } from './completion';
import { ContextMeter } from './context';
import type { LibraryOffers } from './library_offers';
import { AssistantPicker, ModelPicker, ModePicker } from './pickers';
import type { Chat, Panel } from './ports';
import { EditPrompt } from './prompt';
import { actionOfKey, type KeyPress, PromptField } from './prompt_field';
import { NoteAnnouncer, useWaitingNotes, WaitingNotesList } from './waiting_notes';
import { areTried } from './ways';
import { type WantedWays, WaysPicker } from './ways_picker';

interface QueueProps {
  readonly chat: Chat;
  readonly prompts: readonly QueuedPrompt[];
  readonly isPaused: boolean;
}

/** Prompts that wait for the run to end. */
function Queue({ chat, prompts, isPaused }: QueueProps) {
  const trans = useTrans();
  if (prompts.length === 0) {
    return null;
  }
  return (
    <section className="cw-queue" aria-label={trans.__('Waiting prompts')}>
      {isPaused && (
        <div className="cw-queue-paused">
          <Icon name="pause" />
          <span>
            {trans.__(
              'These wait: the last run was stopped or failed, or the notebook was closed.'
            )}
          </span>
          <Button
            onClick={() => {
              chat.editQueue('', 'resume');
            }}
          >
            {trans.__('Resume')}
          </Button>
        </div>
      )}
      <ol>
        {prompts.map((prompt, index) => (
          <Waiting
            key={prompt.id}
            chat={chat}
            prompt={prompt}
            position={index}
            count={prompts.length}
          />
        ))}
      </ol>
    </section>
  );
}

interface WaitingProps {
  readonly chat: Chat;
  readonly prompt: QueuedPrompt;
  readonly position: number;
  readonly count: number;
}

function Waiting({ chat, prompt, position, count }: WaitingProps) {
  const trans = useTrans();
  const [isEdited, setEdited] = React.useState(false);
  if (isEdited) {
    return (
      <li className="cw-queued">
        <EditPrompt
          text={prompt.prompt}
          label={trans.__('Waiting prompt')}
          action={trans.__('Save')}
          onDone={text => {
            setEdited(false);
            if (text !== null && text !== prompt.prompt) {
              chat.editQueue(prompt.id, 'edit', { prompt: text });
            }
          }}
        />
      </li>
    );
  }
  const move = (by: number) => () => {
    chat.editQueue(prompt.id, 'move', { position: position + by });
  };
  return (
    <li className="cw-queued">
      <span className="cw-queued-text" title={prompt.prompt}>
        {prompt.prompt}
      </span>
      <span className="cw-queued-actions">
        {count > 1 && (
          <>
            <IconButton
              icon="up"
              label={trans.__('Move up')}
              disabled={position === 0}
              onClick={move(-1)}
            />
            <IconButton
              icon="down"
              label={trans.__('Move down')}
              disabled={position === count - 1}
              onClick={move(1)}
            />
          </>
        )}
        <IconButton
          icon="edit"
          label={trans.__('Edit this prompt')}
          onClick={() => {
            setEdited(true);
          }}
        />
        <IconButton
          icon="play"
          label={trans.__('Stop the run and send this now')}
          onClick={() => {
            chat.editQueue(prompt.id, 'send_now');
          }}
        />
        <IconButton
          icon="close"
          label={trans.__('Remove this prompt')}
          onClick={() => {
            chat.editQueue(prompt.id, 'remove');
          }}
        />
      </span>
    </li>
  );
}

interface ComposerProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly sendWith: Choices['sendWith'];
  readonly field: React.RefObject<HTMLTextAreaElement>;
  readonly uploads: Uploads;
  readonly offers: LibraryOffers;
  readonly onSent: () => void;
}

/** Where prompts are written, with all that goes along and all that decides how they are run. */
export function Composer({ panel, chat, sendWith, field, uploads, offers, onSent }: ComposerProps) {
  const trans = useTrans();
  const { composer } = chat;
  const text = useSignal(composer.changed, () => composer.text);
  const context = useSignal(composer.changed, () => composer.context);
  useSignal(composer.changed, () => composer.chosenMode);
  const chosenModel = useSignal(composer.changed, () => composer.chosenModel);
  const state = useSignal(chat.changed, () => chat.state);
  const link = useSignal(panel.linkChanged, () => panel.link);
  const service = useSignal(panel.serviceChanged, () => panel.service);
  const source = useNameSource(panel, chat);
  const loadModels = React.useCallback(() => modelsOf(panel), [panel]);
  const notes = useWaitingNotes(panel, chat);
  const [addedCount, setAddedCount] = React.useState(0);

  const mode = panel.modeOf(chat);
  const model = chosenModel === '' ? (service?.model ?? '') : chosenModel;
  const isRunning = state.run !== '' || areTried(state);
  const isOpen = state.branches !== '';
  const isReady = link === 'open' && uploads.uploading.length === 0;
  const canSend = isReady && !isOpen && text.trim() !== '';
  const send = (instead: boolean): void => {
    if (canSend && !notes.isAdding) {
      notes.clearProblem();
      offers.end();
      composer.clear();
      chat.ask({ text: text.trim(), context, mode, model: chosenModel }, { instead });
      onSent();
    }
  };
  const tryWays = ({ count, models }: WantedWays): void => {
    notes.clearProblem();
    offers.end();
    void chat.tryWays({ text: text.trim(), context, mode, model: chosenModel }, count, models);
    onSent();
    field.current?.focus();
  };
  const addNote = async (): Promise<void> => {
    if (await notes.add()) {
      setAddedCount(count => count + 1);
    }
  };
  const onPress = (press: KeyPress): boolean => {
    const action = actionOfKey(press, sendWith, isRunning);
    if (action === 'stop') {
      chat.stop();
    } else if (action === 'later') {
      void addNote();
    } else if (action !== 'none') {
      send(action === 'instead');
    }
    return action !== 'none';
  };
  const laterButton = (
    <IconButton
      icon="add_line"
      label={trans.__('Add without sending: it goes with your next question (Alt+Enter)')}
      aria-disabled={text.trim() === ''}
      onClick={() => {
        void addNote();
        field.current?.focus();
      }}
    />
  );
  return (
    <div className={`cw-composer cw-mod-${mode}`}>
      <WaitingNotesList
        model={notes}
        onBack={() => {
          focusEnd(field);
        }}
      />
      <NoteAnnouncer count={addedCount} />
      <Queue chat={chat} prompts={state.queue} isPaused={state.queue_paused} />
      {mode === 'auto' && <AutoWarning />}
      <div className="cw-composer-box">
        <Chips
          items={context}
          uploading={uploads.uploading}
          source={source}
          isAsked={offers.isAsked}
          onChoose={choice => {
            offers.choose(choice);
            field.current?.focus();
          }}
          onRemove={item => {
            composer.removeContext(item);
            field.current?.focus();
          }}
        />
        <PromptField
          field={field}
          text={text}
          source={source}
          placeholder={isOpen ? decideWords(trans) : askWords(isRunning, trans)}
          onText={value => {
            composer.setText(value);
            notes.clearProblem();
          }}
          onCandidate={({ item }) => {
            if (item !== null) {
              composer.addContext(item);
            }
          }}
          onFiles={uploads.add}
          onPress={onPress}
        />
        <div className="cw-composer-bar">
          <FileChooser label={trans.__('Attach files')} onFiles={uploads.add}>
            {open => <IconButton icon="attach" label={trans.__('Attach files')} onClick={open} />}
          </FileChooser>
          <ModePicker
            mode={mode}
            modes={panel.modes}
            onChoose={chosen => {
              composer.setMode(chosen);
            }}
          />
          <AssistantPicker panel={panel} chat={chat} />
          <ModelPicker
            model={model}
            isFree={(service?.models_allowed.length ?? 0) === 0}
            load={loadModels}
            onChoose={name => {
              composer.setModel(name);
            }}
          />
          <span className="cw-spring" />
          <Meter panel={panel} chat={chat} field={field} />
          {laterButton}
          <SendButtons
            state={state}
            hasText={text.trim() !== ''}
            isReady={isReady}
            model={model}
            loadModels={loadModels}
            onSend={() => {
              send(false);
              field.current?.focus();
            }}
            onTryWays={tryWays}
            onStop={() => {
              chat.stop();
              field.current?.focus();
            }}
          />
        </div>
      </div>
    </div>
  );
}

interface SendButtonsProps {
  readonly state: ChatState;
  readonly hasText: boolean;
  readonly isReady: boolean;
  readonly onSend: () => void;
  /** The model that is chosen, or the usual one. */
  readonly model: string;
  readonly loadModels: () => Promise<readonly string[]>;
  readonly onTryWays: (wanted: WantedWays) => void;
  readonly onStop: () => void;
}

/** What can be done with what is written, and Stop while anything works. */
function SendButtons(props: SendButtonsProps) {
  const { state, hasText, isReady, model, loadModels, onSend, onTryWays, onStop } = props;
  const trans = useTrans();
  const isTrying = areTried(state);
  const isRunning = state.run !== '' || isTrying;
  const isOpen = state.branches !== '';
  const canSend = isReady && hasText && !isOpen;
  return (
    <>
      {!isRunning && state.notebook_path !== '' && (
        <WaysPicker model={model} canSend={canSend} load={loadModels} onTry={onTryWays} />
      )}
      {(!isRunning || (hasText && !isTrying)) && (
        <IconButton
          icon="send"
          className="cw-send"
          label={isOpen ? decideWords(trans) : sendLabel(isRunning, isReady, trans)}
          aria-disabled={!canSend}
          onClick={onSend}
        />
      )}
      {isRunning && (
        <IconButton
          icon="stop"
          className="cw-send cw-mod-stop"
          label={stopWords(state.phase, trans)}
          onClick={onStop}
        />
      )}
    </>
  );
}

function Meter({ panel, chat, field }: Pick<ComposerProps, 'panel' | 'chat' | 'field'>) {
  const state = useSignal(chat.changed, () => chat.state);
  const usage = useSignal(chat.changed, () => chat.turns.at(-1)?.usage ?? null);
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const kernel = notebook?.path === state.notebook_path ? notebook.kernelId : '';
  const canCompact = isOpen && state.run === '' && state.queue.length === 0;
  const compact = (): void => {
    chat.compact();
    field.current?.focus();
  };
  return (
    <ContextMeter
      key={chat.id}
      tokens={state.context_tokens}
      limit={state.context_limit}
      usage={usage}
      onCompact={canCompact ? compact : null}
      source={{
        load: () => panel.rest.context(chat.id),
        save: canCompact ? words => panel.rest.changeSummary(chat.id, words) : null
      }}
      states={
        canCompact && kernel !== ''
          ? {
              load: () => panel.rest.snapshots(kernel, true),
              forget: () => panel.rest.forgetSnapshots(kernel)
            }
          : null
      }
    />
  );
}

/** Let the person go on after what stands there. */
function focusEnd(field: React.RefObject<HTMLTextAreaElement>): void {
  requestAnimationFrame(() => {
    const box = field.current;
    if (box !== null) {
      box.focus();
      box.setSelectionRange(box.value.length, box.value.length);
      box.scrollTop = box.scrollHeight;
    }
  });
}

function decideWords(trans: ReturnType<typeof useTrans>): string {
  return trans.__('Keep one of the ways or drop all');
}

function askWords(isRunning: boolean, trans: ReturnType<typeof useTrans>): string {
  return isRunning
    ? trans.__('Ask something to follow …')
    : trans.__('Ask the agent …  @ variable, # cell');
}

function sendLabel(
  isRunning: boolean,
  isReady: boolean,
  trans: ReturnType<typeof useTrans>
): string {
  if (!isReady) {
    return trans.__('Cannot send yet: not connected, or a file is being uploaded');
  }
  return isRunning
    ? trans.__('Send when the run has ended (Ctrl+Enter: stop it and send)')
    : trans.__('Send');
}

async function modelsOf(panel: Panel): Promise<readonly string[]> {
  const allowed = panel.service?.models_allowed ?? [];
  return allowed.length > 0 ? allowed : panel.rest.models();
}

function useNameSource(panel: Panel, chat: Chat): NameSource {
  return React.useMemo(
    () => ({
      assistants: () =>
        panel.rest.assistants(chat.state.notebook_path).then(
          ({ assistants }) => assistants,
          () => [] // an older server has none
        ),
      variables: () => panel.variables(),
      variable: async name => {
        const kernel = panel.notebook?.kernelId ?? '';
        return kernel === '' ? '' : panel.rest.variable(kernel, name);
      },
      cells: () => panel.notebook?.outline() ?? []
    }),
    [panel, chat]
  );
}

/** Stands there for as long as nothing is asked about. */
function AutoWarning() {
  const trans = useTrans();
  const auto: Mode = 'auto';
  return (
    <p className="cw-auto-warning">
      <strong>{modeWords(auto, trans).name}</strong>{' '}
      {trans.__('Code runs without asking you. It ends with this page.')}
    </p>
  );
}
