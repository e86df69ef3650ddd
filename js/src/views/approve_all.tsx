import * as React from 'react';

import type { Block, ToolCard } from '../models/types';
import { Button } from './button';
import { useDelay } from './clock';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';

const ARMED_AFTER_MILLISECONDS = 400;

/** Tools that change cells; how risky a call is comes only when its turn comes. */
const EDITING = new Set(['add_cell', 'edit_cell', 'arrange_cell']);

/** Edits that wait for an answer, now or soon. */
export function waitingEdits(blocks: readonly Block[]): readonly ToolCard[] {
  return blocks.filter((block): block is ToolCard => block.kind === 'tool' && isWaitingEdit(block));
}

function isWaitingEdit({ argumentsText, name, risk, status }: ToolCard): boolean {
  if (status === 'asking') {
    return risk === 'edit';
  }
  const willRun = argumentsText.includes('"run": true');
  return status === 'waiting' && EDITING.has(name) && !willRun;
}

/** Where several edits wait, one button for all of them. */
export function ApproveAll({ blocks }: { blocks: readonly Block[] }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const edits = waitingEdits(blocks);
  const isAsked = edits.some(card => card.status === 'asking');
  const isArmed = useDelay(edits.map(card => card.callId).join(), ARMED_AFTER_MILLISECONDS);
  if (edits.length < 2 || !isAsked || !actions.canAnswer) {
    return null;
  }
  return (
    <div className="cw-approve-all">
      <Button
        kind="primary"
        icon="check"
        aria-disabled={!isArmed}
        onClick={() => {
          if (isArmed) {
            actions.acceptAll(edits.map(card => card.callId));
          }
        }}
      >
        {trans._n('Accept %1 edit', 'Accept all %1 edits', edits.length)}
      </Button>
    </div>
  );
}
