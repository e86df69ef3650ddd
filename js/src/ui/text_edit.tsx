import * as React from 'react';

import { Button } from './button';
import { useFocus, useTrans } from './hooks';

/** As many rows as the text has lines, within limits. */
export function rowsOf(text: string, least: number, most: number): number {
  return Math.min(most, Math.max(least, text.split('\n').length));
}

/** What keys do in a form: Ctrl+Enter saves it, Escape leaves it. */
export function saveOrLeave(save: () => void, leave: () => void): React.KeyboardEventHandler {
  return event => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      leave();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      save();
    }
  };
}

interface TextEditProps {
  readonly text: string;
  readonly label: string;
  readonly placeholder?: string;
  readonly rows: (text: string) => number;
  /** What the button that takes the text over says. */
  readonly action: string;
  /** The button is there, and not for now. */
  readonly isOff?: (text: string) => boolean;
  readonly className?: string;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
}

/** A text to write or change: Enter takes it over, Escape leaves it. */
export function TextEdit(props: TextEditProps) {
  const { text: given, label, placeholder, rows, action, isOff, onSave, onCancel } = props;
  const { className = 'cw-instead' } = props;
  const trans = useTrans();
  const [text, setText] = React.useState(given);
  const field = useFocus<HTMLTextAreaElement>();
  const save = (): void => {
    onSave(text.trim());
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      onCancel();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      save();
    } else {
      return;
    }
    event.preventDefault();
    // Keys of what is around it, such as Approve's and Reject's, must not act from here.
    event.stopPropagation();
  };
  return (
    <div className={className}>
      <textarea
        ref={field}
        className="cw-field"
        rows={rows(text)}
        value={text}
        aria-label={label}
        placeholder={placeholder}
        onChange={event => {
          setText(event.target.value);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="cw-row">
        <Button kind="primary" aria-disabled={isOff?.(text)} onClick={save}>
          {action}
        </Button>
        <Button onClick={onCancel}>{trans.__('Cancel')}</Button>
      </div>
    </div>
  );
}
