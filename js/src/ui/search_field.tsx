import * as React from 'react';

import { Icon } from './button';

const PAUSE_MILLISECONDS = 250;

interface SearchProps {
  readonly label: string;
  readonly field?: React.RefObject<HTMLInputElement>;
  readonly value: string;
  /** Given the text once the person pauses. */
  readonly onSearch: (text: string) => void;
}

/** A field for words to look for. */
export function SearchField({ label, field, value, onSearch }: SearchProps) {
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
    <div className="cw-search">
      <Icon name="search" />
      <input
        ref={field}
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
