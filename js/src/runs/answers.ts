/** What the routes about runs and results answer. */
import type { Json, JsonObject } from '../events';

/** A number with its interval at 95 %. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** How the interval was found; `none`: there is too little for one. */
  readonly method: string;
  readonly count: number;
}

/** Where the results of one agent at one suite are. */
export interface ResultPlace {
  /** Below the server's root. */
  readonly path: string;
  readonly agent: string;
  readonly suite: string;
  readonly size_bytes: number;
  readonly modified_at: number;
  readonly state: 'done' | 'going' | 'unfinished';
  readonly version: string;
}

export interface ResultListAnswer {
  readonly version: string;
  /** Null: nothing changed. */
  readonly results: readonly ResultPlace[] | null;
  readonly is_cut: boolean;
}

export interface GroupNumbers {
  readonly value: number;
  readonly passed: number;
  readonly total: number;
  readonly low: number;
  readonly high: number;
}

/** A sample that could not be run. */
export interface NotRun {
  readonly index: string;
  readonly epoch: number;
  readonly error: string;
  readonly info: string;
}

/** What a result comes to. */
export interface ResultNumbers {
  readonly version: string;
  readonly agent: string;
  readonly suite: string;
  readonly models: readonly string[];
  readonly passed: number;
  readonly total: number;
  readonly share: Estimate;
  readonly by_status: Readonly<Record<string, number>>;
  readonly by_group: Readonly<Record<string, GroupNumbers>>;
  readonly check_errors: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly not_run: readonly NotRun[];
  readonly epochs: number;
  readonly at_k: Readonly<Record<string, Estimate>>;
  readonly cost_dollars: number | null;
  readonly cost_each: Estimate | null;
  readonly seconds: number;
  readonly seconds_each: Estimate | null;
  readonly tokens: number;
  readonly retries: number;
  readonly unreadable: number;
}

/** A sample in one line. */
export interface SampleRow {
  readonly id: string;
  readonly index: string;
  readonly epoch: number;
  readonly group: string;
  readonly family: string;
  readonly status: string;
  readonly passed: boolean;
  readonly is_scored: boolean;
  readonly why: string;
  readonly input: string;
  readonly cost_dollars: number | null;
  readonly seconds: number;
  readonly tokens: number;
  readonly retries: number;
}

export interface SamplePage {
  readonly version: string;
  readonly samples: readonly SampleRow[];
  /** Where the next page starts; null: there is none. */
  readonly next: number | null;
  readonly fitting: number;
  readonly total: number;
  readonly statuses: readonly string[];
  readonly groups: readonly string[];
}

/** What one of two results did with a sample. */
export interface ComparedSide {
  readonly id: string;
  readonly value: number;
  readonly tries: number;
  readonly epoch: number;
  readonly status: string;
  readonly why: string;
}

export type OutcomeChange = 'worse' | 'better' | 'same';

export interface ComparedRow {
  readonly index: string;
  readonly change: OutcomeChange;
  readonly delta: number;
  readonly first: ComparedSide;
  readonly second: ComparedSide;
}

/** The second of two results against the first. */
export interface Comparison {
  readonly difference: Estimate;
  readonly better: number;
  readonly worse: number;
  readonly equal: number;
  readonly p_value: number;
  readonly shared: number;
  readonly only_first: number;
  readonly only_second: number;
  readonly rows: readonly ComparedRow[];
  readonly next: number | null;
}

/** A recorded run in one line. */
export interface RunRow {
  readonly id: string;
  readonly chat: string;
  readonly status: string;
  readonly cause: string;
  readonly reason: string;
  readonly prompt: string;
  readonly model: string;
  readonly lane: string;
  readonly started_at: number;
  readonly seconds: number;
  readonly tokens: number;
  readonly is_estimated: boolean;
  readonly cost_dollars: number | null;
}

export interface RunPage {
  readonly version: string;
  /** Null: nothing changed. */
  readonly runs: readonly RunRow[] | null;
  /** Id of the last one, when there are more. */
  readonly after?: string | null;
  readonly statuses?: readonly string[];
  readonly models?: readonly string[];
  readonly lanes?: readonly string[];
}

export interface SampleCell {
  readonly id: string;
  readonly origin: string;
  readonly source: string;
  readonly status: string;
  readonly execution_count: number | null;
  /** As nbformat has them. */
  readonly outputs: readonly JsonObject[];
  readonly error: string;
  readonly seconds: number;
}

export interface Score {
  readonly name: string;
  readonly value: number | null;
  readonly passed: boolean;
  readonly explanation: string;
  readonly error: string;
}

/** `cellwright.sample/1`, as far as the page shows it. */
export interface Sample {
  readonly id: string;
  readonly run_id: string;
  /** The chat it was asked in; empty or left out: none. */
  readonly chat?: string | undefined;
  readonly suite: string;
  readonly task: { readonly index: string | number; readonly epoch: number };
  readonly agent: string;
  readonly model: JsonObject;
  readonly input: string;
  readonly target: string;
  readonly setup: readonly string[];
  /** In the shape of OpenAI's chat format. */
  readonly messages: readonly JsonObject[];
  readonly cells: readonly SampleCell[];
  readonly status: string;
  readonly cause: string;
  readonly error: string;
  readonly result: Json;
  readonly scores: readonly Score[];
  readonly usage: JsonObject;
  readonly cost_dollars: number | null;
  readonly time: { readonly started_at: number; readonly seconds: number };
  readonly env: JsonObject;
}
