/** What the views draw: plain frozen state, made by folding events. */
import type {
  Content,
  ContextItem as WireContextItem,
  Execution,
  JsonObject,
  Mode,
  NamedCell,
  RunStatus,
  Usage
} from '../wire/generated';

/** One tool call as a card. */
export interface ToolCard {
  readonly kind: 'tool';
  readonly callId: string;
  readonly name: string;
  /** What it does, in words. */
  readonly label: string;
  readonly risk: string;
  readonly status: 'waiting' | 'asking' | 'running' | 'ok' | 'error' | 'refused' | 'cancelled';
  /** Code or text it writes; empty: none. */
  readonly code: string;
  readonly language: string;
  readonly argumentsText: string;
  readonly given: JsonObject;
  /** The cells that its arguments name, as they were when it was asked about; else none. */
  readonly cells: readonly NamedCell[];
  /** Why it is asked about, or refused. */
  readonly reason: string;
  /** Cells it added, edited or ran. */
  readonly cellIds: readonly string[];
  /** Which of the run's cells it ran first, counted from 1; 0: it ran none. */
  readonly step: number;
  readonly execution: Execution | null;
  /** What the model was given, as text. */
  readonly result: string;
  readonly shown: string;
  /** What it says to the person, piece by piece; empty where `shown` says all. */
  readonly contents: readonly Content[];
  /** How far it is while it runs; null: it does not say. */
  readonly progress: Progress | null;
  /** Seconds since the epoch when it began; null: it waits. */
  readonly startedAt: number | null;
  readonly durationSeconds: number;
}

/** What a call says of itself while it runs. */
export interface Progress {
  readonly text: string;
  /** From 0 to 1; null: not known. */
  readonly fraction: number | null;
}

interface TextBlock {
  readonly kind: 'text';
  readonly text: string;
  readonly isStreaming: boolean;
}

export interface ReasoningBlock {
  readonly kind: 'reasoning';
  readonly text: string;
  readonly isStreaming: boolean;
}

export interface NoticeBlock {
  readonly kind: 'notice';
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
  readonly action: string;
  readonly code: string;
  readonly contents?: readonly Content[];
}

/** The conversation was made shorter before a prompt, or for its own sake. */
export interface Compaction {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export type Block = TextBlock | ReasoningBlock | ToolCard | NoticeBlock;

/** One prompt and everything that came of it. */
export interface Turn {
  readonly runId: string;
  readonly prompt: string;
  readonly files: readonly string[];
  /** What waited for the question and went with it. */
  readonly notes: readonly string[];
  readonly model: string;
  /** Empty: none was chosen. */
  readonly assistant: string;
  readonly mode: string;
  readonly startedAt: number;
  readonly status: RunStatus;
  /** Why it ended so, in plain words; empty for a plain `completed`. */
  readonly reason: string;
  readonly cause: string;
  readonly blocks: readonly Block[];
  /** Whether the model said or asked for anything; else the next question goes without this one. */
  readonly isAnswered: boolean;
  readonly compactions: readonly Compaction[];
  readonly usage: Usage;
  readonly costDollars: number | null;
  readonly durationSeconds: number;
  /** How long approvals took that were answered: no time of the run. */
  readonly waitedSeconds: number;
  /** Seconds since the epoch when the open approval was asked for; null: none is open. */
  readonly waitingSince: number | null;
  /** Shown while the model is silent or asked again: `waiting 12 s`, `retrying (2) …`. */
  readonly activity: string;
  /** The run that took its place: it is folded away and the model is not told; empty: none. */
  readonly supersededBy: string;
}

export type { LinkState } from '../client/socket';

type Item<Kind extends WireContextItem['kind'], Field extends keyof WireContextItem> = Readonly<
  { kind: Kind } & Required<Pick<WireContextItem, Field>>
>;

/** What a person put beside their prompt, with the fields that its kind has. */
export type ContextItem =
  | Item<'variable', 'name'>
  | Item<'cell' | 'selection' | 'error', 'cell_id' | 'text'>
  | Item<'file', 'file' | 'name'>;

/** What the person is about to send. */
export interface Draft {
  readonly text: string;
  readonly context: readonly ContextItem[];
  readonly mode: Mode;
  readonly model: string;
}

export interface AskOptions {
  /** Stop what goes on and ask this instead. */
  readonly instead?: boolean;
  /** The run whose question this takes the place of, with all that followed. */
  readonly supersedes?: string;
}

/** What stands in the sessions list. */
export interface ChatSummary {
  readonly id: string;
  readonly title: string;
  readonly notebookPath: string;
  readonly updatedAt: number;
  readonly runs: number;
  readonly activity: 'none' | 'running' | 'waiting_for_person';
}
