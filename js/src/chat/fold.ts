import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  ApprovalAnswered,
  ApprovalAsked,
  AssistantMessage,
  HistoryCompacted,
  ModelReplied,
  ModelRetrying,
  RecordedEvent,
  RunEvent,
  RunFinished,
  RunStarted,
  SupersededRun,
  ToolFinished,
  Usage
} from '../wire/generated';
import { ToolCards } from './tool_cards';
import type { Block, Turn } from './types';

/** What the person did with a run that was over; the cards of its calls show how it stands. */
const AFTERWARDS = ['undone', 'redone', 'files_back', 'files_forth'];

type SpeechKind = 'text' | 'reasoning';

interface Growing {
  readonly index: number;
  text: string;
  isShown: boolean;
}

/** What the model is saying in the reply that comes in, kept in the list of a turn's blocks. */
class Speech {
  constructor(blocks: Block[]) {
    this._blocks = blocks;
  }

  say(kind: SpeechKind, text: string): void {
    let growing = this._growing.get(kind);
    if (growing === undefined) {
      const index = this._blocks.push({ kind, text: '', isStreaming: true }) - 1;
      growing = { index, text: '', isShown: false };
      this._growing.set(kind, growing);
    }
    growing.text += text;
    growing.isShown = false;
  }

  /** Write what has grown into the blocks. */
  show(): void {
    for (const [kind, growing] of this._growing) {
      if (!growing.isShown) {
        this._blocks[growing.index] = { kind, text: growing.text, isStreaming: true };
        growing.isShown = true;
      }
    }
  }

  /** The reply is void: it will be asked for again. */
  retract(): void {
    const indexes = [...this._growing.values()].map(({ index }) => index);
    for (const index of indexes.sort((one, other) => other - one)) {
      this._blocks.splice(index, 1);
    }
    this._growing.clear();
  }

  /** The whole reply is there: it counts, and not what was seen of it. */
  settle(reasoning: string, text: string): void {
    if (this._isVoid('reasoning', reasoning) || this._isVoid('text', text)) {
      this.retract();
    }
    this._settle('reasoning', reasoning);
    this._settle('text', text);
    this.end();
  }

  /** No more comes of this reply. */
  end(): void {
    for (const [kind, { index, text }] of this._growing) {
      this._blocks[index] = { kind, text, isStreaming: false };
    }
    this._growing.clear();
  }

  /** It was seen, and the whole reply has none of it. */
  private _isVoid(kind: SpeechKind, text: string): boolean {
    return text === '' && this._growing.has(kind);
  }

  private _settle(kind: SpeechKind, text: string): void {
    const growing = this._growing.get(kind);
    if (growing !== undefined) {
      growing.text = text;
    } else if (text !== '') {
      this.say(kind, text);
    }
  }

  private readonly _blocks: Block[];
  private readonly _growing = new Map<SpeechKind, Growing>();
}

/** What is made of an event of each kind; a kind that is left out is a type error. */
type Handlers = {
  readonly [Kind in RunEvent['kind']]: (
    event: Extract<RunEvent, { kind: Kind }>,
    time: number
  ) => void;
};

const ignore = (): void => undefined;

const NO_USAGE: Usage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  estimated: false
};

/**
 * The fold of one run, an event at a time.
 *
 * A delta costs the same however long the reply has become: texts grow in place, and frozen
 * blocks are made only when somebody looks.
 */
export class TurnFold {
  constructor(runId: string, trans: TranslationBundle) {
    this._trans = trans;
    this._head = {
      runId,
      prompt: '',
      files: [],
      notes: [],
      model: '',
      assistant: '',
      mode: '',
      startedAt: 0,
      status: 'running',
      reason: '',
      cause: '',
      usage: NO_USAGE,
      costDollars: null,
      durationSeconds: 0,
      waitedSeconds: 0,
      waitingSince: null,
      activity: '',
      compactions: [],
      isAnswered: false,
      supersededBy: ''
    };
  }

