import {
  fits,
  isObject,
  list,
  nullable,
  number,
  oneOf,
  opaque,
  optional,
  record,
  type Shape,
  text,
  truth
} from './shapes';

// What a run emits, as it comes over the wire: the mirror of `cellwright/record/events.py`.
// A test compares it with the JSON schema that Python makes.

/** How a run ended, in AgentBench's words, with `cancelled` added. */
export type RunStatus =
  | 'running'
  | 'completed'
  | 'agent context limit'
  | 'agent validation failed'
  | 'agent invalid action'
  | 'task limit reached'
  | 'task error'
  | 'unknown'
  | 'cancelled';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = Record<string, Json>;

export interface Parameters {
  readonly model: string;
  readonly temperature: number | null;
  readonly max_output_tokens: number | null;
  readonly extra: JsonObject;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cached_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly estimated: boolean;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

export interface ImagePart {
  readonly kind: 'image';
  readonly mime: string;
  readonly data: string;
  readonly caption: string;
}

export type Part = TextPart | ImagePart;

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly text: string;
  readonly tool_calls: readonly ToolCall[];
  readonly reasoning: string;
  readonly refusal: string;
  readonly author?: string;
  readonly origin?: string;
  /** What the provider wants back with it; for no one else. */
  readonly provider_items?: object | null;
}

export interface ToolMessage {
  readonly role: 'tool';
  readonly call_id: string;
  readonly name: string;
  readonly parts: readonly Part[];
  readonly is_error: boolean;
  /** `user`: a person refused the call, and these are their words. */
  readonly origin?: string;
}

export interface StreamOutput {
  readonly kind: 'stream';
  readonly name: string;
  readonly text: string;
}

export interface DisplayData {
  readonly kind: 'display_data';
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly display_id: string;
}

export interface ExecuteResult {
  readonly kind: 'execute_result';
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly execution_count: number | null;
  readonly display_id: string;
}

export interface ErrorOutput {
  readonly kind: 'error';
  readonly ename: string;
  readonly evalue: string;
  readonly traceback: readonly string[];
}

export interface DisplayUpdate {
  readonly kind: 'update_display_data';
  readonly display_id: string;
  readonly data: JsonObject;
  readonly metadata: JsonObject;
}

export interface ClearOutput {
  readonly kind: 'clear_output';
  readonly wait: boolean;
}

export type OutputMessage =
  StreamOutput | DisplayData | ExecuteResult | ErrorOutput | DisplayUpdate | ClearOutput;

