import * as React from 'react';

import { formatSeconds } from '../models/figures';
import type { ToolCard } from '../models/types';
import { Icon } from './icon';
import { useTrans } from './scope';
import { ToolCardView } from './tool_card';

interface ToolGroupProps {
  readonly cards: readonly ToolCard[];
  readonly runId: string;
}

/** Several settled calls in a row, folded into one line. */
export function ToolGroup({ cards, runId }: ToolGroupProps) {
  const trans = useTrans();
  const [isOpen, setOpen] = React.useState(false);
  const body = React.useId();
  const failed = cards.filter(card => card.status === 'error').length;
  const seconds = cards.reduce((sum, card) => sum + card.durationSeconds, 0);
  return (
    <div className="cw-group">
      <button
        type="button"
        className="cw-card-header"
        aria-expanded={isOpen}
        aria-controls={body}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name="list" className="cw-card-kind" />
        <span className="cw-card-label">
          <span>{trans._n('%1 step', '%1 steps', cards.length)}</span>
          {failed > 0 && (
            <span className="cw-group-failed">{trans._n('%1 failed', '%1 failed', failed)}</span>
          )}
        </span>
        <span className="cw-card-time">{formatSeconds(seconds)}</span>
        <Icon name="chevron_right" className="cw-chevron" />
      </button>
      <div id={body} className="cw-group-body" hidden={!isOpen}>
        {isOpen && cards.map(card => <ToolCardView key={card.callId} card={card} runId={runId} />)}
      </div>
    </div>
  );
}
