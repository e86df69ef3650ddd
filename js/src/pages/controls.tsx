/** What pages are worked with: tabs and filters. */
import * as React from 'react';

import { useTrans } from '../ui/hooks';

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