export interface VariableSummary {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

export interface FileChange {
  readonly path: string;
  readonly change: 'created' | 'modified' | 'deleted';
  readonly size_bytes: number;
}

export interface Execution {
  readonly status: 'ok' | 'error' | 'interrupted' | 'timeout' | 'died' | 'aborted';
  readonly duration_seconds: number;
  readonly error: ErrorOutput | null;
  readonly execution_count: number | null;
  readonly result_summary: string;
  readonly changed: readonly VariableSummary[];
  readonly removed: readonly string[];
  readonly files: readonly FileChange[];
  readonly cwd: string;
  readonly note: string;
  /** What the figures it drew show, in words, in the order of the outputs. */
  readonly figures: readonly string[];
  /** Older records do not have it; null where it was not measured. */
  readonly cpu_seconds?: number | null;
  /** Memory of the kernel after it. */
  readonly rss_bytes?: number | null;
  /** How long it waited for the user to type; no part of `duration_seconds`. */
  readonly waited_seconds?: number;
}

export interface RunStarted {
  readonly kind: 'run_started';
  readonly prompt: string;
  readonly lane: string;
  readonly mode: string;
  readonly parameters: Parameters;
  readonly base_url: string;
  readonly files: readonly string[];
  readonly source_run: string;
  readonly continues: string;
  /** How the model is talked with at first, such as `native`; older records have none. */
  readonly adapter?: string;
  /** Name of the assistant that was chosen; empty: none was. */
  readonly assistant?: string;
  /** What the person calls `files`, in their order; empty: as they are named there. */
  readonly file_names?: readonly string[];
  /** What waited for the question and is shown with it; older records have none. */
  readonly notes?: readonly string[];
}

/** Its cells, packages and files stay in the record; the wire carries only this. */
interface StateCaptured {
  readonly kind: 'state_captured';
}

/** Its messages and tools stay in the record; the wire carries only the step. */
interface ModelAsked {
  readonly kind: 'model_asked';
  readonly step: number;
}

interface TextDelta {
  readonly kind: 'text_delta';
  readonly text: string;
}

interface ReasoningDelta {
  readonly kind: 'reasoning_delta';
  readonly text: string;
}

interface ModelRetrying {
  readonly kind: 'model_retrying';
  readonly attempt: number;
  readonly delay_seconds: number;
  readonly reason: string;
}

interface ModelSilent {
  readonly kind: 'model_silent';
  readonly seconds: number;
}

export interface ModelReplied {
  readonly kind: 'model_replied';
  readonly message: AssistantMessage;
  readonly finish_reason: string;
  readonly usage: Usage;
  readonly model: string;
  readonly duration_seconds: number;
  readonly first_delta_seconds: number | null;
  readonly attempts: number;
  readonly cost_dollars: number | null;
  readonly truncated: boolean;
}

/** A cell that a call names, as it was when the person was asked about the call. */
export interface NamedCell {
  readonly cell_id: string;
  readonly cell_type: 'code' | 'markdown' | 'raw';
  readonly source: string;
  /** From 1. */
  readonly position: number;
  readonly execution_count: number | null;
}

export interface ToolStarted {
  readonly kind: 'tool_started';
  readonly call_id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly label: string;
  readonly risk: string;
  /** Those it changes, deletes or puts something behind; only where the person is asked. */
  readonly cells?: readonly NamedCell[];
}

interface ApprovalAsked {
  readonly kind: 'approval_asked';
  readonly call_id: string;
  readonly reason: string;
}

export interface ApprovalAnswered {
  readonly kind: 'approval_answered';
  readonly call_id: string;
  readonly allowed: boolean;
  readonly by: string;
  readonly reason: string;
}

export interface CellAdded {
  readonly kind: 'cell_added';
  readonly cell_id: string;
  readonly source: string;
  readonly cell_type: 'code' | 'markdown' | 'raw';
  /** Id of the cell it follows; empty: at the end. */
  readonly after: string;
  readonly call_id: string;
}

export interface CellEdited {
  readonly kind: 'cell_edited';
  readonly cell_id: string;
  readonly source: string;
  /** `sourceHash` of the text it replaces. */
  readonly previous_hash: string;
  readonly call_id: string;
}

export interface CellRemoved {
  readonly kind: 'cell_removed';
  readonly cell_id: string;
  readonly previous_hash: string;
  readonly call_id: string;
}

export interface CellMoved {
  readonly kind: 'cell_moved';
  readonly cell_id: string;
  /** Id of the cell it follows now; empty: at the start. */
  readonly after: string;
  readonly call_id: string;
}

export interface CellStarted {
  readonly kind: 'cell_started';
  readonly cell_id: string;
}

export interface CellOutput {
  readonly kind: 'cell_output';
  readonly cell_id: string;
  readonly message: OutputMessage;
}

export interface CellFinished {
  readonly kind: 'cell_finished';
  readonly cell_id: string;
  readonly execution: Execution;
}

/** One typed piece of what a tool said; `text` holds the fields of its type. */
export interface Content {
  readonly type: string;
  readonly text: Readonly<Record<string, unknown>>;
  readonly name: string;
  readonly visible_scope: 'all' | 'llm' | 'user';
  readonly is_error: boolean;
}

interface ModelUsage {
  readonly model: string;
  readonly usage: Usage;
}

export interface ToolFinished {
  readonly kind: 'tool_finished';
  readonly call_id: string;
  readonly name: string;
  readonly message: ToolMessage;
  readonly status: 'ok' | 'error' | 'refused' | 'cancelled';
  readonly duration_seconds: number;
  readonly shown: string;
  readonly contents: readonly Content[];
  readonly metrics: object | null;
  /** Tokens of models that the tool itself asked. */
  readonly usage: readonly ModelUsage[];
}

export interface ToolProgress {
  readonly kind: 'tool_progress';
  readonly call_id: string;
  readonly text: string;
  readonly fraction: number | null;
}

interface Notice {
  readonly kind: 'notice';
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly action: string;
  readonly code: string;
  readonly contents?: readonly Content[];
  readonly usage?: readonly ModelUsage[];
}

/** The conversation was made shorter; what is left of it stays in the record. */
export interface HistoryCompacted {
  readonly kind: 'history_compacted';
  readonly tokens_before: number;
  readonly tokens_after: number;
}

export interface RunFinished {
  readonly kind: 'run_finished';
  readonly status: RunStatus;
  readonly answer: string;
  readonly reason: string;
  readonly cause: string;
  readonly usage: Usage;
  readonly cost_dollars: number | null;
  readonly duration_seconds: number;
}

/** Events that change a notebook. */
export type CellEvent =
  CellAdded | CellEdited | CellRemoved | CellMoved | CellStarted | CellOutput | CellFinished;

export type RunEvent =
  | RunStarted
  | StateCaptured
  | ModelAsked
  | TextDelta
  | ReasoningDelta
  | ModelRetrying
  | ModelSilent
  | ModelReplied
  | ToolStarted
  | ApprovalAsked
  | ApprovalAnswered
  | CellEvent
  | ToolFinished
  | ToolProgress
  | Notice
  | HistoryCompacted
  | RunFinished;

/** An event with what the record adds to it. */
export interface RecordedEvent {
  /** 1, 2, 3 … within the run; 0 for what is shown but not recorded. */
  readonly sequence: number;
  /** Seconds since the epoch, UTC. */
  readonly time: number;
  readonly event: RunEvent;
}

// What each event must bring: its own fields here, what lies deeper is Python's word.

type EventKind = RunEvent['kind'];
type EventOf<K extends EventKind> = Extract<RunEvent, { kind: K }>;
type EventFields<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> };

