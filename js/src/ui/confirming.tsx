import * as React from 'react';

import { Button } from './button';
import { useFocus, useTrans } from './hooks';

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
