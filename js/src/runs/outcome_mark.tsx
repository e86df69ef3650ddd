import * as React from 'react';

import { Icon } from '../views/icon';
import type { IconName } from '../views/icon_paths';
import { useTrans } from '../views/scope';
import { type Outcome, outcomeWords } from './words';

const ICONS: Record<Outcome, IconName> = {
  passed: 'check',
  failed: 'close',
  unscored: 'warning'
};

/** Whether something passed, as a sign with a word. */
export function OutcomeMark({ outcome }: { readonly outcome: Outcome }) {
  const trans = useTrans();
  return (
    <span className={`cw-outcome cw-mod-${outcome}`}>
      <Icon name={ICONS[outcome]} />
      {outcomeWords(outcome, trans)}
    </span>
  );
}
