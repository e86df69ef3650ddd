import * as React from 'react';

import { Icon, IconButton, type IconName } from '../ui/button';
import { useTrans } from '../ui/hooks';
import { type NameSource, useSummary } from './completion';
import type { ContextItem } from '../chat/types';

interface ChipWords {
  readonly icon: IconName;
  readonly label: string;
  readonly title: string;
}

function chipWords(item: ContextItem, trans: ReturnType<typeof useTrans>): ChipWords {
  switch (item.kind) {
    case 'variable':
      return { icon: 'variable', label: item.name, title: trans.__('Variable %1', item.name) };
    case 'cell':
      return { icon: 'cell', label: firstLine(item.text), title: item.text };
    case 'selection':
      return { icon: 'code', label: trans.__('Selection'), title: item.text };
    case 'error':
      return { icon: 'error', label: firstLine(item.text), title: item.text };
    case 'file':
      return { icon: 'file', label: item.name, title: item.name };
    default:
      return item satisfies never;
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

interface ChipsProps {
  readonly items: readonly ContextItem[];
  /** Names of files on their way to the server. */
  readonly uploading: readonly string[];
  readonly source: NameSource;
  /** Whether it is asked if a file is to go into the library instead. */
  readonly isAsked: (item: ContextItem) => boolean;
  readonly onChoose: (choice: 'attach' | 'library') => void;
  readonly onRemove: (item: ContextItem) => void;
}

/** What goes along with the prompt. */
export function Chips({ items, uploading, ...rest }: ChipsProps) {
  const trans = useTrans();
  if (items.length + uploading.length === 0) {
    return null;
  }
  return (
    <ul className="cw-chips" aria-label={trans.__('Sent with the prompt')}>
      {items.map(item => (
        <Chip key={JSON.stringify(item)} item={item} {...rest} />
      ))}
      {uploading.map(name => (
        <li key={`uploading:${name}`} className="cw-chip">
          <span className="cw-spinner" />
          <span>{name}</span>
          <span className="cw-hidden">{trans.__('is being uploaded')}</span>
        </li>
      ))}
    </ul>
  );
}

interface ChipProps extends Omit<ChipsProps, 'items' | 'uploading'> {
  readonly item: ContextItem;
}

function Chip({ item, source, isAsked, onChoose, onRemove }: ChipProps) {
  const trans = useTrans();
  const [isLookedAt, setLookedAt] = React.useState(false);
  const { icon, label, title } = chipWords(item, trans);
  return (
    <li
      className={`cw-chip cw-mod-${item.kind}`}
      title={item.kind === 'variable' ? undefined : title}
      onMouseEnter={() => {
        setLookedAt(true);
      }}
      onMouseLeave={() => {
        setLookedAt(false);
      }}
    >
      <Icon name={icon} />
      <span>{label}</span>
      <IconButton
        icon="close"
        label={trans.__('Remove %1', label)}
        onClick={() => {
          onRemove(item);
        }}
      />
      {isAsked(item) && <Question label={label} onChoose={onChoose} />}
      {isLookedAt && item.kind === 'variable' && <Hover name={item.name} source={source} />}
    </li>
  );
}

interface QuestionProps extends Pick<ChipsProps, 'onChoose'> {
  readonly label: string;
}

/** Asks where a document is to go; until there is an answer it is attached. */
function Question({ label, onChoose }: QuestionProps) {
  const trans = useTrans();
  return (
    <div
      className="cw-chip-question"
      role="group"
      aria-label={trans.__('Attach %1, or add it to the library?', label)}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onChoose('attach');
        }
      }}
    >
      <button
        type="button"
        className="cw-chip-answer"
        onClick={() => {
          onChoose('attach');
        }}
      >
        {trans.__('Attach')}
      </button>
      <button
        type="button"
        className="cw-chip-answer"
        title={trans.__('The agent looks it up where a question fits, in every chat')}
        onClick={() => {
          onChoose('library');
        }}
      >
        {trans.__('Add to library')}
      </button>
    </div>
  );
}

function Hover({ name, source }: { name: string; source: NameSource }) {
  const text = useSummary(name, source);
  return text === '' ? null : <pre className="cw-popup cw-summary">{text}</pre>;
}