  /** The turn as it is now; the same object until an event changes it. */
  get turn(): Turn {
    if (this._turn === null) {
      this._speech.show();
      this._turn = { ...this._head, blocks: [...this._blocks] };
    }
    return this._turn;
  }

  apply({ event, time }: RecordedEvent): void {
    this._turn = null;
    // a kind that only a newer server knows: what is understood is still shown
    if (Object.hasOwn(this._handlers, event.kind)) {
      const handle = this._handlers[event.kind] as (event: RunEvent, time: number) => void;
      handle(event, time);
    }
  }

  private _start(event: RunStarted, time: number): void {
    const names = event.file_names;
    this._head = {
      ...this._head,
      prompt: event.prompt,
      files: names.length > 0 ? names : event.files,
      notes: event.notes,
      model: event.parameters.model,
      assistant: event.assistant,
      mode: event.mode,
      startedAt: time
    };
  }

  private _compact(event: HistoryCompacted): void {
    const compaction = { tokensBefore: event.tokens_before, tokensAfter: event.tokens_after };
    this._head = { ...this._head, compactions: [...this._head.compactions, compaction] };
  }

  private _say(kind: 'text' | 'reasoning', text: string): void {
    this._speech.say(kind, text);
    this._act('');
    if (kind === 'text' && !this._head.isAnswered) {
      this._head = { ...this._head, isAnswered: true };
    }
  }

  private _act(activity: string): void {
    if (this._head.activity !== activity) {
      this._head = { ...this._head, activity };
    }
  }

  private _reply(event: ModelReplied): void {
    const { message, usage } = event;
    this._speech.settle(message.reasoning, saidIn(message));
    for (const call of message.tool_calls) {
      this._cards.await(call);
    }
    this._costs.push(event.cost_dollars);
    this._head = {
      ...this._head,
      isAnswered: true,
      model: event.model || this._head.model,
      usage: added(this._head.usage, usage),
      costDollars: total(this._costs),
      activity: ''
    };
  }

  private _retry(event: ModelRetrying): void {
    this._speech.retract();
    this._act(this._trans.__('retrying (%1): %2', event.attempt, event.reason));
  }

  private _ask(event: ApprovalAsked, time: number): void {
    this._cards.ask(event);
    this._head = { ...this._head, waitingSince: time };
  }

  private _decide(event: ApprovalAnswered, time: number): void {
    this._cards.decide(event, time);
    const { waitedSeconds, waitingSince } = this._head;
    if (waitingSince !== null) {
      const waited = waitedSeconds + Math.max(0, time - waitingSince);
      this._head = { ...this._head, waitedSeconds: waited, waitingSince: null };
    }
  }

  /** What a call spent on models of its own is part of what the turn took. */
  private _finishCall(event: ToolFinished): void {
    this._cards.finish(event);
    const usage = event.usage.reduce((sum, spent) => added(sum, spent.usage), this._head.usage);
    this._head = { ...this._head, usage };
  }

  private _finish(event: RunFinished): void {
    this._speech.end();
    this._cards.end();
    this._answer(event.answer);
    this._head = {
      ...this._head,
      status: event.status,
      reason: event.reason,
      cause: event.cause,
      usage: event.usage,
      costDollars: event.cost_dollars,
      durationSeconds: event.duration_seconds,
      waitingSince: null,
      activity: ''
    };
  }

  /** An answer that came through a call and not as text is shown as well. */
  private _answer(answer: string): void {
    const said = this._blocks.filter(block => block.kind === 'text').at(-1);
    if (answer.trim() !== '' && said?.text.includes(answer.trim()) !== true) {
      this._blocks.push({ kind: 'text', text: answer, isStreaming: false });
    }
  }

