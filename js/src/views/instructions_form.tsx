import * as React from 'react';

import { Button } from './button';
import type { ChatInstructions } from './chat_instructions';
import { useTrans } from './scope';

const LIMIT_CHARACTERS = 1024;
const LEAST_ROWS = 3;
const MOST_ROWS = 10;

interface InstructionsFormProps {
  readonly instructions: ChatInstructions;
  readonly onClose: () => void;
}

/** What a chat's own instructions are written in: Ctrl+Enter saves, Escape leaves. */
export function InstructionsForm({ instructions, onClose }: InstructionsFormProps) {
  const trans = useTrans();
  const id = React.useId();
  const [draft, setDraft] = React.useState<string | null>(null);
  const [problem, setProblem] = React.useState('');
  const field = React.useRef<HTMLTextAreaElement>(null);
  React.useEffect(() => {
    field.current?.focus();
  }, []);
  const text = draft ?? instructions.text;
  const count = Array.from(text.trim()).length;
  const isTooLong = count > LIMIT_CHARACTERS;
  const save = (): void => {
    if (!isTooLong) {
      setProblem('');
      instructions.save(text).then(onClose, (error: unknown) => {
        setProblem(error instanceof Error ? error.message : String(error));
      });
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      onClose();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      save();
    }
  };
  return (
    <section
      className="cw-instructions cw-entry"
      aria-labelledby={`${id}label`}
      onKeyDown={onKeyDown}
    >
      <label id={`${id}label`} htmlFor={`${id}field`}>
        {trans.__('Instructions for this chat')}
      </label>
      <textarea
        ref={field}
        id={`${id}field`}
        className="cw-field"
        rows={rowsOf(text)}
        value={text}
        placeholder={trans.__('Such as: answer in one sentence, use polars')}
        aria-describedby={`${id}about ${id}count`}
        aria-invalid={isTooLong}
        onChange={event => {
          setDraft(event.target.value);
        }}
      />
      <p id={`${id}about`} className="cw-muted">
        {trans.__(
          "They replace the assistant's from the next prompt on. Leave it empty for the assistant's."
        )}
      </p>
      <div className="cw-row">
        <Button kind="primary" aria-disabled={isTooLong} onClick={save}>
          {trans.__('Save')}
        </Button>
        <Button onClick={onClose}>{trans.__('Cancel')}</Button>
        <span className="cw-spring" />
        <span id={`${id}count`} className={isTooLong ? 'cw-problem' : 'cw-muted'}>
          {trans.__('%1 of %2 characters', count, LIMIT_CHARACTERS)}
        </span>
      </div>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}

function rowsOf(text: string): number {
  return Math.min(MOST_ROWS, Math.max(LEAST_ROWS, text.split('\n').length));
}
