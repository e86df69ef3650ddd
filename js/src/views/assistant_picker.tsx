import * as React from 'react';

import type { AssistantChoices, UnusableAssistant } from '../server/answers';
import { type AssistantChange, useAssistantEditor } from './assistant_editor';
import { Icon } from './icon';
import { Menu, type MenuEntry } from './menu';
import type { Chat, Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';

const NONE: AssistantChoices = { assistants: [], problems: [] };

/** Who answers in this chat; there is nothing to see where no assistant is written. */
export function AssistantPicker({ panel, chat }: { panel: Panel; chat: Chat }) {
  const trans = useTrans();
  const { composer } = chat;
  const chosen = useSignal(composer.changed, () => composer.assistant);
  const listed = useAssistants(panel, chat);
  const { assistants, problems, unusable = [] } = listed;
  const unchosen = assistants.find(({ is_default: isDefault }) => isDefault === true)?.name ?? '';
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
  if (editor === null || (listed.places ?? []).length === 0) {
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
    let isOver = false;
    panel.rest.assistants(path).then(
      found => {
        if (!isOver) {
          setListed(found);
          follow(chat, change, found);
        }
      },
      () => undefined // an older server has none
    );
    return () => {
      isOver = true;
    };
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