  private readonly _trans: TranslationBundle;
  private readonly _blocks: Block[] = [];
  private readonly _speech = new Speech(this._blocks);
  private readonly _cards = new ToolCards(this._blocks);
  private readonly _costs: (number | null)[] = [];
  private readonly _handlers: Handlers = {
    run_started: (event, time) => {
      this._start(event, time);
    },
    state_captured: ignore, // for the record
    model_asked: () => {
      this._speech.end();
    },
    text_delta: event => {
      this._say('text', event.text);
    },
    reasoning_delta: event => {
      this._say('reasoning', event.text);
    },
    model_retrying: event => {
      this._retry(event);
    },
    model_silent: event => {
      this._act(this._trans.__('waiting %1 s', Math.round(event.seconds)));
    },
    model_replied: event => {
      this._reply(event);
    },
    tool_started: (event, time) => {
      this._cards.start(event, time);
    },
    approval_asked: (event, time) => {
      this._ask(event, time);
    },
    approval_answered: (event, time) => {
      this._decide(event, time);
    },
    tool_progress: event => {
      this._cards.progress(event);
    },
    tool_finished: event => {
      this._finishCall(event);
    },
    cell_added: event => {
      this._cards.addCell(event);
    },
    cell_edited: event => {
      this._cards.noteCell(event);
    },
    cell_removed: event => {
      this._cards.noteCell(event);
    },
    cell_moved: event => {
      this._cards.noteCell(event);
    },
    cell_started: event => {
      this._cards.startCell(event);
    },
    cell_output: ignore, // drawn in the notebook
    cell_finished: event => {
      this._cards.finishCell(event);
    },
    notice: event => {
      if (!AFTERWARDS.includes(event.code)) {
        this._blocks.push(event);
      }
    },
    history_compacted: event => {
      this._compact(event);
    },
    run_finished: event => {
      this._finish(event);
    }
  };
  private _head: Omit<Turn, 'blocks'>;
  private _turn: Turn | null = null;
}

function saidIn(message: AssistantMessage): string {
  return message.text || message.refusal;
}

/** A sum in which one part is not known is not known. */
function total(costs: readonly (number | null)[]): number | null {
  return costs.reduce((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);
}

function added(one: Usage, other: Usage): Usage {
  return {
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    reasoning_tokens: one.reasoning_tokens + other.reasoning_tokens,
    estimated: one.estimated || other.estimated
  };
}

/** The turns of a chat, each folded from the events of one run. */
export class TurnList {
  constructor(trans: TranslationBundle) {
    this._trans = trans;
  }

  /** A new array when something changed; turns that did not change stay the same objects. */
  get turns(): readonly Turn[] {
    if (this._stale.size > 0) {
      const turns = [...this._turns];
      for (const index of this._stale) {
        const fold = this._folds[index];
        if (fold !== undefined) {
          turns[index] = this._placed(fold.turn);
        }
      }
      this._turns = turns;
      this._stale.clear();
    }
    return this._turns;
  }

  apply(run: string, recorded: RecordedEvent): void {
    let index = this._indexes.get(run);
    if (index === undefined) {
      index = this._folds.length;
      this._indexes.set(run, index);
      this._folds.push(new TurnFold(run, this._trans));
    }
    this._folds[index]?.apply(recorded);
    this._stale.add(index);
  }

  /** Which runs others took the place of; all others count. */
  supersede(superseded: readonly SupersededRun[]): void {
    const before = this._supersededBy;
    this._supersededBy = new Map(superseded.map(({ run, by }) => [run, by]));
    for (const [run, index] of this._indexes) {
      if (before.get(run) !== this._supersededBy.get(run)) {
        this._stale.add(index);
      }
    }
  }

  private _placed(turn: Turn): Turn {
    const supersededBy = this._supersededBy.get(turn.runId) ?? '';
    return turn.supersededBy === supersededBy ? turn : { ...turn, supersededBy };
  }

  private readonly _trans: TranslationBundle;
  private readonly _folds: TurnFold[] = [];
  private readonly _indexes = new Map<string, number>();
  private readonly _stale = new Set<number>();
  private _supersededBy: ReadonlyMap<string, string> = new Map();
  private _turns: readonly Turn[] = [];
}
