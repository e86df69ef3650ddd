import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import type { Rest, RunCell } from '../client/panel_rest';
import type { RecordedEvent, RunEvent, ToolStarted } from '../wire/generated';
import type { ChatModel, ReceivedEvent } from './chat';
import type { ChatEvent, ChatPool } from './chat_pool';
import type { ChatMemory } from './memory';
import type { NotebookPort, NotebookRegistry, ProposalAnswer } from './notebooks';

/** What does nothing to a notebook. */
const ELSEWHERE: ReadonlySet<RunEvent['kind']> = new Set([
  'state_captured',
  'model_asked',
  'text_delta',
  'reasoning_delta',
  'model_retrying',
  'model_silent',
  'model_replied',
  'notice'
]);

/** The events of a run that goes on, for a notebook that gets them late. */
class RunHistory {
  constructor(readonly run: string) {}

  /** What came, in order. */
  get events(): readonly ReceivedEvent[] {
    return this._events;
  }

  /** Some of it happened while this page was not listening. */
  get hasReplay(): boolean {
    return this._events.some(({ isReplay }) => isReplay);
  }

  get isFinished(): boolean {
    return this._events.at(-1)?.recorded.event.kind === 'run_finished';
  }

  add(received: ReceivedEvent): void {
    this._events.push(received);
  }

  private readonly _events: ReceivedEvent[] = [];
}

/** Whether an event is of any interest to a notebook. */
function isForNotebook({ event }: RecordedEvent): boolean {
  return !ELSEWHERE.has(event.kind);
}

