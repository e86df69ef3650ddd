import * as React from 'react';

import { Button } from '../../ui/button';
import { useTrans } from '../../ui/hooks';
import type { DropZone } from '../../ui/uploads';
import { Complaint, Nothing, Reading } from '../table';
import type { KeptState } from './kept_lists';

interface AddFormProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  /** Whether it was added; the field keeps what was not. */
  readonly onAdd: (text: string) => Promise<boolean>;
  /** What else is chosen of it. */
  readonly children?: React.ReactNode;
}

/** A line for something new. */
export function AddForm({ label, placeholder, button, onAdd, children }: AddFormProps) {
  const [text, setText] = React.useState('');
  const canAdd = text.trim() !== '';
  const add = async (): Promise<void> => {
    const wanted = text.trim();
    if (wanted !== '' && (await onAdd(wanted))) {
      // Whoever types fast has begun with the next one.
      setText(now => (now.trim() === wanted ? '' : now));
    }
  };
  return (
    <form
      className="cw-adding"
      onSubmit={event => {
        event.preventDefault();
        void add();
      }}
    >
      <label className="cw-chooser cw-mod-wide">
        <span className="cw-muted">{label}</span>
        <input
          className="cw-field"
          value={text}
          placeholder={placeholder}
          onChange={event => {
            setText(event.target.value);
          }}
        />
      </label>
      {children}
      <Button icon="plus" aria-disabled={!canAdd} onClick={() => void add()}>
        {button}
      </Button>
    </form>
  );
}

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
        {!state.isLoaded && <Reading />}
      </div>
      {drop?.zone.isOver === true && <div className="cw-drop">{drop.words}</div>}
    </div>
  );
}
