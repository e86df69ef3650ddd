import * as React from 'react';

import type { ChatSummary } from '../chat/types';
import type { ExportFormat } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { Icon, IconButton } from '../ui/button';
import { Confirming } from '../ui/confirming';
import { saveAs } from '../ui/copy_and_save';
import { useFocus, useSignal, useTrans } from '../ui/hooks';
import { Menu } from '../ui/menu';
import { SearchField } from '../ui/search_field';
import { formatMoment } from '../ui/words';
import { TitleField } from './header';
import type { Panel } from './ports';

const ENDINGS: Record<ExportFormat, string> = { markdown: 'md', ipynb: 'ipynb', html: 'html' };

interface SessionRowProps {
  readonly panel: Panel;
  readonly chat: ChatSummary;
  readonly isShown: boolean;
  /** It belongs to the notebook that the person looks at. */
  readonly isHere: boolean;
  readonly onOpen: () => void;
  readonly onDelete: () => void;
}

function SessionRow({ panel, chat, isShown, isHere, onOpen, onDelete }: SessionRowProps) {
  const trans = useTrans();
  const [state, setState] = React.useState<'shown' | 'renamed' | 'deleted'>('shown');
  const [problem, setProblem] = React.useState('');
  const title = chat.title === '' ? trans.__('Untitled chat') : chat.title;
  const show = (): void => {
    setState('shown');
  };
  const exportAs = (format: ExportFormat): void => {
    setProblem('');
    panel.rest.exportChat(chat.id, format).then(
      blob => {
        saveAs(blob, `${title}.${ENDINGS[format]}`);
      },
      (error: unknown) => {
        setProblem(complaintOf(error));
      }
    );
  };
  if (state === 'renamed') {
    return (
      <li className="cw-session">
        <TitleField
          title={chat.title}
          onDone={changed => {
            show();
            if (changed !== '' && changed !== chat.title) {
              void panel.renameChat(chat.id, changed);
            }
          }}
        />
      </li>
    );
  }
  if (state === 'deleted') {
    return (
      <li className="cw-session">
        <Confirming
          question={trans.__('Delete "%1" and the record of its runs? The notebook stays.', title)}
          label={trans.__('Delete')}
          onDo={() => {
            show();
            onDelete();
          }}
          onKeep={show}
        />
      </li>
    );
  }
  const notebook = isHere ? '' : (chat.notebookPath.split('/').at(-1) ?? '');
  return (
    <li className={`cw-session ${isShown ? 'cw-mod-shown' : ''}`}>
      <button
        type="button"
        className="cw-session-open"
        onClick={onOpen}
        {...(isShown && { 'aria-current': 'true' })}
      >
        <span className="cw-session-title">{title}</span>
        <span className="cw-session-details">
          <ActivityMark activity={chat.activity} />
          <span>{formatMoment(chat.updatedAt)}</span>
          <span>{trans._n('%1 prompt', '%1 prompts', chat.runs)}</span>
          {notebook !== '' && <span title={chat.notebookPath}>{notebook}</span>}
        </span>
      </button>
      <Menu
        label={trans.__('More for %1', title)}
        className="cw-icon-button"
        side="below"
        end
        entries={[
          {
            key: 'rename',
            icon: 'edit',
            label: trans.__('Rename'),
            onChoose: () => {
              setState('renamed');
            }
          },
          ...(['markdown', 'ipynb', 'html'] as const).map(format => ({
            key: format,
            icon: 'download' as const,
            label: exportWords(format, trans),
            onChoose: () => {
              exportAs(format);
            }
          })),
          {
            key: 'delete',
            icon: 'trash',
            label: trans.__('Delete …'),
            onChoose: () => {
              setState('deleted');
            }
          }
        ]}
      >
        <Icon name="more" />
      </Menu>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
    </li>
  );
}

function ActivityMark({ activity }: Pick<ChatSummary, 'activity'>) {
  const trans = useTrans();
  switch (activity) {
    case 'none':
      return null;
    case 'running':
      return (
        <span className="cw-session-activity">
          <span className="cw-spinner" /> {trans.__('Running')}
        </span>
      );
    case 'waiting_for_person':
      return (
        <span className="cw-session-activity">
          <Icon name="warning" /> {trans.__('Waits for you')}
        </span>
      );
    default:
      return activity satisfies never;
  }
}

function exportWords(format: ExportFormat, trans: ReturnType<typeof useTrans>): string {
  const words: Record<ExportFormat, string> = {
    markdown: trans.__('Export as Markdown'),
    ipynb: trans.__('Export as notebook'),
    html: trans.__('Export as web page')
  };
  return words[format];
}

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
  const field = useFocus<HTMLInputElement>();
  React.useEffect(() => {
    void panel.refreshChats(query.trim());
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
        if (event.key === 'Escape' && !event.nativeEvent.isComposing) {
          event.stopPropagation();
          onClose();
        }
      }}
    >
      <div className="cw-header">
        <h2 className="cw-title">{trans.__('Chats')}</h2>
        <IconButton icon="close" label={trans.__('Back to the chat')} onClick={onClose} />
      </div>
      <SearchField
        label={trans.__('Search titles, prompts and answers')}
        field={field}
        value={query}
        onSearch={setQuery}
      />
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
