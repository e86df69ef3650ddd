import * as React from 'react';

import { Icon, IconButton, type IconName } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import { Menu } from '../ui/menu';
import { useAssistantEditor } from '../ui/opening';
import type { Chat, Panel } from './ports';

/** A page in the main area. */
export interface PageLink {
  readonly key: string;
  readonly label: string;
  readonly icon: IconName;
  readonly open: () => void;
}

interface HeaderProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly onSessions: () => void;
  /** The chat has instructions of its own. */
  readonly isInstructed: boolean;
  readonly onInstruct: () => void;
  /** Shows the model settings. */
  readonly onSetUp: () => void;
  /** Pages that the panel leads to. */
  readonly pages: readonly PageLink[];
}

/** Which chat this is, and the way to others. */
export function Header(props: HeaderProps) {
  const { panel, chat, onSessions, isInstructed, onInstruct, onSetUp, pages } = props;
  const trans = useTrans();
  const editor = useAssistantEditor();
  const state = useSignal(chat.changed, () => chat.state);
  const notebook = state.notebook_path.split('/').at(-1) ?? '';
  return (
    <div className="cw-header">
      <div className="cw-header-names">
        <Title
          key={state.id}
          title={state.title}
          canRename={state.id !== ''}
          onRename={title => {
            void panel.renameChat(state.id, title);
          }}
        />
        <span className="cw-header-notebook" title={state.notebook_path}>
          {notebook === '' ? trans.__('No notebook') : notebook}
        </span>
      </div>
      {isInstructed && (
        <IconButton
          icon="note"
          className="cw-instructed"
          label={trans.__('This chat has its own instructions')}
          onClick={onInstruct}
        />
      )}
      <IconButton
        icon="plus"
        label={trans.__('New chat')}
        onClick={() => {
          panel.newChat();
        }}
      />
      <IconButton icon="clock" label={trans.__('Chats')} onClick={onSessions} />
      <Menu
        label={trans.__('More')}
        className="cw-icon-button"
        side="below"
        end
        entries={[
          {
            key: 'instructions',
            label: trans.__('Instructions for this chat …'),
            icon: 'note',
            onChoose: onInstruct
          },
          { key: 'service', label: trans.__('Model settings'), icon: 'key', onChoose: onSetUp },
          ...(editor === null
            ? []
            : [
                {
                  key: 'assistants',
                  label: trans.__('Assistants'),
                  icon: 'person' as const,
                  onChoose: () => {
                    editor.list(state.notebook_path);
                  }
                }
              ]),
          ...pages.map(({ key, label, icon, open }) => ({ key, label, icon, onChoose: open }))
        ]}
      >
        <Icon name="more" />
      </Menu>
    </div>
  );
}

interface TitleProps {
  readonly title: string;
  readonly canRename: boolean;
  readonly onRename: (title: string) => void;
}

/** The chat's title; a click makes it a field. */
function Title({ title, canRename, onRename }: TitleProps) {
  const trans = useTrans();
  const [isEdited, setEdited] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const shown = title === '' ? trans.__('New chat') : title;
  if (!canRename) {
    return <h2 className="cw-title">{shown}</h2>;
  }
  if (isEdited) {
    return (
      <TitleField
        title={title}
        onDone={changed => {
          setEdited(false);
          if (changed !== '' && changed !== title) {
            onRename(changed);
          }
          requestAnimationFrame(() => button.current?.focus());
        }}
      />
    );
  }
  return (
    <h2 className="cw-title">
      <button
        ref={button}
        type="button"
        className="cw-title-button"
        title={trans.__('Rename')}
        onClick={() => {
          setEdited(true);
        }}
      >
        <span>{shown}</span>
        <Icon name="edit" />
      </button>
    </h2>
  );
}

interface TitleFieldProps {
  readonly title: string;
  /** Given the old title when it was not to be changed. */
  readonly onDone: (title: string) => void;
}

export function TitleField({ title, onDone }: TitleFieldProps) {
  const trans = useTrans();
  const [value, setValue] = React.useState(title);
  const field = React.useRef<HTMLInputElement>(null);
  const isDone = React.useRef(false);
  React.useEffect(() => {
    field.current?.select();
    field.current?.focus();
  }, []);
  const done = (text: string): void => {
    // Taking the field away blurs it, which would be a second answer.
    if (!isDone.current) {
      isDone.current = true;
      onDone(text);
    }
  };
  return (
    <input
      ref={field}
      className="cw-field"
      value={value}
      aria-label={trans.__('Title')}
      onChange={event => {
        setValue(event.target.value);
      }}
      onBlur={() => {
        done(value.trim());
      }}
      onKeyDown={event => {
        if (event.nativeEvent.isComposing) {
          return;
        }
        if (event.key === 'Enter') {
          done(value.trim());
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          done(title);
        }
      }}
    />
  );
}
