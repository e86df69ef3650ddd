import * as React from 'react';

import type { Turn } from '../models/types';
import type { ChatState } from '../server/frames';
import { Button } from './button';
import { useSeconds } from './clock';
import { formatElapsed } from './figures';
import { useTrans } from './scope';
import { phaseWords } from './words';

/** A wait this short needs no number. */
const TOLD_FROM_SECONDS = 3;
/** A cell that has run for so long may reach its limit. */
const LONG_SECONDS = 30;
const EXTENSION_SECONDS = 600;

interface ActivityProps {
  readonly state: ChatState;
  /** The last one; undefined: there is none. */
  readonly turn: Turn | undefined;
  /** Null: not from here. */
  readonly onExtend: ((seconds: number) => void) | null;
}

/** One line at the end of the conversation: what the run does now and for how long. */
export function Activity({ state, turn, onExtend }: ActivityProps) {
  const trans = useTrans();
  const isRunning = state.run !== '';
  const now = useSeconds(isRunning);
  if (!isRunning) {
    return null;
  }
  const seconds = turn === undefined ? 0 : elapsedIn(turn, now);
  const needsPerson = state.phase === 'approval' || state.phase === 'input';
  const cell = state.phase === 'tool' ? runningCell(turn) : null;
  const isLong = cell !== null && now - cell.startedAt >= LONG_SECONDS;
  return (
    <div className="cw-phase">
      {needsPerson ? <span className="cw-dot" /> : <span className="cw-spinner" />}
      <span>{phaseWords(state.phase, trans)}</span>
      {seconds >= TOLD_FROM_SECONDS && (
        <span className="cw-phase-time">{formatElapsed(seconds)}</span>
      )}
      {isLong && onExtend !== null && <Extension key={cell.callId} onExtend={onExtend} />}
    </div>
  );
}

/** How long the open approval waits; else how long the run works, without such waits. */
function elapsedIn({ startedAt, waitedSeconds, waitingSince }: Turn, now: number): number {
  return waitingSince === null ? now - startedAt - waitedSeconds : now - waitingSince;
}

interface RunningCell {
  readonly callId: string;
  readonly startedAt: number;
}

/** The call whose cell runs; null: none does. */
function runningCell(turn: Turn | undefined): RunningCell | null {
  for (const block of turn?.blocks ?? []) {
    const runs = block.kind === 'tool' && block.status === 'running' && block.cellIds.length > 0;
    if (runs && block.startedAt !== null) {
      return { callId: block.callId, startedAt: block.startedAt };
    }
  }
  return null;
}

/** Gives a long cell more time before it is interrupted. */
function Extension({ onExtend }: { onExtend: (seconds: number) => void }) {
  const trans = useTrans();
  const [minutes, setMinutes] = React.useState(0);
  const more = EXTENSION_SECONDS / 60;
  return (
    <>
      <Button
        kind="quiet"
        onClick={() => {
          onExtend(EXTENSION_SECONDS);
          setMinutes(minutes + more);
        }}
      >
        {trans.__('Give the cell %1 more minutes', more)}
      </Button>
      {minutes > 0 && (
        <span role="status">{trans.__('It may run %1 minutes longer.', minutes)}</span>
      )}
    </>
  );
}
