import * as React from 'react';

import { formatCount } from '../models/figures';
import type { CompactionBlock } from '../models/types';
import { useTrans } from './scope';

/** Where the conversation was made shorter: what is above it the model has only in part. */
export function CompactionLine({ block }: { block: CompactionBlock }) {
  const trans = useTrans();
  const before = formatCount(block.tokensBefore);
  const after = formatCount(block.tokensAfter);
  return (
    <p className="cw-compaction">
      <span>{trans.__('Compacted: about %1 → %2 tokens', before, after)}</span>
    </p>
  );
}
