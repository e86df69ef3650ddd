import { complaintOf } from '../../client/problems';
import type {
  ResultNumbers,
  ResultPlace,
  RunsRest,
  SampleFilter,
  SamplePage,
  SampleRow,
  Sorting
} from '../../client/runs_rest';
import { saveAs } from '../../ui/copy_and_save';
import { StateModel } from '../state';
import { UNSORTED } from '../table';

/** Which samples are shown, and in which order. */
export interface SampleChoice {
  readonly filter: SampleFilter;
  readonly sorting: Sorting;
}

const ALL_SAMPLES: SampleChoice = {
  filter: { status: '', outcome: '', group: '', query: '' },
  sorting: UNSORTED
};

interface SampleListState extends SampleChoice {
  readonly samples: readonly SampleRow[];
  readonly statuses: readonly string[];
  readonly groups: readonly string[];
  /** How many samples the filter lets through. */
  readonly fitting: number;
  readonly total: number;
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly problem: string;
}

/** The samples of one result, page by page. */
export class SampleList extends StateModel<SampleListState> {
  constructor(
    private readonly _rest: Pick<RunsRest, 'samples'>,
    readonly result: string,
    choice: SampleChoice = ALL_SAMPLES
  ) {
    super({
      samples: [],
      ...choice,
      statuses: [],
      groups: [],
      fitting: 0,
      total: 0,
      hasMore: false,
      isLoaded: false,
      problem: ''
    });
  }

  async setFilter(change: Partial<SampleFilter>): Promise<void> {
    this.set({ filter: { ...this.state.filter, ...change } });
    await this._read(1);
  }

  /** Sort all of them, also those that are not read yet. */
  async sort(sorting: Sorting): Promise<void> {
    this.set({ sorting });
    await this._read(1);
  }

  /** Read again what is shown, when it is not what the result holds by now. */
  async follow(version: string): Promise<void> {
    if (version !== this._version && version !== this._followed && !this._isReading) {
      this._followed = version;
      await this._read(this._pages);
    }
  }

  /** Read the page that follows. */
  async more(): Promise<void> {
    if (!this._isReading) {
      await this._read(this._pages + 1);
    }
  }

  private async _read(pages: number): Promise<void> {
    const { filter, sorting } = this.state;
    const ask = (start: number): Promise<SamplePage> =>
      this._rest.samples(this.result, filter, sorting, start);
    this._isReading = true;
    try {
      const samples: SampleRow[] = [];
      let page = await ask(0);
      samples.push(...page.samples);
      for (let read = 1; read < pages && page.next !== null; read++) {
        page = await ask(page.next);
        samples.push(...page.samples);
      }
      if (filter === this.state.filter && sorting === this.state.sorting) {
        const { statuses, groups, fitting, total, next, version } = page;
        this._pages = pages;
        this._version = version;
        this.set({
          ...{ samples, statuses, groups, fitting, total },
          hasMore: next !== null,
          isLoaded: true,
          problem: ''
        });
      }
    } catch (error) {
      if (filter === this.state.filter && sorting === this.state.sorting) {
        this._followed = ''; // the next look tries again
        this.set({ isLoaded: true, problem: complaintOf(error) });
      }
    } finally {
      this._isReading = false;
    }
  }

  private _pages = 1;
  private _version = '';
  private _followed = '';
  private _isReading = false;
}

/** So long the sum of a result that grows is left alone, in times of how long it took. */
const REST_FACTOR = 5;

/** A result with what it comes to, once that is known. */
export interface Result extends ResultPlace {
  readonly numbers: ResultNumbers | null;
  /** Why it is not known; empty: it will be. */
  readonly problem: string;
}

/** Which results are shown; empty texts leave a condition out. */
interface ResultFilter {
  readonly text: string;
  readonly agent: string;
  readonly suite: string;
  readonly model: string;
  readonly state: string;
}

export interface ResultListState {
  readonly folder: string;
  readonly results: readonly Result[];
  readonly filter: ResultFilter;
  readonly sorting: Sorting;
  /** Paths of at most two results that are to be compared, the first one first. */
  readonly chosen: readonly string[];
  readonly isCut: boolean;
  readonly isLoaded: boolean;
  readonly problem: string;
}

const ALL_RESULTS: ResultFilter = { text: '', agent: '', suite: '', model: '', state: '' };

type ResultsRest = Pick<RunsRest, 'results' | 'numbers' | 'leaderboard'>;

/** The results below a folder of the server, followed while they grow. */
export class ResultList extends StateModel<ResultListState> {
  constructor(rest: ResultsRest) {
    super({
      folder: 'runs',
      results: [],
      filter: ALL_RESULTS,
      sorting: UNSORTED,
      chosen: [],
      isCut: false,
      isLoaded: false,
      problem: ''
    });
    this._rest = rest;
  }

