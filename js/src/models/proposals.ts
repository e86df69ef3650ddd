import type { RunEvent, ToolStarted } from '../events';
import type { ReceivedEvent } from './chat';

/** An edit of a cell that waits for the person; a null source: it waits no longer. */
export interface Proposal {
  readonly callId: string;
  readonly cellId: string;
  readonly source: string | null;
  /** Accepting it runs the cell as well. */
  readonly runs: boolean;
}

type ProposalEvent = Extract<
  RunEvent,
  { kind: 'approval_asked' | 'approval_answered' | 'tool_finished' }
>;

/** What an event says of a proposed edit, given the events up to it; null: nothing. */
export function proposalIn(history: readonly ReceivedEvent[], event: RunEvent): Proposal | null {
  if (!isAboutApproval(event)) {
    return null;
  }
  const call = startOf(history, event.call_id);
  if (call?.name !== 'edit_cell') {
    return null;
  }
  const { cell_id: cellId, run, source } = call.arguments;
  if (typeof cellId !== 'string' || typeof source !== 'string') {
    return null;
  }
  const shown = event.kind === 'approval_asked' ? source : null;
  return { callId: event.call_id, cellId, source: shown, runs: run === true };
}

function isAboutApproval(event: RunEvent): event is ProposalEvent {
  return ['approval_asked', 'approval_answered', 'tool_finished'].includes(event.kind);
}

function startOf(history: readonly ReceivedEvent[], callId: string): ToolStarted | null {
  for (const { recorded } of history) {
    if (recorded.event.kind === 'tool_started' && recorded.event.call_id === callId) {
      return recorded.event;
    }
  }
  return null;
}
