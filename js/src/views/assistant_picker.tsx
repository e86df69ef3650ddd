import * as React from 'react';

import type { AssistantList } from '../server/answers';
import { Icon } from './icon';
import { Menu, type MenuEntry } from './menu';
import type { Chat, Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';

const NONE: AssistantList = { assistants: [], problems: [] };

/** Who answers in this chat; there is nothing to see where no assistant is written. */
export function AssistantPicker({ panel, chat }: { panel: Panel; chat: Chat }) {
  const trans = useTrans();
  const { composer } = chat;
  const chosen = useSignal(composer.changed, () => composer.assistant);
  const { assistants, problems } = useAssistants(panel, chat);
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
  const isGone = chosen !== '' && assistants.every(({ name }) => name !== chosen);
  const entries: MenuEntry[] = [
    entryOf('', trans.__('No assistant'), ''),
    ...assistants.map(({ name, description }) => entryOf(name, name, description)),
    ...(isGone ? [entryOf(chosen, chosen, trans.__('Its file is not there any more'))] : []),
    ...problems.map(problem => ({
      key: problem,
      label: problem,
      icon: 'warning' as const,
      isDisabled: true,
      onChoose: () => undefined
    }))
  ];
  return (
    <Menu
      label={chosen === '' ? trans.__('Assistant: none') : trans.__('Assistant: %1', chosen)}
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

/** Asked anew for each notebook and after each run, which may have written one. */
function useAssistants(panel: Panel, chat: Chat): AssistantList {
  const [listed, setListed] = React.useState(NONE);
  const path = useSignal(chat.changed, () => chat.state.notebook_path);
  const isRunning = useSignal(chat.changed, () => chat.state.run !== '');
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  React.useEffect(() => {
    if (!isOpen || isRunning) {
      return;
    }
    let isOver = false;
    panel.rest.assistants(path).then(
      found => {
        if (!isOver) {
          setListed(found);
        }
      },
      () => undefined // an older server has none
    );
    return () => {
      isOver = true;
    };
  }, [panel, path, isRunning, isOpen]);
  return listed;
}
