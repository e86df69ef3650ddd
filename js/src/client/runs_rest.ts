/** The one place that asks the server about runs and results, and what it answers. */
import type { ServerConnection } from '@jupyterlab/services';

import { type Sorting, sortWord } from '../pages/table';
import type { Json, JsonObject } from '../wire/generated';
import {
  list,
  nullable,
  number,
  oneOf,
  opaque,
  optional,
  record,
  type Shape,
  text,
  truth
} from '../wire/shapes';
import { type Query, requestJson } from './request';

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

interface ResultListAnswer {
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
interface NotRun {
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

interface RunPage {
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

/** A look that is repeated does not keep a server awake that is stopped when nobody uses it. */
const QUIETLY: Query = { no_track_activity: '1' };

const ESTIMATE = record<Estimate>({
  value: number,
  low: number,
  high: number,
  method: text,
  count: number
});

const RESULTS = record<ResultListAnswer>({
  version: text,
  results: nullable(
    list(
      record<ResultPlace>({
        path: text,
        agent: text,
        suite: text,
        size_bytes: number,
        modified_at: number,
        state: oneOf('done', 'going', 'unfinished'),
        version: text
      })
    )
  ),
  is_cut: truth
});

const NUMBERS = record<ResultNumbers>({
  version: text,
  agent: text,
  suite: text,
  models: list(text),
  passed: number,
  total: number,
  share: ESTIMATE,
  by_status: opaque<ResultNumbers['by_status']>(),
  by_group: opaque<ResultNumbers['by_group']>(),
  check_errors: number,
  failures: opaque<ResultNumbers['failures']>(),
  not_run: list(record<NotRun>({ index: text, epoch: number, error: text, info: text })),
  epochs: number,
  at_k: opaque<ResultNumbers['at_k']>(),
  cost_dollars: nullable(number),
  cost_each: nullable(ESTIMATE),
  seconds: number,
  seconds_each: nullable(ESTIMATE),
  tokens: number,
  retries: number,
  unreadable: number
});

const SAMPLES = record<SamplePage>({
  version: text,
  samples: list(
    record<SampleRow>({
      id: text,
      index: text,
      epoch: number,
      group: text,
      family: text,
      status: text,
      passed: truth,
      is_scored: truth,
      why: text,
      input: text,
      cost_dollars: nullable(number),
      seconds: number,
      tokens: number,
      retries: number
    })
  ),
  next: nullable(number),
  fitting: number,
  total: number,
  statuses: list(text),
  groups: list(text)
});

const SIDE = record<ComparedSide>({
  id: text,
  value: number,
  tries: number,
  epoch: number,
  status: text,
  why: text
});

const COMPARISON = record<Comparison>({
  difference: ESTIMATE,
  better: number,
  worse: number,
  equal: number,
  p_value: number,
  shared: number,
  only_first: number,
  only_second: number,
  rows: list(
    record<ComparedRow>({
      index: text,
      change: oneOf('worse', 'better', 'same'),
      delta: number,
      first: SIDE,
      second: SIDE
    })
  ),
  next: nullable(number)
});

const RUNS = record<RunPage>({
  version: text,
  runs: nullable(
    list(
      record<RunRow>({
        id: text,
        chat: text,
        status: text,
        cause: text,
        reason: text,
        prompt: text,
        model: text,
        lane: text,
        started_at: number,
        seconds: number,
        tokens: number,
        is_estimated: truth,
        cost_dollars: nullable(number)
      })
    )
  ),
  after: optional(nullable(text)),
  statuses: optional(list(text)),
  models: optional(list(text)),
  lanes: optional(list(text))
});

const anything: Shape<Sample['result']> = () => '';

const INDEX: Shape<string | number> = (value, path) =>
  typeof value === 'number' ? '' : text(value, path);

const SAMPLE = record<Sample>({
  id: text,
  run_id: text,
  chat: optional(text),
  suite: text,
  task: record<Sample['task']>({ index: INDEX, epoch: number }),
  agent: text,
  model: opaque<Sample['model']>(),
  input: text,
  target: text,
  setup: list(text),
  messages: list(opaque<Sample['messages'][number]>()),
  cells: list(
    record<SampleCell>({
      id: text,
      origin: text,
      source: text,
      status: text,
      execution_count: nullable(number),
      outputs: list(opaque<SampleCell['outputs'][number]>()),
      error: text,
      seconds: number
    })
  ),
  status: text,
  cause: text,
  error: text,
  result: anything,
  scores: list(
    record<Score>({
      name: text,
      value: nullable(number),
      passed: truth,
      explanation: text,
      error: text
    })
  ),
  usage: opaque<Sample['usage']>(),
  cost_dollars: nullable(number),
  time: record<Sample['time']>({ started_at: number, seconds: number }),
  env: opaque<Sample['env']>()
});

/** Which samples of a result; empty texts leave a condition out. */
export interface SampleFilter {
  readonly status: string;
  readonly outcome: '' | 'passed' | 'failed' | 'unscored';
  readonly group: string;
  readonly query: string;
}

/** Which recorded runs; empty texts leave a condition out. */
export interface RunFilter {
  readonly query: string;
  readonly status: string;
  readonly model: string;
  readonly lane: string;
}

/** Which page of the runs: the one after a run, unless nothing changed. */
interface RunPlace {
  /** Id of the last run of the page before; empty: the first page. */
  readonly after: string;
  /** The version that is shown; empty: none is. */
  readonly since: string;
}

/** What the server knows of runs and of results of benchmarks. */
export class RunsRest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  /** The results below a folder, unless nothing changed `since`. */
  results(folder: string, since: string): Promise<ResultListAnswer> {
    return this._get(RESULTS, ['results'], { folder, since, ...QUIETLY });
  }

  numbers(result: string): Promise<ResultNumbers> {
    return this._get(NUMBERS, ['results', 'summary'], { result, ...QUIETLY });
  }

  samples(
    result: string,
    filter: SampleFilter,
    sorting: Sorting,
    start: number
  ): Promise<SamplePage> {
    const place = { sort: sortWord(sorting), start: String(start) };
    const query = { result, ...filter, ...place, ...QUIETLY };
    return this._get(SAMPLES, ['results', 'samples'], query);
  }

  sample(result: string, id: string): Promise<Sample> {
    return this._get(SAMPLE, ['results', 'sample'], { result, id });
  }

  compare(first: string, second: string, start: number): Promise<Comparison> {
    const query = { first, second, start: String(start) };
    return this._get(COMPARISON, ['results', 'compare'], query);
  }

  /** A page of runs, sorted or the newest first, unless nothing changed `since`. */
  runs(filter: RunFilter, sorting: Sorting, place: RunPlace): Promise<RunPage> {
    const query = { ...filter, sort: sortWord(sorting), ...place, ...QUIETLY };
    return this._get(RUNS, ['runs'], query);
  }

  runSample(run: string): Promise<Sample> {
    return this._get(SAMPLE, ['runs', run, 'sample'], {});
  }

  private _get<T>(shape: Shape<T>, path: readonly string[], query: Query): Promise<T> {
    return requestJson(this._settings, shape, { path, query });
  }

  private readonly _settings: ServerConnection.ISettings;
}
