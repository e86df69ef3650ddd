import * as React from 'react';

import { Button } from './button';
import { Icon } from './icon';
import type { Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';

/** Offers the cells that were made for the notebook while it was closed. */
export function MissingBar({ panel }: { panel: Panel }) {
  const trans = useTrans();
  const missing = useSignal(panel.missingChanged, () => panel.missing);
  // A chat of a notebook that is closed says so itself; these cells are another one's.
  const isElsewhere = useSignal(panel.noticesChanged, () =>
    panel.notices.some(({ code }) => code === 'notebook_closed')
  );
  const count = missing.reduce((sum, { cells }) => sum + cells.length, 0);
  if (count === 0 || isElsewhere) {
    return null;
  }
  return (
    <section className="cw-missing" aria-label={trans.__('Cells made meanwhile')}>
      <Icon name="cell" />
      <p>
        {trans._n(
          '%1 cell was made while this notebook was closed.',
          '%1 cells were made while this notebook was closed.',
          count
        )}
      </p>
      <div className="cw-row">
        <Button
          kind="primary"
          onClick={() => {
            missing.forEach(cells => {
              panel.insertMissing(cells);
            });
          }}
        >
          {trans.__('Insert')}
        </Button>
        <Button
          onClick={() => {
            missing.forEach(cells => {
              void panel.discardMissing(cells);
            });
          }}
        >
          {trans.__('Discard')}
        </Button>
      </div>
    </section>
  );
}
