import * as React from 'react';

import { Button } from '../views/button';

interface AddFormProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  /** Whether it was added; the field keeps what was not. */
  readonly onAdd: (text: string) => Promise<boolean>;
  /** What else is chosen of it. */
  readonly children?: React.ReactNode;
}

/** A line for something new. */
export function AddForm({ label, placeholder, button, onAdd, children }: AddFormProps) {
  const [text, setText] = React.useState('');
  const canAdd = text.trim() !== '';
  const add = async (): Promise<void> => {
    const wanted = text.trim();
    if (wanted !== '' && (await onAdd(wanted))) {
      // Whoever types fast has begun with the next one.
      setText(now => (now.trim() === wanted ? '' : now));
    }
  };
  return (
    <form
      className="cw-adding"
      onSubmit={event => {
        event.preventDefault();
        void add();
      }}
    >
      <label className="cw-chooser cw-mod-wide">
        <span className="cw-muted">{label}</span>
        <input
          className="cw-field"
          value={text}
          placeholder={placeholder}
          onChange={event => {
            setText(event.target.value);
          }}
        />
      </label>
      {children}
      <Button icon="plus" aria-disabled={!canAdd} onClick={() => void add()}>
        {button}
      </Button>
    </form>
  );
}
