import * as React from 'react';

import { Button } from '../views/button';
import { useTrans } from '../views/scope';

interface ShowMoreProps {
  /** False: all is shown, and there is no button. */
  readonly isThere: boolean;
  readonly onMore: () => Promise<void>;
}

/** Below a table that has more rows than are shown. */
export function ShowMore({ isThere, onMore }: ShowMoreProps) {
  const trans = useTrans();
  return isThere ? (
    <Button
      kind="quiet"
      onClick={() => {
        void onMore();
      }}
    >
      {trans.__('Show more')}
    </Button>
  ) : null;
}
