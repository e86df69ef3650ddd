/** The line to the server: what a tab follows on it, how quick it is, and that it comes back. */
import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import { parseFrame } from '../wire/frames';
import {
  type ClientFrame,
  PROTOCOL,
  type RecordedEvent,
  type ServerFrame
} from '../wire/generated';

// Which chats a tab follows, and how far it has read each of them.

type FollowFrame = Extract<ClientFrame, { type: 'follow' }>;
type EventsFrame = Extract<ServerFrame, { type: 'events' }>;

class Position {
  after: FollowFrame['after'] = null;
  /** The last sequence seen of each run. */
  readonly seen = new Map<string, number>();
}

/** Lets every event through once, whatever the server sends again. */
class Following {
  get chats(): readonly string[] {
    return [...this._positions.keys()];
  }

  start(chat: string): void {
    if (!this._positions.has(chat)) {
      this._positions.set(chat, new Position());
    }
  }

  stop(chat: string): void {
    this._positions.delete(chat);
  }

  /** What asks for the events of a chat that were not seen yet. */
  frame(chat: string): FollowFrame {
    return { type: 'follow', chat, after: this._positions.get(chat)?.after ?? null };
  }

  /** The events of a frame that are new; none of a chat that nobody follows. */
  take(frame: EventsFrame): readonly RecordedEvent[] {
    const position = this._positions.get(frame.chat);
    if (position === undefined) {
      return [];
    }
    let last = position.seen.get(frame.run) ?? 0;
    const fresh = frame.items.filter(({ sequence }) => {
      const isNew = sequence === 0 || sequence > last;
      last = Math.max(last, sequence);
      return isNew;
    });
    if (last > 0) {
      position.seen.set(frame.run, last);
      position.after = { run: frame.run, sequence: last };
    }
    return fresh;
  }

  private readonly _positions = new Map<string, Position>();
}

// How quick the line is, and whether something on it holds text back.

/** What comes within this time of what came before is one burst. */
const BURST_MILLISECONDS = 150;
/** A burst of events that were made over a longer time was held back. */
const HELD_BACK_SECONDS = 2;
const GOOD_SECONDS = 1;
const STRIKES = 2;

/**
 * Finds a proxy that buffers: it lets frames through in bursts, each burst made of events that
 * the server sent seconds apart. Needs no clock that server and tab share.
 */
class LinkQuality {
  get isBuffered(): boolean {
    return this._isBuffered;
  }

  /** A `pong` came; both times in milliseconds of one clock. */
  pong(sentAt: number, now: number): void {
    const lagSeconds = Math.max(0, now - sentAt) / 1000;
    if (lagSeconds > HELD_BACK_SECONDS) {
      this._strike();
    } else if (lagSeconds < GOOD_SECONDS) {
      this._strikes = Math.max(0, this._strikes - 1);
      this._isBuffered = this._isBuffered && this._strikes > 0;
    }
  }

  /** Events came that were made at these times (seconds), and that were not asked for anew. */
  batch(times: readonly number[], now: number): void {
    if (now - this._burst.end > BURST_MILLISECONDS) {
      this._burst = { end: now, first: Infinity, last: -Infinity, isCounted: false };
    }
    const burst = this._burst;
    burst.end = now;
    burst.first = times.reduce((least, time) => Math.min(least, time), burst.first);
    burst.last = times.reduce((most, time) => Math.max(most, time), burst.last);
    if (!burst.isCounted && burst.last - burst.first > HELD_BACK_SECONDS) {
      burst.isCounted = true;
      this._strike();
    }
  }

  private _strike(): void {
    this._strikes += 1;
    this._isBuffered = this._isBuffered || this._strikes >= STRIKES;
  }

  private _isBuffered = false;
  private _strikes = 0;
  private _burst = { end: -Infinity, first: Infinity, last: -Infinity, isCounted: false };
}

/** The connection to the server. */
export type LinkState = 'connecting' | 'open' | 'waiting' | 'closed' | 'refused' | 'wrong_version';

const PATH = 'cellwright/v1/socket';
/** A route that is refused whenever the socket is. */
const PROBE_PATH = 'cellwright/v1/service';

const FIRST_WAIT_SECONDS = 0.25;
const LONGEST_WAIT_SECONDS = 8;
const WELCOME_SECONDS = 10;
const BEAT_SECONDS = 1;
const PING_SECONDS = 20;
const PONG_SECONDS = 15;
/** After a sleep a dead line is the rule. */
const PONG_AFTER_SLEEP_SECONDS = 3;
const SLEEP_SECONDS = 30;
/** A page that was busy for longer gets in one go what had waited for it. */
const BUSY_SECONDS = 2;

/** So many tries fail, with a server that is up, only where something stops WebSockets. */
const BLOCKED_ATTEMPTS = 3;
const REFUSED_CLOSE_CODES = [1008, 4401, 4403];

interface SocketOptions {
  readonly settings: ServerConnection.ISettings;
  /** The version of the labextension. */
  readonly version: string;
  readonly tab: string;
}

