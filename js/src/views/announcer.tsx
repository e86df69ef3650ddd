import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Turn } from '../models/types';
import type { ChatState } from '../server/frames';
import { useTrans } from './scope';
import { statusWords } from './words';

interface AnnouncerProps {
  readonly turns: readonly Turn[];
  readonly state: ChatState;
}

/** Says when a run starts, ends or needs the person, to those who cannot see it. */
export function Announcer({ turns, state }: AnnouncerProps) {
  const trans = useTrans();
  const words = useAnnouncement(momentOf(turns, state), trans);
  return (
    <div className="cw-hidden" role="status" aria-live="polite">
      {words}
    </div>
  );
}

/** What could be worth saying, as plain values that compare. */
interface Moment {
  readonly run: string;
  readonly status: Turn['status'];
  readonly reason: string;
  readonly approval: string;
  readonly approvalLabel: string;
  readonly input: string | null;
}

function momentOf(turns: readonly Turn[], state: ChatState): Moment {
  const input = state.input?.prompt ?? null;
  const turn = turns.at(-1);
  if (turn === undefined) {
    return { run: '', status: 'completed', reason: '', approval: '', approvalLabel: '', input };
  }
  const { runId: run, status, reason } = turn;
  const approvalLabel = labelOf(turn, state.approval);
  return {
    run,
    status,
    reason,
    approval: approvalLabel === '' ? '' : state.approval,
    approvalLabel,
    input
  };
}

function labelOf(turn: Turn, callId: string): string {
  const card = turn.blocks.find(block => block.kind === 'tool' && block.callId === callId);
  return card?.kind === 'tool' ? card.label : '';
}

function useAnnouncement(moment: Moment, trans: TranslationBundle): string {
  const last = React.useRef(moment);
  const [words, setWords] = React.useState('');
  React.useEffect(() => {
    const said = announcement(last.current, moment, trans);
    last.current = moment;
    if (said !== '') {
      setWords(said);
    }
  });
  return words;
}

function announcement(before: Moment, now: Moment, trans: TranslationBundle): string {
  if (now.approval !== '' && now.approval !== before.approval) {
    return trans.__('Approval needed: %1', now.approvalLabel);
  }
  if (now.input !== null && before.input === null) {
    return trans.__('The running cell asks for input: %1', now.input);
  }
  if (now.run !== before.run && now.status === 'running') {
    return trans.__('The agent started working.');
  }
  if (now.run === before.run && before.status === 'running' && now.status !== 'running') {
    return [statusWords(now.status, trans), now.reason].filter(Boolean).join('. ');
  }
  return '';
}
