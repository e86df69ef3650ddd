import * as React from 'react';

import { Button } from './button';
import { useTrans } from './scope';

interface EditPromptProps {
  readonly text: string;
  /** What the field is called. */
  readonly label: string;
  /** What the button that takes the text over says. */
  readonly action: string;
  /** Null: it stays as it was. */
  readonly onDone: (text: string | null) => void;
}

/** Change a prompt: Enter takes it over, Escape leaves it. */
export function EditPrompt({ text, label, action, onDone }: EditPromptProps) {
  const trans = useTrans();
  const [value, setValue] = React.useState(text);
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  const save = (): void => {
    onDone(value.trim() === '' ? null : value.trim());
  };
  return (
    <div className="cw-instead">
      <textarea
        ref={field}
        className="cw-field"
        rows={rowsOf(value)}
        value={value}
        aria-label={label}
        onChange={event => {
          setValue(event.target.value);
        }}
        onKeyDown={event => {
          if (event.nativeEvent.isComposing) {
            return;
          }
          if (event.key === 'Escape') {
            event.stopPropagation();
            onDone(null);
          } else if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            save();
          }
        }}
      />
      <div className="cw-row">
        <Button kind="primary" onClick={save}>
          {action}
        </Button>
        <Button
          onClick={() => {
            onDone(null);
          }}
        >
          {trans.__('Cancel')}
        </Button>
      </div>
    </div>
  );
}

const LEAST_ROWS = 2;
const MOST_ROWS = 8;

function rowsOf(text: string): number {
  return Math.min(MOST_ROWS, Math.max(LEAST_ROWS, text.split('\n').length));
}
