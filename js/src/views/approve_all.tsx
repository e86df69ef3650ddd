import * as React from 'react';

import { loadsFromElsewhere } from '../markdown/loads';
import type { Block, ToolCard } from '../models/types';
import { AskedCall } from './asked_call';
import { Button } from './button';
import { useDelay } from './clock';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';
import { cardTitle } from './words';

const ARMED_AFTER_MILLISECONDS = 400;

/** Tools that change cells; how risky a call is comes only when its turn comes. */
const EDITING = new Set(['add_cell', 'edit_cell', 'arrange_cell']);
/** What is asked about by itself, in every case. */
const ALONE = ({ code, given, language }: ToolCard): boolean =>
  given.run === true ||
  given.action === 'delete' ||
  (language !== 'python' && loadsFromElsewhere(code));

/** Edits that wait for an answer, now or soon. */
export function waitingEdits(blocks: readonly Block[]): readonly ToolCard[] {
  return blocks.filter((block): block is ToolCard => block.kind === 'tool' && isWaitingEdit(block));
}

function isWaitingEdit(card: ToolCard): boolean {
  return card.status === 'asking'
    ? card.risk === 'edit'
    : card.status === 'waiting' && EDITING.has(card.name) && !ALONE(card);
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
  const others = edits.filter(card => card.status === 'waiting');
  return (
    <div className="cw-approve-all" role="group" aria-label={trans.__('All edits that wait')}>
      {others.map(card => (
        <div key={card.callId} className="cw-approve-also">
          <p className="cw-muted">{cardTitle(card, trans)}</p>
          <AskedCall card={card} />
        </div>
      ))}
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
