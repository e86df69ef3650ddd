import * as React from 'react';

import { IconButton } from './button';
import { Icon } from './icon';
import { usePins } from './pins';
import { useTrans } from './scope';

/** Keeps a turn in the model's context, and marks one that is kept. */
export function PinButton({ runId }: { runId: string }) {
  const trans = useTrans();
  const { runs, setPinned } = usePins();
  if (runs === null) {
    return null;
  }
  const isPinned = runs.includes(runId);
  return (
    <span className="cw-pin">
      {isPinned && (
        <span className="cw-pin-mark" role="img" aria-label={trans.__('Pinned')}>
          <Icon name="pin" />
        </span>
      )}
      <IconButton
        icon="pin"
        label={trans.__('Pin')}
        title={
          isPinned
            ? trans.__('Unpin: older turns are summed up when the context is full')
            : trans.__("Keep this turn in the model's context however long the chat gets")
        }
        aria-pressed={isPinned}
        onClick={() => {
          setPinned(runId, !isPinned);
        }}
      />
    </span>
  );
}
