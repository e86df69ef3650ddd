import * as React from 'react';

import { formatCount } from '../models/figures';
import type { Compaction } from '../models/types';
import { useTrans } from './scope';

/** Where the conversation was made shorter: what is above it the model has only in part. */
export function CompactionLine({ compaction }: { compaction: Compaction }) {
  const trans = useTrans();
  const before = formatCount(compaction.tokensBefore);
  const after = formatCount(compaction.tokensAfter);
  return (
    <p className="cw-compaction">
      <span>{trans.__('Compacted: about %1 → %2 tokens', before, after)}</span>
    </p>
  );
}