  /** Look into another folder. */
  async setFolder(folder: string): Promise<void> {
    this._version = '';
    this.set({ folder, results: [], chosen: [], isLoaded: false, problem: '' });
    await this.refresh();
  }

  setFilter(change: Partial<ResultFilter>): void {
    this.set({ filter: { ...this.state.filter, ...change } });
  }

  sort(sorting: Sorting): void {
    this.set({ sorting });
  }

  /** Choose a result for a comparison, or no longer; of three the one chosen first goes. */
  choose(path: string): void {
    const others = this.state.chosen.filter(chosen => chosen !== path);
    const isChosen = others.length < this.state.chosen.length;
    this.set({ chosen: isChosen ? others : [...others, path].slice(-2) });
  }

  /** Save all results of the folder as one page. */
  async saveLeaderboard(): Promise<void> {
    try {
      const { html } = await this._rest.leaderboard(this.state.folder);
      saveAs(new Blob([html], { type: 'text/html' }), 'leaderboard.html');
      this.set({ problem: '' });
    } catch (error) {
      this.set({ problem: complaintOf(error) });
    }
  }

  /** Ask what is there now, then for the sums that are not known yet. */
  async refresh(): Promise<void> {
    await this.look();
    await this.sumUp();
  }

  /** Ask what is there now. */
  async look(): Promise<void> {
    const { folder } = this.state;
    try {
      const answer = await this._rest.results(folder, this._version);
      if (folder === this.state.folder && answer.results !== null) {
        this._version = answer.version;
        this._take(answer.results, answer.is_cut);
      } else if (this.state.problem !== '') {
        this.set({ problem: '' });
      }
    } catch (error) {
      this.set({ problem: complaintOf(error), isLoaded: true });
    }
  }

  /** Ask for the sums that are not known yet, one after another: the server has other things to do. */
  async sumUp(): Promise<void> {
    if (this._isSummingUp) {
      return;
    }
    this._isSummingUp = true;
    let next = this._unsummed();
    while (next !== undefined && !this.isDisposed) {
      await this._sum(next);
      next = this._unsummed();
    }
    this._isSummingUp = false;
  }

  private _take(places: readonly ResultPlace[], isCut: boolean): void {
    const known = new Map(this.state.results.map(result => [result.path, result]));
    const results = places.map(place => {
      const { numbers = null, problem = '' } = known.get(place.path) ?? {};
      return { ...place, numbers, problem };
    });
    const paths = new Set(results.map(({ path }) => path));
    const chosen = this.state.chosen.filter(path => paths.has(path));
    this.set({ results, chosen, isCut, isLoaded: true, problem: '' });
  }

  private _unsummed(): Result | undefined {
    const now = Date.now();
    return this.state.results.find(
      ({ path, version }) =>
        this._summed.get(path) !== version && now >= (this._notBefore.get(path) ?? 0)
    );
  }

  private async _sum({ path, version }: Result): Promise<void> {
    const begun = Date.now();
    this._summed.set(path, version);
    let found: Pick<Result, 'numbers' | 'problem'>;
    try {
      found = { numbers: await this._rest.numbers(path), problem: '' };
    } catch (error) {
      found = { numbers: null, problem: complaintOf(error) };
    }
    const now = Date.now();
    this._notBefore.set(path, now + REST_FACTOR * (now - begun));
    const results = this.state.results.map(result =>
      result.path === path ? { ...result, ...found } : result
    );
    this.set({ results });
  }

  private readonly _rest: ResultsRest;
  private readonly _summed = new Map<string, string>();
  private readonly _notBefore = new Map<string, number>();
  private _version = '';
  private _isSummingUp = false;
}

/** The results that the filter lets through. */
export function filtered({ results, filter }: ResultListState): readonly Result[] {
  const words = filter.text.toLowerCase().split(/\s+/);
  return results.filter(result => {
    const said = [result.path, result.suite, agentOf(result), ...modelsOf(result)].join(' ');
    return (
      ['', result.suite].includes(filter.suite) &&
      ['', agentOf(result)].includes(filter.agent) &&
      ['', result.state].includes(filter.state) &&
      ['', ...modelsOf(result)].includes(filter.model) &&
      words.every(word => said.toLowerCase().includes(word))
    );
  });
}

/** The agent's own name, where it is known. */
export function agentOf(result: Result): string {
  return result.numbers?.agent ?? result.agent;
}

export function modelsOf(result: Result): readonly string[] {
  return result.numbers?.models ?? [];
}

/** How many samples could not be run. */
export function failuresIn({ failures }: ResultNumbers): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}
