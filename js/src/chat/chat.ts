import type { TranslationBundle } from '@jupyterlab/translation';
import { PromiseDelegate, UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import {
  disconnectedProblem,
  forgottenProblem,
  leftProblem,
  type Problem,
  problemOf
} from '../client/problems';
import type { LinkState, ServerSocket } from '../client/socket';
import type {
  BranchesBeginning,
  ChatState,
  ClientFrame,
  RecordedEvent,
  RunEvent,
  ServerFrame
} from '../wire/generated';
import { ComposerModel, SentPrompts } from './composer';
import { TurnList } from './fold';
import type { ChatMemory } from './memory';
import type { AskOptions, Draft, Turn } from './types';

/** What a chat is doing as long as the server has not said so. */
function idleState(id: string, notebookPath: string): ChatState {
  return {
    id,
    title: '',
    notebook_path: notebookPath,
    updated_at: 0,
    run: '',
    phase: 'idle',
    queue: [],
    queue_paused: false,
    driver: '',
    approval: '',
    approval_problem: '',
    input: null,
    context_tokens: 0,
    context_limit: 0,
    superseded: [],
    branches: ''
  };
}

/** Events that come so often that not each of them is drawn on its own. */
const STREAMING_KINDS: ReadonlySet<RunEvent['kind']> = new Set([
  'text_delta',
  'reasoning_delta',
  'model_silent',
  'cell_output'
]);

/** Between two drawings while text streams: at most 20 a second. */
const INTERVAL_MILLISECONDS = 50;
/** A page in the background gets no animation frames. */
const FRAME_LIMIT_MILLISECONDS = 100;

/** Decides when to draw: at once, or with the next frame that is due while much is coming. */
export class RenderClock implements IDisposable {
  constructor(draw: () => void) {
    this._draw = draw;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._cancel();
    this._isDisposed = true;
  }

  /** Draw now; what was waiting is drawn with it. */
  now(): void {
    this._cancel();
    if (!this._isDisposed) {
      this._drawnAt = performance.now();
      this._draw();
    }
  }

  /** Draw once `interval` has passed since the last time. */
  soon(interval = INTERVAL_MILLISECONDS): void {
    if (this._timer !== null || this._isDisposed) {
      return;
    }
    const wait = this._drawnAt + interval - performance.now();
    if (wait <= 0) {
      this.now();
    } else {
      this._timer = setTimeout(() => {
        this._waitForFrame();
      }, wait);
    }
  }

  private _waitForFrame(): void {
    this._timer = setTimeout(() => {
      this.now();
    }, FRAME_LIMIT_MILLISECONDS);
    this._frame = requestAnimationFrame(() => {
      this.now();
    });
  }

  private _cancel(): void {
    if (this._timer !== null) {
      clearTimeout(this._timer);
      this._timer = null;
    }
    if (this._frame !== null) {
      cancelAnimationFrame(this._frame);
      this._frame = null;
    }
  }

  private readonly _draw: () => void;
  private _drawnAt = Number.NEGATIVE_INFINITY;
  private _timer: ReturnType<typeof setTimeout> | null = null;
  private _frame: number | null = null;
  private _isDisposed = false;
}

/** Between two drawings while old events come in: nobody reads yet. */
const LOADING_INTERVAL_MILLISECONDS = 300;

const DRIVE_REFUSALS: ReadonlySet<string> = new Set(['driven', 'no_notebook']);

type QueueAction = Extract<ClientFrame, { type: 'queue' }>['action'];

/** An event of a chat, as soon as it came. */
export interface ReceivedEvent {
  readonly run: string;
  readonly recorded: RecordedEvent;
  /** It happened while this page was not listening. */
  readonly isReplay: boolean;
}

export interface ChatOptions {
  /** Empty: the server makes the chat when the first prompt is sent. */
  readonly id: string;
  readonly notebookPath: string;
  readonly socket: ServerSocket;
  readonly memory: ChatMemory;
  readonly trans: TranslationBundle;
  /** Makes the chat on the server and gives its id. */
  readonly create: (notebookPath: string) => Promise<string>;
  /** Asks the server to try a prompt in several ways. */
  readonly branch: (id: string, wanted: BranchesBeginning) => Promise<unknown>;
  /** `AttachedNotebook.notebook` of an open document; empty: it is not open here. */
  readonly notebookAt: (path: string) => string;
}

/** One conversation: what was said, what goes on, and what the person is about to say. */
export class ChatModel implements IDisposable {
  constructor(options: ChatOptions) {
    const { id, memory, notebookPath, socket, trans } = options;
    this._options = options;
    this._state = idleState(id, notebookPath);
    this._turns = new TurnList(trans);
    this.composer = new ComposerModel(memory, id === '' ? `new:${notebookPath}` : id);
    socket.received.connect(this._onFrame, this);
    socket.stateChanged.connect(this._onLink, this);
    if (id === '') {
      this._whenKnown.resolve();
    } else {
      socket.follow(id);
    }
  }

  /** What the person is about to send. */
  readonly composer: ComposerModel;

  /** Empty until the first prompt of a new chat is sent. */
  get id(): string {
    return this._state.id;
  }

  /** A new array when something changed; turns that did not change stay the same objects. */
  get turns(): readonly Turn[] {
    return this._turns.turns;
  }

  get state(): ChatState {
    return this._state;
  }

  /** False: what was said before is still on its way. */
  get isCaughtUp(): boolean {
    return this._isCaughtUp || this.id === '';
  }

  /** Prompts that were sent and that the server has not accepted yet. */
  get sending(): readonly Draft[] {
    return this._sent.drafts;
  }

  /** What went wrong last; null: nothing, or the person has read it. */
  get problem(): Problem | null {
    return this._problem;
  }

  /** At most 20 a second while text streams, at once otherwise. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Every event, unthrottled. */
  get eventReceived(): ISignal<this, ReceivedEvent> {
    return this._eventReceived;
  }

  /** What the chat is doing came from the server: it holds for the events before it. */
  get stateReceived(): ISignal<this, ChatState> {
    return this._stateReceived;
  }

  /** This tab inserts the cells and answers. */
  get isDriver(): boolean {
    return this._state.driver !== '' && this._state.driver === this._options.socket.tab;
  }

  /** A run goes on, and another tab that is connected inserts its cells. */
  get isDrivenElsewhere(): boolean {
    return this._state.run !== '' && this._state.driver !== '' && !this.isDriver;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { socket } = this._options;
    socket.received.disconnect(this._onFrame, this);
    socket.stateChanged.disconnect(this._onLink, this);
    if (this.id !== '') {
      socket.unfollow(this.id);
    }
    this._clock.dispose();
    Signal.clearData(this.composer);
    Signal.clearData(this);
  }

  /**
   * Send a prompt; it waits its turn while a run goes on, or comes instead of it.
   *
   * What the person is writing stays: many prompts come from buttons.
   */
  ask(draft: Draft, options: AskOptions = {}): void {
    const request = UUID.uuid4();
    this._problem = null;
    this._sent.add(request, draft, this.turns.length);
    this._clock.now();
    void this._send(request, draft, options);
  }

  /**
   * Try a prompt in several ways side by side; the state tells when they are there.
   *
   * @param models Who answers, in turn; empty: the model of the prompt.
   */
  async tryWays(draft: Draft, count: number, models: readonly string[] = []): Promise<void> {
    const { branch, notebookAt } = this._options;
    const { assistant } = this.composer;
    this._problem = null;
    this.composer.clear();
    this._clock.now();
    try {
      await branch(await this._beginKnown(), {
        prompt: draft.text,
        notebook: notebookAt(this._state.notebook_path),
        mode: draft.mode,
        model: draft.model,
        context: draft.context,
        assistant,
        count,
        models
      });
    } catch (error) {
      this._problem = problemOf(error);
      this.composer.restore(draft);
      this._clock.now();
    }
  }

  /** Have the server make the chat, where it has not; its id. */
  async begin(): Promise<string> {
    if (this.id === '') {
      this._creating ??= this._create();
      await this._creating;
    }
    return this.id;
  }

  stop(): void {
    this._act({ type: 'stop', chat: this.id });
  }

  /** Have the conversation made shorter; the server says so, or why not. */
  compact(): void {
    this._act({ type: 'compact', request: UUID.uuid4(), chat: this.id });
  }

  /**
   * Allow or refuse the call that waits.
   *
   * @param adopt The result of its preview takes the place of running it.
   */
  answer(callId: string, allowed: boolean, reason = '', forSession = false, adopt = false): void {
    this._driveIfNobody();
    const verdict = { call_id: callId, allowed, reason, for_session: forSession };
    this._act({ type: 'answer', chat: this.id, ...verdict, ...(adopt ? { adopt } : {}) });
  }

  /** What the running cell's `input()` is given. */
  sendInput(value: string): void {
    const request = this._state.input?.request;
    if (request !== undefined) {
      this._driveIfNobody();
      this._act({ type: 'input', chat: this.id, request, value });
    }
  }

  /** Change what waits; `resume` takes an empty id. */
  editQueue(
    id: string,
    action: QueueAction,
    change: { readonly prompt?: string; readonly position?: number } = {}
  ): void {
    const { prompt = null, position = null } = change;
    this._act({ type: 'queue', chat: this.id, id, action, prompt, position });
  }

  /** Let the running cell go on for longer. */
  extend(seconds: number): void {
    this._driveIfNobody();
    this._act({ type: 'extend', chat: this.id, seconds });
  }

  /** Become the tab that inserts the cells and answers; quietly: a refusal is not shown. */
  drive(isQuiet = false): void {
    const notebook = this._options.notebookAt(this._state.notebook_path);
    this._isDriveQuiet = isQuiet;
    this._act({ type: 'drive', chat: this.id, notebook });
  }

  /** The notebook of a chat that the server does not know yet was renamed. */
  moveTo(notebookPath: string): void {
    if (this.id === '') {
      this.composer.rename(`new:${notebookPath}`);
      this._state = { ...this._state, notebook_path: notebookPath };
      this._clock.now();
    }
  }

  /** A branch is kept, and the person changed meanwhile what it changed. */
  tellLeft(): void {
    this._problem = leftProblem(this._options.trans);
    this._clock.now();
  }

  clearProblem(): void {
    this._problem = null;
    this._clock.now();
  }

  private async _send(request: string, draft: Draft, options: AskOptions): Promise<void> {
    const { notebookAt, socket, trans } = this._options;
    const { instead = false, supersedes = '' } = options;
    try {
      await this._beginKnown();
    } catch (error) {
      this._refused(request, problemOf(error));
      return;
    }
    if (!this._sent.has(request)) {
      return; // the line was lost meanwhile, and the person has the prompt back
    }
    const isSent = socket.send({
      type: 'ask',
      request,
      chat: this.id,
      prompt: draft.text,
      mode: draft.mode,
      model: draft.model,
      context: draft.context,
      notebook: notebookAt(this._state.notebook_path),
      instead,
      assistant: this.composer.assistant,
      supersedes
    });
    if (!isSent) {
      this._refused(request, disconnectedProblem(trans));
    }
  }

  /** The chat's id, when the server has also told which notebook it is about. */
  private async _beginKnown(): Promise<string> {
    const id = await this.begin();
    if (this._options.socket.state === 'open') {
      await this._whenKnown.promise;
    }
    return id;
  }

  private async _create(): Promise<void> {
    try {
      const id = await this._options.create(this._state.notebook_path);
      if (!this._isDisposed) {
        this.composer.rename(id);
        this._state = { ...this._state, id };
        this._options.socket.follow(id);
      }
    } finally {
      this._creating = null;
    }
  }

  /** The page that could answer is gone, and the server takes an answer only of one that drives. */
  private _driveIfNobody(): void {
    if (this._state.driver === '') {
      this.drive(true);
    }
  }

  private _act(frame: ClientFrame): void {
    const { socket, trans } = this._options;
    if (!socket.send(frame)) {
      this._problem = disconnectedProblem(trans);
      this._clock.now();
    }
  }

  private _onFrame(_: ServerSocket, frame: ServerFrame): void {
    const isOurs = 'state' in frame ? frame.state.id === this.id : this._concerns(frame);
    if (this.id !== '' && isOurs) {
      this._take(frame);
    }
  }

  private _concerns(frame: ServerFrame): boolean {
    return (
      ('chat' in frame && frame.chat === this.id) ||
      ('request' in frame && this._sent.has(frame.request))
    );
  }

  private _take(frame: ServerFrame): void {
    switch (frame.type) {
      case 'events':
        this._takeEvents(frame.run, frame.items);
        break;
      case 'chat':
        this._takeState(frame.state);
        break;
      case 'caught_up':
        this._catchUp();
        break;
      case 'accepted':
        this._sent.accept(frame.request, frame.queued, this._options.socket.server);
        this._clock.now();
        break;
      case 'error':
        this._refused(frame.request, frame);
        break;
      case 'welcome':
      case 'chat_deleted':
      case 'request':
      case 'pong':
        break; // for others
      default:
        frame satisfies never;
    }
  }

  private _takeState(state: ChatState): void {
    this._state = state;
    this._turns.supersede(state.superseded);
    this._isDriveQuiet = false;
    if (this._isCaughtUp) {
      this._noteWaiting();
    }
    this._stateReceived.emit(state);
    this._clock.now();
  }

  private _takeEvents(run: string, items: readonly RecordedEvent[]): void {
    const isReplay = !this._isCaughtUp;
    let isStreaming = true;
    for (const recorded of items) {
      this._turns.apply(run, recorded);
      if (recorded.event.kind === 'run_started') {
        this._sent.begin(recorded.event.prompt);
      }
      this._eventReceived.emit({ run, recorded, isReplay });
      isStreaming = isStreaming && STREAMING_KINDS.has(recorded.event.kind);
    }
    if (isReplay) {
      this._clock.soon(LOADING_INTERVAL_MILLISECONDS);
    } else if (isStreaming) {
      this._clock.soon();
    } else {
      this._clock.now();
    }
  }

  private _catchUp(): void {
    this._isCaughtUp = true;
    for (const draft of this._forgotten().reverse()) {
      this._problem = forgottenProblem(this._options.trans);
      this.composer.restore(draft);
    }
    this._noteWaiting();
    for (const draft of this._sent.settle(this.turns, this._state).reverse()) {
      this._problem = disconnectedProblem(this._options.trans);
      this.composer.restore(draft);
    }
    this._whenKnown.resolve();
    this._clock.now();
  }

  /** Keep which prompts of this tab wait: a server that ends forgets them. */
  private _noteWaiting(): void {
    const { memory, socket } = this._options;
    const known = new Set(memory.waiting(this.id).prompts.map(({ id }) => id));
    const prompts = this._state.queue.filter(
      ({ id, prompt }) => known.has(id) || this._sent.queued(prompt) !== null
    );
    memory.setWaiting(this.id, { server: socket.server, turns: this.turns.length, prompts });
  }

  /** The prompts of this tab that a server has which is gone, and whose turn never came. */
  private _forgotten(): Pick<Draft, 'text' | 'context'>[] {
    const { memory, socket } = this._options;
    const { server, turns, prompts } = memory.waiting(this.id);
    const next = this._sent.forgotten(this.turns, socket.server);
    if (server === socket.server) {
      return next;
    }
    const begun = this.turns.slice(turns).map(turn => turn.prompt);
    const waiting = prompts
      .filter(({ prompt }) => !begun.includes(prompt))
      .map(({ prompt }) => this._sent.queued(prompt) ?? { text: prompt, context: [] });
    return [...next, ...waiting];
  }

  private _onLink(_: ServerSocket, state: LinkState): void {
    if (state !== 'open') {
      this._isCaughtUp = false;
      this._sent.loseLine();
      this._clock.now();
    }
  }

  private _refused(request: string, { code, message, hint }: Problem): void {
    if (this._isDriveQuiet && DRIVE_REFUSALS.has(code)) {
      return; // another tab was quicker, or has the notebook
    }
    const draft = this._sent.take(request);
    this._problem = { code, message, hint };
    if (draft !== null) {
      this.composer.restore(draft);
    }
    this._clock.now();
  }

  private readonly _options: ChatOptions;
  private readonly _turns: TurnList;
  private readonly _sent = new SentPrompts();
  /** Resolved when all that was said before is here for the first time. */
  private readonly _whenKnown = new PromiseDelegate<void>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _eventReceived = new Signal<this, ReceivedEvent>(this);
  private readonly _stateReceived = new Signal<this, ChatState>(this);
  private readonly _clock = new RenderClock(() => {
    this._changed.emit();
  });
  private _state: ChatState;
  private _problem: Problem | null = null;
  private _creating: Promise<void> | null = null;
  private _isCaughtUp = false;
  private _isDriveQuiet = false;
  private _isDisposed = false;
}
