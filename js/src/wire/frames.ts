/**
 * What goes over the panel's WebSocket, both ways: the mirror of `cellwright/server/frames.py`.
 */
import { type JsonObject, type RecordedEvent, recordedEvent } from './events';
import { isObject, list, nullable, number, oneOf, record, type Shape, text, truth } from './shapes';

export const PROTOCOL = 1;

/** What the agent may do without asking. */
export type Mode = 'plan' | 'ask' | 'edits' | 'auto';

/** A cell of a notebook as the file format has it. */
export interface WireCell {
  readonly id: string;
  readonly cell_type: 'code' | 'markdown' | 'raw';
  readonly source: string;
  readonly metadata: JsonObject;
  /** nbformat outputs; left out for cells that have none. */
  readonly outputs?: readonly JsonObject[];
  readonly execution_count?: number | null;
}

/** What a person put beside their prompt. */
export type ContextItem =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'cell'; readonly cell_id: string; readonly text: string }
  | { readonly kind: 'selection'; readonly cell_id: string; readonly text: string }
  | { readonly kind: 'error'; readonly cell_id: string; readonly text: string }
  /** `file` is the name that the upload route gave. */
  | { readonly kind: 'file'; readonly file: string; readonly name: string };

/** A notebook that this tab has open. */
interface AttachedNotebook {
  /** Made by the tab when it opened the document; stays through renames. */
  readonly notebook: string;
  readonly path: string;
  /** Empty: no kernel is running. */
  readonly kernel_id: string;
  /** False: it is read-only. */
  readonly editable: boolean;
}

export interface QueuedPrompt {
  readonly id: string;
  readonly prompt: string;
}

/** A run that another one took the place of: kept, and the model is not told of it. */
export interface SupersededRun {
  readonly run: string;
  readonly by: string;
}

/** What a chat is doing. */
export interface ChatState {
  readonly id: string;
  readonly title: string;
  /** Path of its notebook; empty: a chat of its own. */
  readonly notebook_path: string;
  readonly updated_at: number;
  /** Id of the run that is going on; empty: none. */
  readonly run: string;
  readonly phase: 'idle' | 'starting' | 'model' | 'kernel_busy' | 'tool' | 'approval' | 'input';
  readonly queue: readonly QueuedPrompt[];
  /** The queue waits because the last run failed or was stopped. */
  readonly queue_paused: boolean;
  /** Tab that inserts the cells and answers; empty: none is connected. */
  readonly driver: string;
  /** Call that waits for the person; empty: none. */
  readonly approval: string;
  /** What a running cell's `input()` asks, if it does. */
  readonly input: {
    readonly request: string;
    readonly prompt: string;
    readonly password: boolean;
  } | null;
  /** Tokens of the last request and how many the model takes (0: not known). */
  readonly context_tokens: number;
  readonly context_limit: number;
  readonly superseded: readonly SupersededRun[];
}

