/** Events with everything in them that a test does not care about. */
import type {
  CellFinished,
  ModelReplied,
  RecordedEvent,
  RunEvent,
  RunFinished,
  RunStarted,
  ToolCall,
  ToolFinished,
  ToolStarted,
  Usage
} from '../../src/wire/generated';
import { complete } from '../complete';

export function usage(change: Partial<Usage> = {}): Usage {
  return complete('Usage', change);
}

export function started(prompt: string, change: Partial<RunStarted> = {}): RunStarted {
  const parameters = complete('Parameters', { model: 'demo' });
  const given = { prompt, lane: 'panel', mode: 'ask', parameters, adapter: 'native', ...change };
  return complete('RunStarted', given);
}

export function said(text: string): RunEvent {
  return { kind: 'text_delta', text };
}

export function thought(text: string): RunEvent {
  return { kind: 'reasoning_delta', text };
}

interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly refusal?: string;
  readonly calls?: readonly ToolCall[];
}

export function replied(reply: Reply, change: Partial<ModelReplied> = {}): ModelReplied {
  const { text = '', reasoning = '', refusal = '', calls = [] } = reply;
  return complete('ModelReplied', {
    message: complete('AssistantMessage', { text, tool_calls: calls, reasoning, refusal }),
    finish_reason: 'stop',
    usage: usage(),
    model: 'demo',
    duration_seconds: 1,
    ...change
  });
}

export function called(callId: string, change: Partial<ToolStarted> = {}): ToolStarted {
  return complete('ToolStarted', {
    call_id: callId,
    name: 'run_cell',
    arguments: { code: '1 + 1' },
    label: 'add',
    risk: 'execute',
    ...change
  });
}

export function asked(callId: string, reason = 'runs code'): RunEvent {
  return { kind: 'approval_asked', call_id: callId, reason };
}

export function answered(callId: string, allowed: boolean, reason = ''): RunEvent {
  return {
    kind: 'approval_answered',
    call_id: callId,
    allowed,
    by: 'person',
    reason,
    previewed: false,
    adopted: false
  };
}

export function ended(callId: string, change: Partial<ToolFinished> = {}): ToolFinished {
  const name = 'run_cell';
  const parts = [{ kind: 'text', text: '2' }] as const;
  const message = complete('ToolMessage', { call_id: callId, name, parts });
  const given = { call_id: callId, name, message, duration_seconds: 0.5, ...change };
  return complete('ToolFinished', given);
}

export function cellAdded(cellId: string, callId: string, source = '1 + 1'): RunEvent {
  return {
    kind: 'cell_added',
    is_scratch: false,
    cell_id: cellId,
    source,
    cell_type: 'code',
    after: '',
    call_id: callId
  };
}

export function cellFinished(cellId: string): CellFinished {
  const ran = { status: 'ok', duration_seconds: 0.1, execution_count: 1 } as const;
  const execution = complete('Execution', ran);
  return { kind: 'cell_finished', cell_id: cellId, execution };
}

export function finished(change: Partial<RunFinished> = {}): RunFinished {
  return complete('RunFinished', { status: 'completed', duration_seconds: 2, ...change });
}

/** Give events their places in a record. */
export function recorded(events: readonly RunEvent[], time = 1000): RecordedEvent[] {
  return events.map((event, index) => ({ sequence: index + 1, time: time + index, event }));
}
