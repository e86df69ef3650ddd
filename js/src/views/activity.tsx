import * as React from 'react';

import type { ChatState } from '../server/frames';
import { useSeconds } from './clock';
import { formatElapsed } from './figures';
import { useTrans } from './scope';
import { phaseWords } from './words';

/** A wait this short needs no number. */
const TOLD_FROM_SECONDS = 3;

interface ActivityProps {
  readonly state: ChatState;
  /** Seconds since the epoch when the run began; null: not known. */
  readonly startedAt: number | null;
}

/** One line at the end of the conversation: what the run does now and for how long. */
export function Activity({ state, startedAt }: ActivityProps) {
  const trans = useTrans();
  const isRunning = state.run !== '';
  const now = useSeconds(isRunning);
  if (!isRunning) {
    return null;
  }
  const seconds = startedAt === null ? 0 : now - startedAt;
  const needsPerson = state.phase === 'approval' || state.phase === 'input';
  return (
    <p className="cw-phase">
      {needsPerson ? <span className="cw-dot" /> : <span className="cw-spinner" />}
      <span>{phaseWords(state.phase, trans)}</span>
      {seconds >= TOLD_FROM_SECONDS && (
        <span className="cw-phase-time">{formatElapsed(seconds)}</span>
      )}
    </p>
  );
}
