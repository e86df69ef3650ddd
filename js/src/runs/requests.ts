/** The one place that asks the server about runs and results. */
import type { ServerConnection } from '@jupyterlab/services';

import { type Sorting, sortWord } from '../pages/sorting';
import { type Query, requestJson } from '../server/request';
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
} from '../server/shapes';
import type {
  ComparedRow,
  ComparedSide,
  Comparison,
  Estimate,
  NotRun,
  ResultListAnswer,
  ResultNumbers,
  ResultPlace,
  RunPage,
  RunRow,
  Sample,
  SampleCell,
  SamplePage,
  SampleRow,
  Score
} from './answers';

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
export interface RunPlace {
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
