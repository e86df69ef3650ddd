import * as React from 'react';

import type { Turn } from '../models/types';
import { IconButton } from './button';
import { EditPrompt } from './edit_prompt';
import { PinButton } from './pin_button';
import { PromptBubble } from './prompt_bubble';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';

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
