import * as React from 'react';

import type { AssistantChoices, UnusableAssistant } from '../client/panel_rest';
import { Icon } from '../ui/button';
import { takeAnswer, useFocus, useSignal, useTrans } from '../ui/hooks';
import { Menu, type MenuEntry, usePopup } from '../ui/menu';
import { type AssistantChange, useAssistantEditor } from '../ui/opening';
import { modeWords } from '../ui/words';
import type { Mode } from '../wire/generated';
import type { Chat, Panel } from './ports';

interface ModelPickerProps {
  /** The one that answers. */
  readonly model: string;
  /** False: an administrator names the models. */
  readonly isFree: boolean;
  readonly load: () => Promise<readonly string[]>;
  readonly onChoose: (model: string) => void;
}

/** Which model answers: one of the service's, or any name. */
export function ModelPicker({ model, isFree, load, onChoose }: ModelPickerProps) {
  const trans = useTrans();
  const popup = usePopup<HTMLDivElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const close = (): void => {
    popup.close();
    button.current?.focus();
  };
  return (
    <div className="cw-menu-anchor cw-mod-shrink" ref={popup.anchor}>
      <button
        ref={button}
        type="button"
        className="cw-picker"
        aria-haspopup="dialog"
        aria-expanded={popup.isOpen}
        aria-label={trans.__('Model: %1', model)}
        title={trans.__('Model: %1', model)}
        onClick={popup.toggle}
      >
        <span className="cw-picker-text">{model === '' ? trans.__('Model') : model}</span>
        <Icon name="chevron_down" />
      </button>
      {popup.isOpen && (
        <ModelList
          model={model}
          isFree={isFree}
          load={load}
          onClose={close}
          onChoose={name => {
            close();
            onChoose(name);
          }}
        />
      )}
    </div>
  );
}

interface ModelListProps extends ModelPickerProps {
  readonly onClose: () => void;
}

function ModelList({ model, isFree, load, onChoose, onClose }: ModelListProps) {
  const trans = useTrans();
  const { names, isLoading } = useNames(load);
  const [query, setQuery] = React.useState('');
  const list = React.useId();
  const field = useFocus<HTMLInputElement>();
  const wanted = query.trim();
  const shown = names.filter(name => name.toLowerCase().includes(wanted.toLowerCase()));
  const fallback = isFree ? wanted : (shown[0] ?? '');
  const { active, setActive, onKeyDown: moveActive } = useActiveOption(shown, onChoose, fallback);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
      event.preventDefault();
      event.stopPropagation();
      onClose();
    } else {
      moveActive(event);
    }
  };
  return (
    <div className="cw-popup cw-models cw-mod-above" role="dialog" aria-label={trans.__('Model')}>
      <input
        ref={field}
        className="cw-field"
        role="combobox"
        aria-expanded={shown.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-label={isFree ? trans.__('Name of a model') : trans.__('Find a model')}
        {...(active >= 0 && { 'aria-activedescendant': `${list}-${String(active)}` })}
        placeholder={isFree ? trans.__('Name of a model') : trans.__('Find a model')}
        value={query}
        onChange={event => {
          setQuery(event.target.value);
          setActive(-1);
        }}
        onKeyDown={onKeyDown}
      />
      <ModelOptions
        id={list}
        names={shown}
        chosen={model}
        active={active}
        onMove={setActive}
        onChoose={onChoose}
      />
      {shown.length === 0 && (
        <p className="cw-muted cw-popup-note">
          {isLoading
            ? trans.__('Asking the service …')
            : isFree && wanted !== ''
              ? trans.__('Press Enter to use %1', wanted)
              : trans.__('The service names no models.')}
        </p>
      )}
    </div>
  );
}

interface ModelOptionsProps {
  readonly id: string;
  readonly names: readonly string[];
  readonly chosen: string;
  /** Place of the one that keys have come to; -1: none. */
  readonly active: number;
  readonly onMove: (index: number) => void;
  readonly onChoose: (model: string) => void;
}

