/** A server for tests that speaks the panel's protocol, over sockets that are not there. */
import { ServerConnection } from '@jupyterlab/services';

import type {
  ChatState,
  ClientFrame,
  RecordedEvent,
  RunEvent,
  ServerFrame
} from '../src/wire/generated';

type FrameOf<T extends ClientFrame['type']> = Extract<ClientFrame, { type: T }>;

/** What the page holds: one end of a connection. */
export class FakeSocket {
  constructor(
    readonly server: FakeServer,
    readonly url: string
  ) {
    server.sockets.push(this);
    queueMicrotask(() => {
      server.accept(this);
    });
  }

  onopen: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  isClosed = false;
  readonly sent: ClientFrame[] = [];

  send(data: string): void {
    const frame = JSON.parse(data) as ClientFrame;
    this.sent.push(frame);
    this.server.take(this, frame);
  }

  close(): void {
    this.isClosed = true;
  }
}

/** A request that the page made. */
export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

type Answer = (request: FakeRequest) => unknown;

export function chatState(id: string, change: Partial<ChatState> = {}): ChatState {
  return {
    id,
    title: 'A chat',
    notebook_path: '',
    updated_at: 1000,
    run: '',
    phase: 'idle',
    queue: [],
    queue_paused: false,
    driver: '',
    approval: '',
    approval_problem: '',
    input: null,
    superseded: [],
    branches: '',
    context_tokens: 0,
    context_limit: 0,
    ...change
  };
}

export class FakeServer {
  readonly sockets: FakeSocket[] = [];
  readonly requests: FakeRequest[] = [];
  /** How a connection is met: as usual, by silence, or by closing it. */
  meeting: 'welcome' | 'silent' | 'close' = 'welcome';
  protocol = 1;
  /** Another one after a restart. */
  id = 's1';
  version = '0.1.0';
  answersPings = true;
  /** So long what was said before takes to arrive; 0: no time at all. */
  catchUpMilliseconds = 0;
  /** By method and path, such as `GET chats`; what is not here is 404. */
  readonly routes = new Map<string, Answer>();

  readonly settings = ServerConnection.makeSettings({
    baseUrl: 'http://127.0.0.1/user/x/',
    wsUrl: 'ws://127.0.0.1/user/x/',
    token: 'a b',
    appendToken: true,
    WebSocket: connectorTo(this),
    fetch: async (input: RequestInfo) => this._answer(new Request(input))
  });

  /** The connection made last. */
  get line(): FakeSocket {
    const line = this.sockets.at(-1);
    if (line === undefined) {
      throw new Error('nobody has connected');
    }
    return line;
  }

  /** All frames of one type, over all connections. */
  sent<T extends ClientFrame['type']>(type: T): FrameOf<T>[] {
    const frames = this.sockets.flatMap(({ sent }) => sent);
    return frames.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  setChat(state: ChatState): void {
    this._states.set(state.id, state);
    this.send({ type: 'chat', state });
  }

  /** Record events of a run and send them, in one frame, to whoever is connected. */
  record(chat: string, run: string, events: readonly RunEvent[], time = 1000): RecordedEvent[] {
    const runs = this._records.get(chat) ?? new Map<string, RecordedEvent[]>();
    this._records.set(chat, runs);
    const recorded = runs.get(run) ?? [];
    runs.set(run, recorded);
    const items = events.map((event, index) => ({
      sequence: recorded.length + index + 1,
      time,
      event
    }));
    recorded.push(...items);
    this.send({ type: 'events', chat, run, items });
    return items;
  }

  /** Send a frame, or what is none, over the connection made last. */
  send(frame: ServerFrame | object | string): void {
    const line = this.sockets.at(-1);
    if (line?.isClosed === false) {
      line.onmessage?.({ data: typeof frame === 'string' ? frame : JSON.stringify(frame) });
    }
  }

  /** Break the connection as a network does. */
  drop(code = 1006): void {
    const { line } = this;
    line.isClosed = true;
    line.onclose?.({ code });
  }

  accept(socket: FakeSocket): void {
    if (socket.isClosed || this.meeting === 'silent') {
      return;
    }
    if (this.meeting === 'close') {
      socket.isClosed = true;
      socket.onclose?.({ code: 1006 });
      return;
    }
    socket.onopen?.();
  }

  take(socket: FakeSocket, frame: ClientFrame): void {
    const answer = (reply: ServerFrame): void => {
      if (!socket.isClosed) {
        socket.onmessage?.({ data: JSON.stringify(reply) });
      }
    };
    if (frame.type === 'hello') {
      answer({ type: 'welcome', protocol: this.protocol, version: this.version, server: this.id });
    } else if (frame.type === 'ping' && this.answersPings) {
      answer({ type: 'pong', at: frame.at });
    } else if (frame.type === 'follow') {
      this._soon(() => {
        this._catchUp(frame, answer);
      });
    }
  }

  private _soon(act: () => void): void {
    if (this.catchUpMilliseconds === 0) {
      queueMicrotask(act);
    } else {
      setTimeout(act, this.catchUpMilliseconds);
    }
  }

  private _catchUp({ chat, after }: FrameOf<'follow'>, answer: (frame: ServerFrame) => void): void {
    let isLater = after === null;
    for (const [run, recorded] of this._records.get(chat) ?? []) {
      const last = after?.run === run ? after.sequence : 0;
      const items = recorded.filter(({ sequence }) => sequence > last);
      isLater = isLater || after?.run === run;
      if (isLater && items.length > 0) {
        answer({ type: 'events', chat, run, items });
      }
    }
    answer({ type: 'chat', state: this._states.get(chat) ?? chatState(chat) });
    answer({ type: 'caught_up', chat });
  }

  private async _answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = decodeURIComponent(url.pathname.replace('/user/x/cellwright/v1/', ''));
    const { method } = request;
    const made = { method, path, query: url.searchParams, body: await request.text() };
    this.requests.push(made);
    const route = this.routes.get(`${method} ${path}`);
    if (route === undefined) {
      return Response.json({ message: 'Not Found' }, { status: 404 });
    }
    const answer = await route(made);
    return answer instanceof Response ? answer : Response.json(answer);
  }

  private readonly _records = new Map<string, Map<string, RecordedEvent[]>>();
  private readonly _states = new Map<string, ChatState>();
}

/** The class that a page makes its connections with. */
function connectorTo(server: FakeServer): typeof WebSocket {
  return class extends FakeSocket {
    constructor(url: string) {
      super(server, url);
    }
  } as unknown as typeof WebSocket;
}
