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
} from '../../src/wire/events';

export function usage(change: Partial<Usage> = {}): Usage {
  return {
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: false,
    ...change
  };
}

export function started(prompt: string, change: Partial<RunStarted> = {}): RunStarted {
  return {
    kind: 'run_started',
    prompt,
    lane: 'panel',
    mode: 'ask',
    parameters: { model: 'demo', temperature: null, max_output_tokens: null, extra: {} },
    base_url: '',
    files: [],
    source_run: '',
    continues: '',
    adapter: 'native',
    ...change
  };
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
  return {
    kind: 'model_replied',
    message: { role: 'assistant', text, tool_calls: calls, reasoning, refusal },
    finish_reason: 'stop',
    usage: usage(),
    model: 'demo',
    duration_seconds: 1,
    first_delta_seconds: null,
    attempts: 1,
    cost_dollars: null,
    truncated: false,
    ...change
  };
}

export function called(callId: string, change: Partial<ToolStarted> = {}): ToolStarted {
  return {
    kind: 'tool_started',
    call_id: callId,
    name: 'run_cell',
    arguments: { code: '1 + 1' },
    label: 'add',
    risk: 'execute',
    ...change
  };
}

export function asked(callId: string, reason = 'runs code'): RunEvent {
  return { kind: 'approval_asked', call_id: callId, reason };
}

export function answered(callId: string, allowed: boolean, reason = ''): RunEvent {
  return { kind: 'approval_answered', call_id: callId, allowed, by: 'person', reason };
}

export function ended(callId: string, change: Partial<ToolFinished> = {}): ToolFinished {
  const name = 'run_cell';
  return {
    kind: 'tool_finished',
    call_id: callId,
    name,
    message: {
      role: 'tool',
      call_id: callId,
      name,
      parts: [{ kind: 'text', text: '2' }],
      is_error: false
    },
    status: 'ok',
    duration_seconds: 0.5,
    shown: '',
    contents: [],
    metrics: null,
    usage: [],
    ...change
  };
}

export function cellAdded(cellId: string, callId: string, source = '1 + 1'): RunEvent {
  return {
    kind: 'cell_added',
    cell_id: cellId,
    source,
    cell_type: 'code',
    after: '',
    call_id: callId
  };
}

export function cellFinished(cellId: string): CellFinished {
  return {
    kind: 'cell_finished',
    cell_id: cellId,
    execution: {
      status: 'ok',
      duration_seconds: 0.1,
      error: null,
      execution_count: 1,
      result_summary: '',
      changed: [],
      removed: [],
      files: [],
      cwd: '',
      note: '',
      figures: []
    }
  };
}

export function finished(change: Partial<RunFinished> = {}): RunFinished {
  return {
    kind: 'run_finished',
    status: 'completed',
    answer: '',
    reason: '',
    cause: '',
    usage: usage(),
    cost_dollars: null,
    duration_seconds: 2,
    ...change
  };
}

/** Give events their places in a record. */
export function recorded(events: readonly RunEvent[], time = 1000): RecordedEvent[] {
  return events.map((event, index) => ({ sequence: index + 1, time: time + index, event }));
}
