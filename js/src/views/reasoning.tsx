import * as React from 'react';

import type { ReasoningBlock } from '../models/types';
import { Icon } from './icon';
import { useTrans } from './scope';

/** What the model thought before it answered; closed until asked for. */
export const Reasoning = React.memo(function Reasoning({ block }: { block: ReasoningBlock }) {
  const trans = useTrans();
  const [isOpen, setOpen] = React.useState(false);
  return (
    <div className="cw-reasoning">
      <button
        type="button"
        className="cw-disclosure"
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name="thought" />
        <span className={block.isStreaming ? 'cw-shimmer' : ''}>
          {block.isStreaming ? trans.__('Thinking') : trans.__('Thoughts')}
        </span>
        <Icon name="chevron_right" className="cw-chevron" />
      </button>
      {isOpen && <div className="cw-reasoning-text">{block.text}</div>}
    </div>
  );
});
