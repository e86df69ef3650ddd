/** Frames from the server, checked before anybody believes them. */
import type { RecordedEvent } from '../events';
import { recordedEvent } from './event_shapes';
import type { ChatState, QueuedPrompt, ServerFrame, SupersededRun } from './frames';
import { isObject, list, nullable, number, oneOf, record, text, truth, type Shape } from './shapes';

type FrameType = ServerFrame['type'];
type FrameOf<T extends FrameType> = Extract<ServerFrame, { type: T }>;

const CHAT_STATE = record<ChatState>({
  id: text,
  title: text,
  notebook_path: text,
  updated_at: number,
  run: text,
  phase: oneOf('idle', 'starting', 'model', 'kernel_busy', 'tool', 'approval', 'input'),
  queue: list(record<QueuedPrompt>({ id: text, prompt: text })),
  queue_paused: truth,
  driver: text,
  approval: text,
  input: nullable(
    record<NonNullable<ChatState['input']>>({ request: text, prompt: text, password: truth })
  ),
  context_tokens: number,
  context_limit: number,
  superseded: list(record<SupersededRun>({ run: text, by: text }))
});

/** Each item is looked at on its own: one bad event does not take the others with it. */
const ITEMS: Shape<readonly RecordedEvent[]> = (value, path) =>
  Array.isArray(value) ? '' : `${path} is not a list`;

const FRAMES: { readonly [T in FrameType]: Shape<Omit<FrameOf<T>, 'type'>> } = {
  welcome: record({ protocol: number, version: text, server: text }),
  events: record({ chat: text, run: text, items: ITEMS }),
  caught_up: record({ chat: text }),
  chat: record({ state: CHAT_STATE }),
  chat_deleted: record({ chat: text }),
  accepted: record({ request: text, chat: text, queued: truth }),
  request: record({
    request: text,
    chat: text,
    notebook: text,
    operation: oneOf('cells', 'confirm'),
    cell_id: text,
    source_hash: text,
    message_id: text
  }),
  error: record({ request: text, chat: text, code: text, message: text, hint: text }),
  pong: record({ at: number })
};

/** A frame, or null, with what was wrong with it or with some of its events. */
export interface ParsedFrame {
  readonly frame: ServerFrame | null;
  readonly complaint: string;
}

export function parseFrame(data: unknown): ParsedFrame {
  let value: unknown;
  try {
    value = typeof data === 'string' ? JSON.parse(data) : null;
  } catch {
    value = null;
  }
  const type = isObject(value) ? value.type : null;
  if (!isFrameType(type)) {
    return { frame: null, complaint: `a frame of the unknown type ${JSON.stringify(type)}` };
  }
  const complaint = FRAMES[type](value, type);
  if (complaint !== '') {
    return { frame: null, complaint };
  }
  const frame = value as ServerFrame;
  return frame.type === 'events' ? withoutBadEvents(frame) : { frame, complaint: '' };
}

function withoutBadEvents(frame: FrameOf<'events'>): ParsedFrame {
  let complaint = '';
  const items = frame.items.filter(item => {
    const wrong = recordedEvent(item, 'events');
    complaint = complaint || wrong;
    return wrong === '';
  });
  return { frame: complaint === '' ? frame : { ...frame, items }, complaint };
}

function isFrameType(type: unknown): type is FrameType {
  return typeof type === 'string' && Object.hasOwn(FRAMES, type);
}
