/** What pages are worked with: tabs, filters, and the question before something is gone. */
import * as React from 'react';

import { Button, Icon } from '../ui/button';
import { useFocus, useTrans } from '../ui/hooks';

export interface Tab<Key extends string> {
  readonly key: Key;
  readonly label: string;
}

interface TabsProps<Key extends string> {
  /** What they choose between, for people who cannot see it. */
  readonly label: string;
  readonly tabs: readonly Tab<Key>[];
  readonly chosen: Key;
  /** Id of what they show. */
  readonly panel: string;
  readonly onChoose: (key: Key) => void;
}

/** Tabs that the arrow keys move between. */
export function Tabs<Key extends string>(props: TabsProps<Key>) {
  const { label, tabs, chosen, panel, onChoose } = props;
  const list = React.useRef<HTMLDivElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const place = tabs.findIndex(({ key }) => key === chosen);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = step === undefined ? undefined : tabs.at((place + step) % tabs.length);
    if (next !== undefined) {
      event.preventDefault();
      onChoose(next.key);
      list.current?.querySelector<HTMLElement>(`[data-tab='${next.key}']`)?.focus();
    }
  };
  return (
    <div ref={list} className="cw-tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {tabs.map(tab => (
        <button
          key={tab.key}
          type="button"
          role="tab"
          data-tab={tab.key}
          aria-selected={tab.key === chosen}
          aria-controls={panel}
          tabIndex={tab.key === chosen ? 0 : -1}
          onClick={() => {
            onChoose(tab.key);
          }}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}

interface ConfirmingProps {
  /** What is about to happen, as a question. */
  readonly question: string;
  /** What the button that does it says. */
  readonly label: string;
  readonly onDo: () => void;
  readonly onKeep: () => void;
}

/** Asks before something is gone; the focus is on the way out. */
export function Confirming({ question, label, onDo, onKeep }: ConfirmingProps) {
  const trans = useTrans();
  const keep = useFocus<HTMLButtonElement>();
  return (
    <div
      className="cw-confirming"
      role="group"
      aria-label={question}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.stopPropagation();
          onKeep();
        }
      }}
    >
      <span>{question}</span>
      <Button kind="danger" onClick={onDo}>
        {label}
      </Button>
      <Button ref={keep} onClick={onKeep}>
        {trans.__('Keep')}
      </Button>
    </div>
  );
}

const PAUSE_MILLISECONDS = 250;

interface SearchProps {
  readonly label: string;
  readonly value: string;
  /** Given the text once the person pauses. */
  readonly onSearch: (text: string) => void;
}

/** A field for words to look for. */
export function SearchField({ label, value, onSearch }: SearchProps) {
  const [text, setText] = React.useState(value);
  const latest = React.useRef(onSearch);
  latest.current = onSearch;
  React.useEffect(() => {
    if (text === value) {
      return;
    }
    const timer = setTimeout(() => {
      latest.current(text);
    }, PAUSE_MILLISECONDS);
    return () => {
      clearTimeout(timer);
    };
  }, [text, value]);
  return (
    <div className="cw-search cw-page-search">
      <Icon name="search" />
      <input
        className="cw-field"
        type="search"
        value={text}
        aria-label={label}
        placeholder={label}
        onChange={event => {
          setText(event.target.value);
        }}
      />
    </div>
  );
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

interface ChooserProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly Choice[];
  /** False: one of them holds. */
  readonly hasAll?: boolean;
  readonly onChoose: (value: string) => void;
}

/** A choice among a few, or all of them as well; not there when there is nothing to choose. */
export function Chooser({ label, value, choices, hasAll = true, onChoose }: ChooserProps) {
  const trans = useTrans();
  if (choices.length < 2 && value === '') {
    return null;
  }
  return (
    <label className="cw-chooser">
      <span className="cw-muted">{label}</span>
      <select
        className="cw-field"
        value={value}
        onChange={event => {
          onChoose(event.target.value);
        }}
      >
        {hasAll && <option value="">{trans.__('All')}</option>}
        {choices.map(choice => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Each different text once, in order, as what can be chosen. */
export function choicesOf(texts: readonly string[]): readonly Choice[] {
  const unique = [...new Set(texts)].filter(text => text !== '').sort();
  return unique.map(text => ({ value: text, label: text }));
}