/**
 * The one WebSocket of a tab: it comes back by itself and reads on where it was.
 */
export class ServerSocket implements IDisposable {
  constructor(options: SocketOptions) {
    this.tab = options.tab;
    this._settings = options.settings;
    this._version = options.version;
    window.addEventListener('online', this._wake);
    document.addEventListener('visibilitychange', this._wake);
    this._beatTimer = setInterval(() => {
      this._beat();
    }, BEAT_SECONDS * 1000);
    this._connect();
  }

  readonly tab: string;

  get state(): LinkState {
    return this._state;
  }

  get stateChanged(): ISignal<this, LinkState> {
    return this._stateChanged;
  }

  /** Every frame but `pong`; of `events` only those that were not seen before. */
  get received(): ISignal<this, ServerFrame> {
    return this._received;
  }

  /** The server's version; empty: not known yet. */
  get serverVersion(): string {
    return this._serverVersion;
  }

  /** Which server it is, another one after each of its starts; empty: not known yet. */
  get server(): string {
    return this._server;
  }

  /** Something between server and browser holds text back. */
  get isBuffered(): boolean {
    return this._quality.isBuffered;
  }

  /** The server answers requests, and yet no WebSocket gets through to it. */
  get isBlocked(): boolean {
    return this._isBlocked;
  }

  /** `isBuffered` or `isBlocked` changed. */
  get qualityChanged(): ISignal<this, void> {
    return this._qualityChanged;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    window.removeEventListener('online', this._wake);
    document.removeEventListener('visibilitychange', this._wake);
    clearInterval(this._beatTimer);
    this._hangUp();
    this._setState('closed');
    Signal.clearData(this);
  }

  /** False: the line is down and nothing was sent. */
  send(frame: ClientFrame): boolean {
    if (this._state !== 'open' || this._socket === null) {
      return false;
    }
    this._socket.send(JSON.stringify(frame));
    return true;
  }

  /** Get what a chat has recorded, then what comes, through every loss of the line. */
  follow(chat: string): void {
    this._following.start(chat);
    this._caughtUp.delete(chat);
    this.send(this._following.frame(chat));
  }

  unfollow(chat: string): void {
    this._following.stop(chat);
    this.send({ type: 'unfollow', chat });
  }

  /** Try again now, such as after a refusal. */
  reconnect(): void {
    if (!this._isDisposed) {
      this._attempts = 0;
      this._connect();
    }
  }

  private _connect(): void {
    this._hangUp();
    this._setState(this._attempts === 0 ? 'connecting' : 'waiting');
    const socket = new this._settings.WebSocket(this._url());
    this._socket = socket;
    this._limit(WELCOME_SECONDS);
    socket.onopen = () => {
      this._hello(socket);
    };
    socket.onmessage = (message: MessageEvent<unknown>) => {
      this._read(message.data);
    };
    socket.onclose = (event: CloseEvent) => {
      this._lost(event.code);
    };
  }

  private _url(): string {
    const { wsUrl, token, appendToken } = this._settings;
    const url = URLExt.join(wsUrl, PATH);
    return appendToken && token !== '' ? `${url}?token=${encodeURIComponent(token)}` : url;
  }

  private _hello(socket: WebSocket): void {
    const hello: ClientFrame = {
      type: 'hello',
      protocol: PROTOCOL,
      version: this._version,
      tab: this.tab,
      nonce: this._nonce
    };
    socket.send(JSON.stringify(hello));
  }

  /** Forget the line without waiting for it: a dead one takes minutes to close. */
  private _hangUp(): void {
    clearTimeout(this._limitTimer);
    clearTimeout(this._retryTimer);
    const socket = this._socket;
    this._socket = null;
    if (socket !== null) {
      socket.onopen = null;
      socket.onmessage = null;
      socket.onclose = null;
      socket.close();
    }
  }

  /** Give the line up if nothing at all comes in this time. */
  private _limit(seconds: number): void {
    clearTimeout(this._limitTimer);
    this._limitTimer = setTimeout(() => {
      this._lost(0);
    }, seconds * 1000);
  }

  private _lost(code: number): void {
    const wasOpen = this._state === 'open';
    this._hangUp();
    this._caughtUp.clear();
    if (REFUSED_CLOSE_CODES.includes(code)) {
      this._setState('refused');
      return;
    }
    this._retryLater();
    if (!wasOpen) {
      void this._askWhetherRefused();
    }
  }

  private _retryLater(): void {
    const wait = Math.min(FIRST_WAIT_SECONDS * 2 ** this._attempts, LONGEST_WAIT_SECONDS);
    this._attempts += 1;
    this._setState('waiting');
    this._retryTimer = setTimeout(() => {
      this._connect();
    }, wait * 1000);
  }

  /** A browser does not say why a socket was not opened; a request is told. */
  private async _askWhetherRefused(): Promise<void> {
    const url = URLExt.join(this._settings.baseUrl, PROBE_PATH);
    let status: number;
    try {
      ({ status } = await ServerConnection.makeRequest(url, {}, this._settings));
    } catch {
      return; // the network is down: the next try is planned
    }
    if (this._state !== 'waiting') {
      return;
    }
    if ([401, 403].includes(status)) {
      this._hangUp();
      this._setState('refused');
    } else if (status === 200 && this._attempts >= BLOCKED_ATTEMPTS) {
      this._setBlocked(true);
    }
  }