/** The models that can be chosen, below the field that finds them. */
export function ModelOptions(props: ModelOptionsProps) {
  const { id, names, chosen, active, onMove, onChoose } = props;
  const trans = useTrans();
  return (
    <ul id={id} className="cw-model-options" role="listbox" aria-label={trans.__('Models')}>
      {names.map((name, index) => (
        <li
          key={name}
          id={`${id}-${String(index)}`}
          role="option"
          aria-selected={index === active}
          className="cw-option"
          onMouseDown={event => {
            event.preventDefault();
            onChoose(name);
          }}
          onMouseMove={() => {
            onMove(index);
          }}
        >
          <span className="cw-menu-check">{name === chosen && <Icon name="check" />}</span>
          <span className="cw-option-label">{name}</span>
        </li>
      ))}
    </ul>
  );
}

/** Arrows move through options, Enter takes the one they came to, else the fallback. */
export function useActiveOption(
  names: readonly string[],
  onChoose: (name: string) => void,
  fallback = ''
) {
  const [active, setActive] = React.useState(-1);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    const chosen = names[active] ?? fallback;
    if (event.key === 'ArrowDown') {
      setActive(Math.min(active + 1, names.length - 1));
    } else if (event.key === 'ArrowUp') {
      setActive(Math.max(active - 1, -1));
    } else if (event.key === 'Enter' && chosen !== '') {
      setActive(-1);
      onChoose(chosen);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return { active, setActive, onKeyDown };
}

/** The models of a service, asked for once. */
export function useNames(load: ModelPickerProps['load']) {
  const [names, setNames] = React.useState<readonly string[] | null>(null);
  React.useEffect(
    () =>
      takeAnswer(load(), setNames, () => {
        setNames([]);
      }),
    [load]
  );
  return { names: names ?? [], isLoading: names === null };
}

interface ModePickerProps {
  readonly mode: Mode;
  /** Those an administrator allows. */
  readonly modes: readonly Mode[];
  readonly onChoose: (mode: Mode) => void;
}

/** What the agent may do without asking. Auto stays marked for as long as it holds. */
export function ModePicker({ mode, modes, onChoose }: ModePickerProps) {
  const trans = useTrans();
  const { name, description } = modeWords(mode, trans);
  return (
    <Menu
      label={trans.__('Mode: %1. %2', name, description)}
      className={`cw-picker cw-mod-${mode}`}
      side="above"
      entries={modes.map(entry => ({
        key: entry,
        label: modeWords(entry, trans).name,
        description: modeWords(entry, trans).description,
        isChecked: entry === mode,
        onChoose: () => {
          onChoose(entry);
        }
      }))}
    >
      {mode === 'auto' && <Icon name="warning" />}
      <span>{name}</span>
      <Icon name="chevron_down" />
    </Menu>
  );
}

const NONE: AssistantChoices = { assistants: [], problems: [], places: [], unusable: [] };

/** Who answers in this chat; there is nothing to see where no assistant is written. */
export function AssistantPicker({ panel, chat }: { panel: Panel; chat: Chat }) {
  const trans = useTrans();
  const { composer } = chat;
  const chosen = useSignal(composer.changed, () => composer.assistant);
  const listed = useAssistants(panel, chat);
  const { assistants, problems, unusable } = listed;
  const unchosen = assistants.find(({ is_default: isDefault }) => isDefault)?.name ?? '';
  const editing = useEditing(chat, chosen === '' ? unchosen : chosen, listed);
  if (assistants.length + problems.length === 0 && chosen === '') {
    return null;
  }
  const entryOf = (name: string, label: string, description: string): MenuEntry => ({
    key: `assistant:${name}`,
    label,
    ...(description !== '' && { description }),
    isChecked: name === chosen,
    onChoose: () => {
      composer.setAssistant(name);
    }
  });
  const isMissing = chosen !== '' && !has(listed, chosen);
  const broken = isMissing ? unusable.find(({ name }) => name === chosen) : undefined;
  const entries: MenuEntry[] = [
    unchosen === ''
      ? entryOf('', trans.__('No assistant'), '')
      : entryOf(
          '',
          trans.__('Default: %1', unchosen),
          trans.__('A prompt that begins with @cellwright is asked without it')
        ),
    ...assistants.map(({ name, description }) => entryOf(name, name, description)),
    ...(isMissing ? [entryOf(chosen, chosen, whyMissing(broken, trans))] : []),
    ...problems
      .filter(problem => problem !== broken?.problem)
      .map(problem => ({
        key: problem,
        label: problem,
        icon: 'warning' as const,
        isDisabled: true,
        onChoose: () => undefined
      })),
    ...editing
  ];
  return (
    <Menu
      label={pickerLabel(chosen, unchosen, trans)}
      className="cw-picker"
      side="above"
      shrinks={chosen !== ''}
      entries={entries}
    >
      <Icon name="person" className="cw-picker-sign" />
      {chosen !== '' && <span className="cw-picker-text">{chosen}</span>}
      <Icon name="chevron_down" />
    </Menu>
  );
}

function pickerLabel(chosen: string, unchosen: string, trans: ReturnType<typeof useTrans>): string {
  if (chosen !== '') {
    return trans.__('Assistant: %1', chosen);
  }
  return unchosen === ''
    ? trans.__('Assistant: none')
    : trans.__('Assistant: %1 (default)', unchosen);
}

/** Why an assistant that was chosen is not in the list. */
function whyMissing(
  broken: UnusableAssistant | undefined,
  trans: ReturnType<typeof useTrans>
): string {
  if (broken === undefined) {
    return trans.__('Its file is not there any more');
  }
  return broken.file === ''
    ? broken.problem
    : trans.__('%1 cannot be read. %2', broken.file, broken.problem);
}

/** Ways to the page where they are written; none where the person may write none. */
function useEditing(chat: Chat, answering: string, listed: AssistantChoices): readonly MenuEntry[] {
  const trans = useTrans();
  const editor = useAssistantEditor();
  if (editor === null || listed.places.length === 0) {
    return [];
  }
  const open = (name: string) => () => {
    editor.edit(name, chat.state.notebook_path);
  };
  const entries: readonly MenuEntry[] = [
    ...(has(listed, answering)
      ? [
          {
            key: 'edit',
            label: trans.__('Edit %1 …', answering),
            icon: 'edit' as const,
            onChoose: open(answering)
          }
        ]
      : []),
    { key: 'new', label: trans.__('New assistant …'), icon: 'plus', onChoose: open('') }
  ];
  return entries.map((entry, place) => ({ ...entry, startsGroup: place === 0 }));
}

/** Asked anew for each notebook, after each run, which may have written one, and when told. */
function useAssistants(panel: Panel, chat: Chat): AssistantChoices {
  const [listed, setListed] = React.useState(NONE);
  const path = useSignal(chat.changed, () => chat.state.notebook_path);
  const isRunning = useSignal(chat.changed, () => chat.state.run !== '');
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  const change = useLastChange();
  React.useEffect(() => {
    if (!isOpen || isRunning) {
      return;
    }
    // An older server has none.
    return takeAnswer(panel.rest.assistants(path), found => {
      setListed(found);
      follow(chat, change, found);
    });
  }, [panel, chat, path, isRunning, isOpen, change]);
  return listed;
}

/** What became of an assistant last; null: nothing since this is shown. */
function useLastChange(): AssistantChange | null {
  const editor = useAssistantEditor();
  const [change, setChange] = React.useState<AssistantChange | null>(null);
  React.useEffect(() => {
    const look = (_: unknown, told: AssistantChange): void => {
      // The last new name counts until the list that follows from it is there.
      setChange(before => (told.from === '' && before !== null ? { ...before } : told));
    };
    editor?.changed.connect(look);
    return () => {
      editor?.changed.disconnect(look);
    };
  }, [editor]);
  return change;
}

/** A chat goes on with what its assistant is called now, and without one that was deleted. */
function follow({ composer }: Chat, change: AssistantChange | null, found: AssistantChoices): void {
  const { assistant } = composer;
  if (assistant !== '' && assistant === change?.from && !has(found, assistant)) {
    composer.setAssistant(has(found, change.to) ? change.to : '');
  }
}

function has({ assistants }: AssistantChoices, wanted: string): boolean {
  return wanted !== '' && assistants.some(({ name }) => name === wanted);
}
