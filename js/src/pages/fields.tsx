/** What filters are made of. */
import * as React from 'react';

import { Icon } from '../views/icon';
import { useTrans } from '../views/scope';

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

export interface Choice {
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