  private _setBlocked(isBlocked: boolean): void {
    if (this._isBlocked !== isBlocked) {
      this._isBlocked = isBlocked;
      this._qualityChanged.emit();
    }
  }

  private _read(data: unknown): void {
    clearTimeout(this._limitTimer);
    const { frame, complaint } = parseFrame(data);
    if (complaint !== '' && !this._complaints.has(complaint)) {
      this._complaints.add(complaint);
      console.warn(`cellwright left out what the server sent: ${complaint}`);
    }
    if (frame !== null) {
      this._take(frame);
    }
  }

  private _take(frame: ServerFrame): void {
    if (frame.type === 'pong') {
      this._measure(() => {
        this._quality.pong(frame.at, performance.now());
      });
    } else if (frame.type === 'events') {
      this._events(frame);
    } else {
      this._note(frame);
      this._received.emit(frame);
    }
  }

  private _note(frame: ServerFrame): void {
    if (frame.type === 'welcome') {
      this._welcome(frame);
    } else if (frame.type === 'caught_up') {
      this._caughtUp.add(frame.chat);
    } else if (frame.type === 'chat_deleted') {
      this._following.stop(frame.chat);
    } else if (frame.type === 'error' && frame.code === 'wrong_version') {
      this._refuseVersion();
    }
  }

  private _welcome(frame: Extract<ServerFrame, { type: 'welcome' }>): void {
    this._serverVersion = frame.version;
    this._server = frame.server;
    if (frame.protocol !== PROTOCOL) {
      this._refuseVersion();
      return;
    }
    this._attempts = 0;
    this._setBlocked(false);
    this._setState('open');
    for (const chat of this._following.chats) {
      this.send(this._following.frame(chat));
    }
    this._ping(PONG_SECONDS);
  }

  private _refuseVersion(): void {
    this._hangUp();
    this._setState('wrong_version');
  }

  private _events(frame: Extract<ServerFrame, { type: 'events' }>): void {
    const items = this._following.take(frame);
    const isAwake = !document.hidden && Date.now() - this._beatAt < BUSY_SECONDS * 1000;
    if (isAwake && this._caughtUp.has(frame.chat)) {
      this._measure(() => {
        const times = items.filter(item => item.sequence > 0).map(item => item.time);
        this._quality.batch(times, performance.now());
      });
    }
    if (items.length > 0) {
      this._received.emit({ ...frame, items });
    }
  }

  private _measure(measure: () => void): void {
    const before = this._quality.isBuffered;
    measure();
    if (this._quality.isBuffered !== before) {
      this._qualityChanged.emit();
    }
  }

  private _beat(): void {
    const now = Date.now();
    const slept = now - this._beatAt > SLEEP_SECONDS * 1000;
    this._beatAt = now;
    if (slept) {
      this._wake();
    } else if (now - this._pingAt >= PING_SECONDS * 1000) {
      this._ping(PONG_SECONDS);
    }
  }

  private _ping(limitSeconds: number): void {
    if (this._state === 'open') {
      this._pingAt = Date.now();
      this._limit(limitSeconds);
      this.send({ type: 'ping', at: performance.now() });
    }
  }

  /** The page or the network is back: see at once whether the line is. */
  private readonly _wake = (): void => {
    if (document.hidden) {
      return;
    }
    if (this._state === 'open') {
      this._ping(PONG_AFTER_SLEEP_SECONDS);
    } else if (this._state === 'waiting' || this._state === 'refused') {
      this.reconnect();
    }
  };

  private _setState(state: LinkState): void {
    if (this._state !== state) {
      this._state = state;
      this._stateChanged.emit(state);
    }
  }

  private readonly _settings: ServerConnection.ISettings;
  private readonly _version: string;
  /** Lives in this page alone: nothing on the disk can answer an approval. */
  private readonly _nonce = UUID.uuid4();
  private readonly _following = new Following();
  private readonly _quality = new LinkQuality();
  private readonly _caughtUp = new Set<string>();
  private readonly _complaints = new Set<string>();
  private readonly _stateChanged = new Signal<this, LinkState>(this);
  private readonly _received = new Signal<this, ServerFrame>(this);
  private readonly _qualityChanged = new Signal<this, void>(this);
  private readonly _beatTimer: ReturnType<typeof setInterval>;
  private _limitTimer: ReturnType<typeof setTimeout> | undefined;
  private _retryTimer: ReturnType<typeof setTimeout> | undefined;
  private _socket: WebSocket | null = null;
  private _state: LinkState = 'connecting';
  private _serverVersion = '';
  private _server = '';
  private _attempts = 0;
  private _isBlocked = false;
  private _beatAt = Date.now();
  private _pingAt = 0;
  private _isDisposed = false;
}
