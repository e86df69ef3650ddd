/** What each event must bring: its own fields here, what lies deeper is Python's word. */
import type { RecordedEvent, RunEvent, RunStatus } from '../events';
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
  text,
  truth,
  type Shape
} from './shapes';

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
