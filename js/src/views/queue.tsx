import * as React from 'react';

import type { QueuedPrompt } from '../server/frames';
import { Button, IconButton } from './button';
import { EditPrompt } from './edit_prompt';
import { Icon } from './icon';
import type { Chat } from './ports';
import { useTrans } from './scope';

interface QueueProps {
  readonly chat: Chat;
  readonly prompts: readonly QueuedPrompt[];
  readonly isPaused: boolean;
}

/** Prompts that wait for the run to end. */
export function Queue({ chat, prompts, isPaused }: QueueProps) {
  const trans = useTrans();
  if (prompts.length === 0) {
    return null;
  }
  return (
    <section className="cw-queue" aria-label={trans.__('Waiting prompts')}>
      {isPaused && (
        <div className="cw-queue-paused">
          <Icon name="pause" />
          <span>{trans.__('These wait, because the last run was stopped or failed.')}</span>
          <Button
            onClick={() => {
              chat.editQueue('', 'resume');
            }}
          >
            {trans.__('Resume')}
          </Button>
        </div>
      )}
      <ol>
        {prompts.map((prompt, index) => (
          <Waiting
            key={prompt.id}
            chat={chat}
            prompt={prompt}
            position={index}
            count={prompts.length}
          />
        ))}
      </ol>
    </section>
  );
}

interface WaitingProps {
  readonly chat: Chat;
  readonly prompt: QueuedPrompt;
  readonly position: number;
  readonly count: number;
}

function Waiting({ chat, prompt, position, count }: WaitingProps) {
  const trans = useTrans();
  const [isEdited, setEdited] = React.useState(false);
  if (isEdited) {
    return (
      <li className="cw-queued">
        <EditPrompt
          text={prompt.prompt}
          label={trans.__('Waiting prompt')}
          action={trans.__('Save')}
          onDone={text => {
            setEdited(false);
            if (text !== null && text !== prompt.prompt) {
              chat.editQueue(prompt.id, 'edit', { prompt: text });
            }
          }}
        />
      </li>
    );
  }
  const move = (by: number) => () => {
    chat.editQueue(prompt.id, 'move', { position: position + by });
  };
  return (
    <li className="cw-queued">
      <span className="cw-queued-text" title={prompt.prompt}>
        {prompt.prompt}
      </span>
      <span className="cw-queued-actions">
        {count > 1 && (
          <>
            <IconButton
              icon="up"
              label={trans.__('Move up')}
              disabled={position === 0}
              onClick={move(-1)}
            />
            <IconButton
              icon="down"
              label={trans.__('Move down')}
              disabled={position === count - 1}
              onClick={move(1)}
            />
          </>
        )}
        <IconButton
          icon="edit"
          label={trans.__('Edit this prompt')}
          onClick={() => {
            setEdited(true);
          }}
        />
        <IconButton
          icon="play"
          label={trans.__('Stop the run and send this now')}
          onClick={() => {
            chat.editQueue(prompt.id, 'send_now');
          }}
        />
        <IconButton
          icon="close"
          label={trans.__('Remove this prompt')}
          onClick={() => {
            chat.editQueue(prompt.id, 'remove');
          }}
        />
      </span>
    </li>
  );
}
