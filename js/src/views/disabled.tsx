import * as React from 'react';

import { useTrans } from './scope';

/** Stands in place of the panel where cellwright is switched off on the server. */
export function Disabled() {
  const trans = useTrans();
  return (
    <div className="cw-empty">
      <h3>{trans.__('cellwright is switched off here')}</h3>
      <p className="cw-muted">
        {trans.__('Whoever runs this server switched it off. Nothing of it shows or runs.')}
      </p>
    </div>
  );
}
