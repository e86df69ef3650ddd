import * as React from 'react';

import type { Turn } from '../models/types';
import { Icon } from './icon';
import { useTrans } from './scope';

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
