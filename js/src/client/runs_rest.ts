/** The one place that asks the server about runs and results, and what it answers. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  ComparedRow,
  LeaderboardPage,
  ResultComparison as Comparison,
  ResultListing,
  ResultNumbers,
  RunPage,
  RunSample as Sample,
  SamplePage
} from '../wire/generated';
import { type Shape, shape } from '../wire/shapes';
import { type Query, requestJson } from './request';

export type {
  CheckNumbers,
  ComparedSide,
  Estimate,
  GroupNumbers,
  ResultPlace,
  RunRow,
  SampleCell,
  SampleRow,
  Score
} from '../wire/generated';
export type { ComparedRow, Comparison, ResultNumbers, Sample, SamplePage };

export type OutcomeChange = ComparedRow['change'];

/** A look that is repeated does not keep a server awake that is stopped when nobody uses it. */
const QUIETLY: Query = { no_track_activity: '1' };

/** The order of the rows of a table. */
export interface Sorting {
  /** Which column; empty: as the rows come. */
  readonly column: string;
  readonly isDescending: boolean;
}

/** How the server is told of it. */
function sortWord({ column, isDescending }: Sorting): string {
  return column !== '' && isDescending ? `-${column}` : column;
}

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
  results(folder: string, since: string): Promise<ResultListing> {
    return this._get(shape('ResultListing'), ['results'], { folder, since, ...QUIETLY });
  }

  numbers(result: string): Promise<ResultNumbers> {
    return this._get(shape('ResultNumbers'), ['results', 'summary'], { result, ...QUIETLY });
  }

  samples(
    result: string,
    filter: SampleFilter,
    sorting: Sorting,
    start: number
  ): Promise<SamplePage> {
    const place = { sort: sortWord(sorting), start: String(start) };
    const query = { result, ...filter, ...place, ...QUIETLY };
    return this._get(shape('SamplePage'), ['results', 'samples'], query);
  }

  sample(result: string, id: string): Promise<Sample> {
    return this._get(shape('RunSample'), ['results', 'sample'], { result, id });
  }

  leaderboard(folder: string): Promise<LeaderboardPage> {
    return this._get(shape('LeaderboardPage'), ['results', 'leaderboard'], { folder });
  }

  compare(first: string, second: string, start: number): Promise<Comparison> {
    const query = { first, second, start: String(start) };
    return this._get(shape('ResultComparison'), ['results', 'compare'], query);
  }

  /** A page of runs, sorted or the newest first, unless nothing changed `since`. */
  runs(filter: RunFilter, sorting: Sorting, place: RunPlace): Promise<RunPage> {
    const query = { ...filter, sort: sortWord(sorting), ...place, ...QUIETLY };
    return this._get(shape('RunPage'), ['runs'], query);
  }

  runSample(run: string): Promise<Sample> {
    return this._get(shape('RunSample'), ['runs', run, 'sample'], {});
  }

  private _get<T>(answer: Shape<T>, path: readonly string[], query: Query): Promise<T> {
    return requestJson(this._settings, answer, { path, query });
  }

  private readonly _settings: ServerConnection.ISettings;
}