/** An edit of a cell that waits for the person; a null source: it waits no longer. */
interface Proposal {
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
function proposalIn(history: readonly ReceivedEvent[], event: RunEvent): Proposal | null {
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

interface DrivingOptions {
  readonly rest: Pick<Rest, 'runCells'>;
  readonly pool: ChatPool;
  readonly notebooks: NotebookRegistry;
  readonly memory: Pick<ChatMemory, 'isDriven' | 'unfinished' | 'setUnfinished'>;
}

/** A notebook into which a run's events go from this tab. */
interface Driven {
  readonly port: NotebookPort;
  readonly history: RunHistory;
  /** How many events of the history it got. */
  applied: number;
  /** Cells that the person took away while nobody was listening: they stay away. */
  readonly gone: Set<string>;
  /** The call of each edit that waits for the person, by its cell. */
  readonly proposals: Map<string, string>;
  /** Resolves when all that came before may be drawn. */
  ready: Promise<void>;
  isReady: boolean;
}

/** Hands the events of each run to the open notebook, in the one tab that drives it. */
export class Driving implements IDisposable {
  constructor(options: DrivingOptions) {
    this._options = options;
    const { notebooks, pool } = options;
    pool.eventReceived.connect(this._onEvent, this);
    pool.stateReceived.connect(this._onState, this);
    pool.removed.connect(this._onChatRemoved, this);
    notebooks.added.connect(this._onNotebook, this);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.disconnectReceiver(this);
    for (const chat of [...this._driven.keys()]) {
      this._stop(chat);
    }
  }

  /** Resolves when a notebook has got all events that came before. */
  async whenDrawn(port: NotebookPort): Promise<void> {
    const driven = [...this._driven.values()].filter(other => other.port === port);
    await Promise.all(driven.map(({ ready }) => ready));
  }

  /** A document was closed: nothing more is drawn in it. */
  leave(port: NotebookPort): void {
    for (const [chat, driven] of this._driven) {
      if (driven.port === port) {
        this._driven.delete(chat);
        this._options.memory.setUnfinished(chat.id, '');
        this._release(driven);
      }
    }
  }

  private _release({ port, proposals }: Driven): void {
    for (const cellId of proposals.keys()) {
      port.propose(cellId, null);
    }
    if (![...this._driven.values()].some(other => other.port === port)) {
      port.answered.disconnect(this._onAnswered, this);
    }
  }

  private _onChatRemoved(_: ChatPool, chat: ChatModel): void {
    this._histories.delete(chat);
    this._seenGoing.delete(chat);
    this._waiting.delete(chat);
    this._stop(chat);
  }

  private _onNotebook(): void {
    for (const chat of this._options.pool.all) {
      this._look(chat);
      if (this._waiting.has(chat)) {
        this._lookBack(chat);
      }
    }
  }

  private _onEvent(_: ChatPool, { chat, ...received }: ChatEvent): void {
    if (!isForNotebook(received.recorded)) {
      return;
    }
    let history = this._histories.get(chat);
    if (history?.run !== received.run) {
      this._stop(chat);
      this._waiting.delete(chat);
      history = new RunHistory(received.run);
      this._histories.set(chat, history);
    }
    history.add(received);
    const driven = this._driven.get(chat);
    if (driven === undefined) {
      this._look(chat);
    } else {
      this._pump(chat, driven);
    }
  }

  /** What the server says of a chat holds for the events that came before it. */
  private _onState(_: ChatPool, chat: ChatModel): void {
    if (chat.state.run !== '') {
      this._seenGoing.set(chat, chat.state.run);
    }
    this._look(chat);
    this._lookBack(chat);
  }

  /** Draw a run that was over before the server could say who drives. */
  private _lookBack(chat: ChatModel): void {
    const history = this._histories.get(chat);
    if (history?.isFinished !== true || this._driven.has(chat)) {
      return;
    }
    const { memory, notebooks } = this._options;
    const { run } = history;
    const isUnfinished = memory.unfinished(chat.id) === run;
    const isSeen = !history.hasReplay || this._seenGoing.get(chat) === run;
    if ((isUnfinished || isSeen) && this._isOurs(chat)) {
      if (isUnfinished && notebooks.find(chat.state.notebook_path) === null) {
        this._waiting.add(chat); // the page that was loaded again opens it in a moment
        return;
      }
      this._begin(chat, history);
    }
    this._forget(chat);
  }

  /** Nothing of the chat's last run is to be drawn any more. */
  private _forget(chat: ChatModel): void {
    this._waiting.delete(chat);
    this._histories.delete(chat);
    if (!this._driven.has(chat)) {
      this._options.memory.setUnfinished(chat.id, '');
    }
  }

  /** This tab drives the chat, or did so last and was about to again. */
  private _isOurs(chat: ChatModel): boolean {
    const isFree = chat.state.driver === '';
    return chat.isDriver || (isFree && this._options.memory.isDriven(chat.id));
  }

  /** See whether a run goes on that this tab drives. */
  private _look(chat: ChatModel): void {
    const history = this._histories.get(chat);
    const driven = this._driven.get(chat);
    if (chat.isDrivenElsewhere) {
      this._stop(chat);
      this._options.memory.setUnfinished(chat.id, '');
    } else if (driven === undefined && history !== undefined && !history.isFinished) {
      if (chat.isDriver && chat.state.run === history.run) {
        this._begin(chat, history);
      }
    }
  }

  private _begin(chat: ChatModel, history: RunHistory): void {
    const port = this._options.notebooks.find(chat.state.notebook_path);
    if (port === null) {
      return;
    }
    const driven: Driven = {
      port,
      history,
      applied: 0,
      gone: new Set(),
      proposals: new Map(),
      ready: Promise.resolve(),
      isReady: true
    };
    this._driven.set(chat, driven);
    this._options.memory.setUnfinished(chat.id, history.run);
    port.answered.connect(this._onAnswered, this);
    port.beginRun(history.run);
    if (history.hasReplay) {
      driven.isReady = false;
      driven.ready = this._learnGone(chat, driven);
    } else {
      this._pump(chat, driven);
    }
  }

  private async _learnGone(chat: ChatModel, driven: Driven): Promise<void> {
    const { port, history } = driven;
    const known = await this._options.rest.runCells(history.run).catch(() => []);
    const there = new Set(port.cells().map(({ id }) => id));
    for (const cell of known) {
      if (isGone(cell, there)) {
        driven.gone.add(cell.cell_id);
      }
    }
    driven.isReady = true;
    this._pump(chat, driven);
  }

  private _pump(chat: ChatModel, driven: Driven): void {
    const { events } = driven.history;
    while (driven.isReady && this._driven.get(chat) === driven && driven.applied < events.length) {
      const received = events[driven.applied];
      driven.applied += 1;
      if (received !== undefined) {
        this._apply(chat, driven, received);
      }
    }
  }

  private _apply(chat: ChatModel, driven: Driven, received: ReceivedEvent): void {
    const { run, recorded, isReplay } = received;
    const { gone, port } = driven;
    if (!gone.has(cellOf(recorded.event)) && !port.apply(run, recorded, isReplay) && !isReplay) {
      chat.tellLeft();
    }
    const proposal = proposalIn(driven.history.events, recorded.event);
    if (proposal !== null) {
      this._propose(driven, proposal);
    }
    if (recorded.event.kind === 'run_finished') {
      this._stop(chat);
      this._forget(chat);
    }
  }

  private _propose({ port, proposals }: Driven, proposal: Proposal): void {
    const { callId, cellId, source, runs } = proposal;
    if (source !== null) {
      proposals.set(cellId, callId);
    } else if (!proposals.delete(cellId)) {
      return;
    }
    port.propose(cellId, source, runs);
  }

  private _onAnswered(port: NotebookPort, { cellId, isAccepted }: ProposalAnswer): void {
    for (const [chat, driven] of this._driven) {
      const callId = driven.port === port ? driven.proposals.get(cellId) : undefined;
      if (callId !== undefined) {
        driven.proposals.delete(cellId);
        chat.answer(callId, isAccepted);
      }
    }
  }

  private _stop(chat: ChatModel): void {
    const driven = this._driven.get(chat);
    if (driven !== undefined) {
      this._driven.delete(chat);
      this._release(driven);
      driven.port.endRun(driven.history.run);
    }
  }

  private readonly _options: DrivingOptions;
  private readonly _histories = new Map<ChatModel, RunHistory>();
  /** The run of each chat that this page has seen going on. */
  private readonly _seenGoing = new Map<ChatModel, string>();
  /** Chats with a run that is to be drawn when its notebook opens. */
  private readonly _waiting = new Set<ChatModel>();
  private readonly _driven = new Map<ChatModel, Driven>();
  private _isDisposed = false;
}

function isGone({ cell_id: id, fate }: RunCell, there: ReadonlySet<string>): boolean {
  const wasThere = fate === 'saved';
  return fate === 'deleted' || fate === 'discarded' || (wasThere && !there.has(id));
}

function cellOf(event: RunEvent): string {
  return 'cell_id' in event ? event.cell_id : '';
}
