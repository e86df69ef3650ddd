import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  AssistantMessage,
  HistoryCompacted,
  ModelReplied,
  RecordedEvent,
  RunEvent,
  RunFinished,
  RunStarted,
  SupersededRun,
  Usage
} from '../wire/generated';
import { type CallEvent, isCallEvent, ToolCards } from './tool_cards';
import type { Block, Turn } from './types';

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

/** What the model does and says. */
type ModelEvent = Extract<RunEvent, { kind: (typeof MODEL_KINDS)[number] }>;

const MODEL_KINDS = [
  'model_asked',
  'text_delta',
  'reasoning_delta',
  'model_retrying',
  'model_silent',
  'model_replied'
] as const;

const IS_MODEL_KIND: ReadonlySet<string> = new Set(MODEL_KINDS);

function isModelEvent(event: RunEvent): event is ModelEvent {
  return IS_MODEL_KIND.has(event.kind);
}

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
    if (isCallEvent(event)) {
      this._cards.take(event, time);
      this._count(event);
      this._wait(event, time);
    } else if (isModelEvent(event)) {
      this._takeModelEvent(event);
    } else {
      this._takeRunEvent(event, time);
    }
  }

  private _takeRunEvent(event: Exclude<RunEvent, CallEvent | ModelEvent>, time: number): void {
    switch (event.kind) {
      case 'run_started':
        this._start(event, time);
        break;
      case 'notice':
        this._blocks.push(event);
        break;
      case 'history_compacted':
        this._compact(event);
        break;
      case 'run_finished':
        this._finish(event);
        break;
      case 'state_captured':
        break; // for the record
      default:
        // a kind that a newer server knows: what is understood is still shown
        event satisfies never;
    }
  }

  private _takeModelEvent(event: ModelEvent): void {
    switch (event.kind) {
      case 'model_asked':
        this._speech.end();
        break;
      case 'text_delta':
        this._say('text', event.text);
        break;
      case 'reasoning_delta':
        this._say('reasoning', event.text);
        break;
      case 'model_retrying':
        this._speech.retract();
        this._act(this._trans.__('retrying (%1): %2', event.attempt, event.reason));
        break;
      case 'model_silent':
        this._act(this._trans.__('waiting %1 s', Math.round(event.seconds)));
        break;
      case 'model_replied':
        this._reply(event);
        break;
      default:
        event satisfies never;
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

  /** What a call spent on models of its own is part of what the turn took. */
  private _count(event: CallEvent): void {
    if (event.kind === 'tool_finished') {
      const usage = event.usage.reduce((sum, spent) => added(sum, spent.usage), this._head.usage);
      this._head = { ...this._head, usage };
    }
  }

  private _wait(event: CallEvent, time: number): void {
    const { waitedSeconds, waitingSince } = this._head;
    if (event.kind === 'approval_asked') {
      this._head = { ...this._head, waitingSince: time };
    } else if (event.kind === 'approval_answered' && waitingSince !== null) {
      const waited = waitedSeconds + Math.max(0, time - waitingSince);
      this._head = { ...this._head, waitedSeconds: waited, waitingSince: null };
    }
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
