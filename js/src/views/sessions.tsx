import * as React from 'react';

import type { ChatSummary } from '../models/types';
import { IconButton } from './button';
import { Icon } from './icon';
import type { Panel } from './ports';
import { useTrans } from './scope';
import { SessionRow } from './session_row';
import { useSignal } from './signal';

const SEARCH_AFTER_MILLISECONDS = 200;
/** So often the server is asked how chats in which something goes on have fared. */
const LOOK_AGAIN_MILLISECONDS = 3000;

interface SessionsProps {
  readonly panel: Panel;
  readonly onClose: () => void;
}

/** All chats: find one, go on with it, rename, export or delete it. */
export function Sessions({ panel, onClose }: SessionsProps) {
  const trans = useTrans();
  const chats = useSignal(panel.chatsChanged, () => panel.chats);
  const notebook = useSignal(panel.notebookChanged, () => panel.notebook);
  const shown = useSignal(panel.chatChanged, () => panel.chat.id);
  const [query, setQuery] = React.useState('');
  const field = React.useRef<HTMLInputElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  React.useEffect(() => {
    const timer = setTimeout(
      () => {
        void panel.refreshChats(query.trim());
      },
      query === '' ? 0 : SEARCH_AFTER_MILLISECONDS
    );
    return () => {
      clearTimeout(timer);
    };
  }, [panel, query]);
  const isAnyActive = chats.some(({ activity }) => activity !== 'none');
  React.useEffect(() => {
    if (!isAnyActive) {
      return;
    }
    const timer = setInterval(() => {
      void panel.refreshChats();
    }, LOOK_AGAIN_MILLISECONDS);
    return () => {
      clearInterval(timer);
    };
  }, [panel, isAnyActive]);
  const path = notebook?.path ?? '';
  const here = chats.filter(chat => path !== '' && chat.notebookPath === path);
  const others = chats.filter(chat => !here.includes(chat));
  const list = (title: string, entries: readonly ChatSummary[]): React.ReactNode =>
    entries.length > 0 && (
      <section className="cw-sessions-part">
        <h3>{title}</h3>
        <ul>
          {entries.map(chat => (
            <SessionRow
              key={chat.id}
              panel={panel}
              chat={chat}
              isShown={chat.id === shown}
              isHere={here.includes(chat)}
              onOpen={() => {
                panel.openChat(chat.id);
                onClose();
              }}
              onDelete={() => {
                field.current?.focus(); // the button that was pressed is gone
                void panel.deleteChat(chat.id);
              }}
            />
          ))}
        </ul>
      </section>
    );
  return (
    <div
      className="cw-sessions"
      role="region"
      aria-label={trans.__('Chats')}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <div className="cw-header">
        <h2 className="cw-title">{trans.__('Chats')}</h2>
        <IconButton icon="close" label={trans.__('Back to the chat')} onClick={onClose} />
      </div>
      <div className="cw-search">
        <Icon name="search" />
        <input
          ref={field}
          className="cw-field"
          type="search"
          value={query}
          aria-label={trans.__('Search titles, prompts and answers')}
          placeholder={trans.__('Search titles, prompts and answers')}
          onChange={event => {
            setQuery(event.target.value);
          }}
        />
      </div>
      <div className="cw-sessions-list">
        {list(trans.__('This notebook'), here)}
        {list(here.length > 0 ? trans.__('Other chats') : trans.__('All chats'), others)}
        {chats.length === 0 && (
          <p className="cw-muted cw-nothing">
            {query === '' ? trans.__('No chats yet') : trans.__('No chat fits')}
          </p>
        )}
      </div>
    </div>
  );
}
