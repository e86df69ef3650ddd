import * as React from 'react';

import type { Turn } from '../models/types';
import { Icon } from './icon';
import { useTrans } from './scope';
import { TurnView } from './turn';

/** Prompts that others took the place of, folded into one quiet line: the model is not told. */
export function SupersededTurns({ turns }: { turns: readonly Turn[] }) {
  const trans = useTrans();
  const [isOpen, setOpen] = React.useState(false);
  const body = React.useId();
  return (
    <section className="cw-superseded" aria-label={trans.__('Replaced prompts')}>
      <button
        type="button"
        className="cw-superseded-line"
        aria-expanded={isOpen}
        aria-controls={body}
        title={trans.__('Kept, and the model is not told of it')}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name="chevron_right" className="cw-chevron" />
        <span className="cw-superseded-count">
          {trans._n('%1 replaced prompt', '%1 replaced prompts', turns.length)}
        </span>
        <span className="cw-superseded-first">{turns[0]?.prompt}</span>
      </button>
      <div id={body} className="cw-superseded-body" hidden={!isOpen}>
        {isOpen && turns.map(turn => <TurnView key={turn.runId} turn={turn} />)}
      </div>
    </section>
  );
}

/** A turn that counts, or those in a row that do not. */
export type Stretch =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'superseded'; readonly key: string; readonly turns: readonly Turn[] };

/** Put turns together that were superseded one after the other. */
export function stretchesOf(turns: readonly Turn[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let row: Turn[] = [];
  for (const turn of turns) {
    if (turn.supersededBy === '' || turn.status === 'running') {
      row = [];
      stretches.push({ kind: 'turn', turn });
    } else {
      if (row.length === 0) {
        stretches.push({ kind: 'superseded', key: `superseded:${turn.runId}`, turns: row });
      }
      row.push(turn);
    }
  }
  return stretches;
}
