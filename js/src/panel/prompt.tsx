import * as React from 'react';

import type { Turn } from '../chat/types';
import { Icon, IconButton } from '../ui/button';
import { useTrans } from '../ui/hooks';
import { rowsOf, TextEdit } from '../ui/text_edit';
import { PinButton } from './pins';
import { useTurnActions } from './turn_actions';

const LONG_CHARACTERS = 600;

interface PromptBubbleProps {
  readonly turn: Pick<Turn, 'prompt' | 'files' | 'notes'>;
  /** What can be done with it. */
  readonly children?: React.ReactNode;
}

/** What the person asked. A long prompt shows its beginning. */
export function PromptBubble({ turn, children }: PromptBubbleProps) {
  const trans = useTrans();
  const isLong = turn.prompt.length > LONG_CHARACTERS;
  const [isOpen, setOpen] = React.useState(false);
  const text = isLong && !isOpen ? `${turn.prompt.slice(0, LONG_CHARACTERS)} …` : turn.prompt;
  return (
    <div className="cw-prompt">
      <h3 className="cw-hidden">{trans.__('You asked')}</h3>
      {turn.notes.length > 0 && (
        <ul className="cw-prompt-notes" aria-label={trans.__('Notes that went with it')}>
          {turn.notes.map((note, number) => (
            <li key={number} dir="auto">
              {note}
            </li>
          ))}
        </ul>
      )}
      <div className="cw-prompt-line">
        {children}
        <div className="cw-prompt-text" dir="auto">
          {text}
        </div>
      </div>
      {isLong && (
        <button
          type="button"
          className="cw-link"
          aria-expanded={isOpen}
          onClick={() => {
            setOpen(!isOpen);
          }}
        >
          {isOpen ? trans.__('Show less') : trans.__('Show all')}
        </button>
      )}
      {turn.files.length > 0 && (
        <ul className="cw-chips" aria-label={trans.__('Attached files')}>
          {turn.files.map(file => (
            <li key={file} className="cw-chip">
              <Icon name="file" />
              <span>{file.split('/').at(-1)}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

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
  return (
    <TextEdit
      text={text}
      label={label}
      rows={text => rowsOf(text, 2, 8)}
      action={action}
      onSave={changed => {
        onDone(changed === '' ? null : changed);
      }}
      onCancel={() => {
        onDone(null);
      }}
    />
  );
}

/** The prompt of a turn, which can be changed and asked anew. */
export function AskedPrompt({ turn }: { turn: Turn }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [isEdited, setEdited] = React.useState(false);
  const button = React.useRef<HTMLButtonElement>(null);
  const wasEdited = React.useRef(false);
  React.useEffect(() => {
    if (wasEdited.current && !isEdited) {
      button.current?.focus();
    }
    wasEdited.current = isEdited;
  }, [isEdited]);
  if (isEdited) {
    return (
      <EditPrompt
        text={turn.prompt}
        label={trans.__('Changed prompt')}
        action={trans.__('Ask again')}
        onDone={text => {
          setEdited(false);
          if (text !== null) {
            actions.replace(turn, text);
          }
        }}
      />
    );
  }
  return (
    <PromptBubble turn={turn}>
      {turn.supersededBy === '' && (
        <span className="cw-prompt-actions">
          <IconButton
            ref={button}
            icon="edit"
            className="cw-prompt-edit"
            label={trans.__('Edit this prompt and ask it anew')}
            onClick={() => {
              setEdited(true);
            }}
          />
          <PinButton runId={turn.runId} />
        </span>
      )}
    </PromptBubble>
  );
}