/** From the tab to the server. */
export type ClientFrame =
  | {
      readonly type: 'hello';
      readonly protocol: number;
      readonly version: string;
      readonly tab: string;
      /** Known to this page alone; an approval counts only with the nonce of the asking page. */
      readonly nonce: string;
    }
  /** Send what came after this event, then what comes; null: everything. */
  | {
      readonly type: 'follow';
      readonly chat: string;
      readonly after: { readonly run: string; readonly sequence: number } | null;
    }
  | { readonly type: 'unfollow'; readonly chat: string }
  | {
      readonly type: 'ask';
      readonly request: string;
      readonly chat: string;
      readonly prompt: string;
      readonly mode: Mode;
      /** Empty: the set one. */
      readonly model: string;
      readonly context: readonly ContextItem[];
      /** `AttachedNotebook.notebook`; empty: none, a kernel is started for the chat. */
      readonly notebook: string;
      /** Stop what runs and ask this instead; otherwise it waits its turn. */
      readonly instead: boolean;
      /** Name of the assistant that answers; empty: none. */
      readonly assistant: string;
      /** The run whose question this takes the place of, with all that followed; empty: none. */
      readonly supersedes: string;
    }
  | { readonly type: 'stop'; readonly chat: string }
  | {
      readonly type: 'answer';
      readonly chat: string;
      readonly call_id: string;
      readonly allowed: boolean;
      readonly reason: string;
      readonly for_session: boolean;
    }
  | {
      readonly type: 'input';
      readonly chat: string;
      readonly request: string;
      readonly value: string;
    }
  /** Remove, change or move (`position`) a waiting prompt; null leaves as it is. */
  | {
      readonly type: 'queue';
      readonly chat: string;
      readonly id: string;
      readonly action: 'remove' | 'edit' | 'move' | 'send_now' | 'resume';
      readonly prompt: string | null;
      readonly position: number | null;
    }
  /** Let the running cell go on for longer. */
  | { readonly type: 'extend'; readonly chat: string; readonly seconds: number }
  /** Make the conversation shorter now; refused while a run goes on. */
  | { readonly type: 'compact'; readonly request: string; readonly chat: string }
  /** Become the tab that inserts cells and answers; refused while another live tab is. */
  | { readonly type: 'drive'; readonly chat: string; readonly notebook: string }
  | ({ readonly type: 'attach' } & AttachedNotebook)
  | { readonly type: 'detach'; readonly notebook: string }
  /** The person changed the notebook while a run goes on. */
  | {
      readonly type: 'changed';
      readonly notebook: string;
      /** New or changed cells, with the id of the cell before each (empty: first). */
      readonly cells: readonly { readonly cell: WireCell; readonly after: string }[];
      readonly removed: readonly string[];
    }
  /** The answer to a `request` frame. */
  | {
      readonly type: 'reply';
      readonly request: string;
      readonly ok: boolean;
      /** Why not: `gone` (deleted by the person), `changed`, `read_only`, `closed`. */
      readonly reason: string;
      readonly cells: readonly WireCell[];
    }
  /** What became of an agent's cell in the document. */
  | {
      readonly type: 'cell_fate';
      readonly run: string;
      readonly cell_id: string;
      readonly fate: 'saved' | 'deleted' | 'discarded';
    }
  | { readonly type: 'ping'; readonly at: number };

/** From the server to the tab. */
export type ServerFrame =
  | {
      readonly type: 'welcome';
      readonly protocol: number;
      readonly version: string;
      /** Changes with every start of the server. */
      readonly server: string;
    }
  | {
      readonly type: 'events';
      readonly chat: string;
      readonly run: string;
      readonly items: readonly RecordedEvent[];
    }
  /** All that had been recorded before `follow` has been sent. */
  | { readonly type: 'caught_up'; readonly chat: string }
  | { readonly type: 'chat'; readonly state: ChatState }
  | { readonly type: 'chat_deleted'; readonly chat: string }
  /** `ask` was accepted: it runs, or waits in the queue. */
  | {
      readonly type: 'accepted';
      readonly request: string;
      readonly chat: string;
      readonly queued: boolean;
    }
  /** The server wants something of the tab that drives: the notebook's cells, or to know that a
   *  cell is there with this source before it runs (drawing is then ready). */
  | {
      readonly type: 'request';
      readonly request: string;
      readonly chat: string;
      readonly notebook: string;
      readonly operation: 'cells' | 'confirm';
      readonly cell_id: string;
      /** `sourceHash` that the cell must have. */
      readonly source_hash: string;
      /** Id of the kernel message that will run it, for widgets that capture output. */
      readonly message_id: string;
    }
  | {
      readonly type: 'error';
      readonly request: string;
      readonly chat: string;
      /** A short name for programs, such as `busy`, `not_driver`, `disabled`, `setup`. */
      readonly code: string;
      readonly message: string;
      readonly hint: string;
    }
  | { readonly type: 'pong'; readonly at: number };

// Frames from the server, checked before anybody believes them.

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
interface ParsedFrame {
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