/** The fields of every kind of event; a test compares it with the schema that Python makes. */
export const EVENT_FIELDS: { readonly [K in EventKind]: EventFields<Omit<EventOf<K>, 'kind'>> } = {
  run_started: {
    prompt: text,
    lane: text,
    mode: text,
    parameters: opaque(),
    base_url: text,
    files: list(text),
    source_run: text,
    continues: text,
    adapter: optional(text),
    assistant: optional(text),
    file_names: optional(list(text)),
    notes: optional(list(text))
  },
  state_captured: {},
  model_asked: { step: number },
  text_delta: { text },
  reasoning_delta: { text },
  model_retrying: { attempt: number, delay_seconds: number, reason: text },
  model_silent: { seconds: number },
  model_replied: {
    message: opaque(),
    finish_reason: text,
    usage: opaque(),
    model: text,
    duration_seconds: number,
    first_delta_seconds: nullable(number),
    attempts: number,
    cost_dollars: nullable(number),
    truncated: truth
  },
  tool_started: {
    call_id: text,
    name: text,
    arguments: opaque(),
    label: text,
    risk: text,
    cells: optional(list(opaque()))
  },
  approval_asked: { call_id: text, reason: text },
  approval_answered: { call_id: text, allowed: truth, by: text, reason: text },
  cell_added: {
    cell_id: text,
    source: text,
    cell_type: oneOf('code', 'markdown', 'raw'),
    after: text,
    call_id: text
  },
  cell_edited: { cell_id: text, source: text, previous_hash: text, call_id: text },
  cell_removed: { cell_id: text, previous_hash: text, call_id: text },
  cell_moved: { cell_id: text, after: text, call_id: text },
  cell_started: { cell_id: text },
  cell_output: { cell_id: text, message: opaque() },
  cell_finished: { cell_id: text, execution: opaque() },
  tool_finished: {
    call_id: text,
    name: text,
    message: opaque(),
    status: oneOf('ok', 'error', 'refused', 'cancelled'),
    duration_seconds: number,
    shown: text,
    contents: list(opaque()),
    metrics: nullable(opaque<object>()),
    usage: list(opaque())
  },
  tool_progress: { call_id: text, text, fraction: nullable(number) },
  notice: {
    level: oneOf('info', 'warning', 'error'),
    text,
    action: text,
    code: text,
    contents: optional(list(opaque())),
    usage: optional(list(opaque()))
  },
  history_compacted: { tokens_before: number, tokens_after: number },
  run_finished: {
    status: oneOf<RunStatus>(
      'running',
      'completed',
      'agent context limit',
      'agent validation failed',
      'agent invalid action',
      'task limit reached',
      'task error',
      'unknown',
      'cancelled'
    ),
    answer: text,
    reason: text,
    cause: text,
    usage: opaque(),
    cost_dollars: nullable(number),
    duration_seconds: number
  }
};

const SHAPES = new Map<string, Shape<object>>(
  Object.entries(EVENT_FIELDS).map(([kind, fields]) => [kind, record<object>(fields)])
);

const ENVELOPE = record<{ sequence: number; time: number; event: { kind: string } }>({
  sequence: number,
  time: number,
  event: record<{ kind: string }>({ kind: text })
});

/**
 * An event with its place in the record.
 *
 * A kind that is not known passes: a newer server may send more, and its place has to be counted.
 */
export const recordedEvent: Shape<RecordedEvent> = (value, path) => {
  const complaint = ENVELOPE(value, path);
  if (complaint !== '' || !isObject(value) || !fits(opaque<{ kind: string }>(), value.event)) {
    return complaint;
  }
  const { event } = value;
  return SHAPES.get(event.kind)?.(event, `${path}.${event.kind}`) ?? '';
};
