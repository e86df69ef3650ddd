import * as React from 'react';

import { Complaint, Nothing } from '../pages/notes';
import { useTrans } from '../views/scope';
import type { DropZone } from '../views/uploads';
import type { KeptState } from './kept_list';

/** What a part does with files that are dropped on it. */
interface Dropping {
  readonly zone: DropZone;
  /** What is said while files are over it. */
  readonly words: string;
}

interface PartViewProps {
  readonly state: KeptState;
  /** What this part is for; empty: it says so itself. */
  readonly lead: string;
  readonly drop?: Dropping;
  readonly children: React.ReactNode;
}

/** A part of the page; says so where the server does not have it. */
export function PartView({ state, lead, drop, children }: PartViewProps) {
  const trans = useTrans();
  if (state.isMissing) {
    return <Nothing>{trans.__('This server does not have it yet.')}</Nothing>;
  }
  return (
    <div className="cw-keeping-frame" {...drop?.zone.handlers}>
      <div className="cw-page-scroller cw-page-detail cw-keeping-part" aria-busy={state.isBusy}>
        {lead !== '' && <p className="cw-muted cw-keeping-lead">{lead}</p>}
        <Complaint text={state.problem} />
        {children}
        {!state.isLoaded && <Nothing>{trans.__('Reading …')}</Nothing>}
      </div>
      {drop?.zone.isOver === true && <div className="cw-drop">{drop.words}</div>}
    </div>
  );
}

/** What is said where a list is empty and that is no fault. */
export function Empty({ state, children }: Pick<PartViewProps, 'state' | 'children'>) {
  return state.isLoaded && state.problem === '' ? <Nothing>{children}</Nothing> : null;
}
