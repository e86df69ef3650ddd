import { complaintOf } from '../../client/problems';
import type {
  ComparedRow,
  Comparison,
  OutcomeChange,
  RunFilter,
  RunRow,
  RunsRest,
  Sample,
  Sorting
} from '../../client/runs_rest';
import { StateModel, WatchedPage } from '../state';
import { UNSORTED } from '../table';
import { ResultList, type SampleChoice, SampleList } from './result_list';

interface RunListState {
  readonly runs: readonly RunRow[];
  readonly filter: RunFilter;
  readonly sorting: Sorting;
  readonly statuses: readonly string[];
  readonly models: readonly string[];
  readonly lanes: readonly string[];
  readonly hasMore: boolean;
  readonly isLoaded: boolean;
  readonly problem: string;
}

/** The recorded runs, the newest first, followed while they go on. */
export class RunList extends StateModel<RunListState> {
  constructor(rest: Pick<RunsRest, 'runs'>) {
    super({
      runs: [],
      filter: { query: '', status: '', model: '', lane: '' },
      sorting: UNSORTED,
      statuses: [],
      models: [],
      lanes: [],
      hasMore: false,
      isLoaded: false,
      problem: ''
    });
    this._rest = rest;
  }

  async setFilter(change: Partial<RunFilter>): Promise<void> {
    this._version = '';
    this.set({ filter: { ...this.state.filter, ...change } });
    await this.refresh();
  }

  /** Sort all of them, also those that are not read yet. */
  async sort(sorting: Sorting): Promise<void> {
    this._version = '';
    this.set({ sorting });
    await this.refresh();
  }

  /** Ask for the first page again; what was read of later ones stays below it. */
  async refresh(): Promise<void> {
    const { filter, sorting } = this.state;
    const since = this._version;
    await this._ask(async () => {
      const page = await this._rest.runs(filter, sorting, { after: '', since });
      if (page.runs === null || !this._isOf(filter, sorting)) {
        return;
      }
      const isNew = this._version === '';
      this._version = page.version;
      const newest = new Set(page.runs.map(({ id }) => id));
      const older = isNew ? [] : this.state.runs.filter(({ id }) => !newest.has(id));
      const { statuses, models, lanes } = page;
      this.set({
        runs: [...page.runs, ...older],
        hasMore: older.length > 0 ? this.state.hasMore : page.after !== null,
        ...{ statuses, models, lanes }
      });
    });
  }

  /** Ask for the page that follows. */
  async more(): Promise<void> {
    const { filter, runs, sorting } = this.state;
    const last = runs.at(-1)?.id ?? '';
    await this._ask(async () => {
      const page = await this._rest.runs(filter, sorting, { after: last, since: '' });
      if (this._isOf(filter, sorting) && last === this.state.runs.at(-1)?.id) {
        this.set({
          runs: [...this.state.runs, ...(page.runs ?? [])],
          hasMore: page.after !== null
        });
      }
    });
  }

  /** Whether an answer is still to what is asked for. */
  private _isOf(filter: RunFilter, sorting: Sorting): boolean {
    return filter === this.state.filter && sorting === this.state.sorting;
  }

  private async _ask(ask: () => Promise<void>): Promise<void> {
    try {
      await ask();
      this.set({ isLoaded: true, problem: '' });
    } catch (error) {
      this.set({ isLoaded: true, problem: complaintOf(error) });
    }
  }

  private readonly _rest: Pick<RunsRest, 'runs'>;
  private _version = '';
}

interface ComparisonState {
  /** The numbers and the first rows; null: they are not there yet. */
  readonly comparison: Comparison | null;
  /** What became worse first. */
  readonly rows: readonly ComparedRow[];
  readonly shown: OutcomeChange | '';
  readonly hasMore: boolean;
  readonly problem: string;
}

/** Two results held together. */
export class ComparisonModel extends StateModel<ComparisonState> {
  constructor(
    private readonly _rest: Pick<RunsRest, 'compare'>,
    readonly first: string,
    readonly second: string
  ) {
    super({ comparison: null, rows: [], shown: '', hasMore: false, problem: '' });
  }

  /** Show only what changed in one way; empty: all. */
  show(shown: OutcomeChange | ''): void {
    this.set({ shown });
  }

  async refresh(): Promise<void> {
    await this._read(0);
  }

  /** Read the page that follows. */
  async more(): Promise<void> {
    await this._read(this.state.rows.length);
  }

  private async _read(start: number): Promise<void> {
    try {
      const comparison = await this._rest.compare(this.first, this.second, start);
      const before = this.state.rows.slice(0, start);
      this.set({
        comparison,
        rows: [...before, ...comparison.rows],
        hasMore: comparison.next !== null,
        problem: ''
      });
    } catch (error) {
      this.set({ problem: complaintOf(error) });
    }
  }
}

interface SampleState {
  /** Null: it is not there yet, or cannot be read. */
  readonly sample: Sample | null;
  readonly problem: string;
}

/** One sample, or one recorded run, as a whole. */
export class SampleModel extends StateModel<SampleState> {
  constructor(private readonly _ask: () => Promise<Sample>) {
    super({ sample: null, problem: '' });
  }

  /** Ask for it; again, to see how a run goes on. */
  async refresh(): Promise<void> {
    try {
      this.set({ sample: await this._ask(), problem: '' });
    } catch (error) {
      this.set({ problem: complaintOf(error) });
    }
  }
}

const POLL_MILLISECONDS = 2000;

/** One sample of a result. */
interface SampleName {
  readonly result: string;
  readonly id: string;
}

/** What the page shows. */
export type RunsPlace =
  | { readonly kind: 'results' | 'plot' | 'runs' }
  | { readonly kind: 'result'; readonly result: string }
  | { readonly kind: 'sample'; readonly sample: SampleName }
  | { readonly kind: 'run'; readonly run: string }
  | { readonly kind: 'comparison'; readonly first: string; readonly second: string }
  | { readonly kind: 'pair'; readonly first: SampleName; readonly second: SampleName };

/** What a place needs besides the two lists. */
type Detail =
  | { readonly kind: 'none' }
  | { readonly kind: 'samples'; readonly samples: SampleList }
  | { readonly kind: 'sample'; readonly sample: SampleModel }
  | { readonly kind: 'comparison'; readonly comparison: ComparisonModel }
  | { readonly kind: 'pair'; readonly first: SampleModel; readonly second: SampleModel };

interface RunsPageState {
  /** Where the person came from; the last one is what is shown. */
  readonly trail: readonly RunsPlace[];
  readonly detail: Detail;
}

const START: RunsPlace = { kind: 'results' };
const RUNS: RunsPlace = { kind: 'runs' };

/** The page: where in it the person is, and what is read for that. */
export class RunsPage extends WatchedPage<RunsPageState> {
  constructor(rest: RunsRest) {
    super({ trail: [START], detail: { kind: 'none' } }, 'cellwright:runs', POLL_MILLISECONDS);
    this._rest = rest;
    this.results = new ResultList(rest);
    this.runs = new RunList(rest);
  }

  readonly results: ResultList;
  readonly runs: RunList;

  get place(): RunsPlace {
    return this.state.trail.at(-1) ?? START;
  }

  /** Show something; the tabs begin anew, everything else leads further in. */
  go(place: RunsPlace): void {
    const isTab = place.kind === 'results' || place.kind === 'plot' || place.kind === 'runs';
    const { trail } = this.state;
    // Whoever comes from elsewhere to a run finds the other runs behind it.
    const isElsewhere = place.kind === 'run' && trail[0]?.kind !== 'runs';
    this._show(isTab ? [place] : [...(isElsewhere ? [RUNS] : trail), place]);
  }

  /** Show what was shown before. */
  back(): void {
    if (this.state.trail.length > 1) {
      this._show(this.state.trail.slice(0, -1));
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.results.dispose();
      this.runs.dispose();
      this._drop();
      super.dispose();
    }
  }

  private _show(trail: readonly RunsPlace[]): void {
    this._drop();
    this.set({ trail, detail: this._open(trail.at(-1) ?? START) });
    this.lookNow();
  }

  private _open(place: RunsPlace): Detail {
    switch (place.kind) {
      case 'results':
      case 'plot':
      case 'runs':
        return { kind: 'none' };
      case 'result':
        return { kind: 'samples', samples: this._samples(place.result) };
      case 'sample':
        return { kind: 'sample', sample: this._sample(place.sample) };
      case 'run': {
        const sample = new SampleModel(() => this._rest.runSample(place.run));
        void sample.refresh();
        return { kind: 'sample', sample };
      }
      case 'comparison': {
        const comparison = new ComparisonModel(this._rest, place.first, place.second);
        void comparison.refresh();
        return { kind: 'comparison', comparison };
      }
      case 'pair':
        return {
          kind: 'pair',
          first: this._sample(place.first),
          second: this._sample(place.second)
        };
      default:
        return place satisfies never;
    }
  }

  /** The samples of a result as the person chose and sorted them last. */
  private _samples(result: string): SampleList {
    return new SampleList(this._rest, result, this._choices.get(result));
  }

  private _sample({ result, id }: SampleName): SampleModel {
    const sample = new SampleModel(() => this._rest.sample(result, id));
    void sample.refresh();
    return sample;
  }

  private _drop(): void {
    const { detail } = this.state;
    switch (detail.kind) {
      case 'none':
        break;
      case 'samples':
        this._choices.set(detail.samples.result, choiceOf(detail.samples.state));
        detail.samples.dispose();
        break;
      case 'sample':
        detail.sample.dispose();
        break;
      case 'comparison':
        detail.comparison.dispose();
        break;
      case 'pair':
        detail.first.dispose();
        detail.second.dispose();
        break;
      default:
        detail satisfies never;
    }
  }

  protected async look(): Promise<void> {
    const { kind } = this.place;
    if (kind === 'runs') {
      await this.runs.refresh();
    } else if (kind === 'results' || kind === 'plot' || kind === 'result') {
      await this.results.look();
      // Sums of large results take a while; what the person looks at does not wait for them.
      void this.results.sumUp();
    }
    await this._lookAt(this.state.detail);
  }

  private async _lookAt(detail: Detail): Promise<void> {
    if (detail.kind === 'samples') {
      const { samples } = detail;
      const { results } = this.results.state;
      const version = results.find(({ path }) => path === samples.result)?.version;
      await samples.follow(version ?? 'not listed');
    } else if (detail.kind === 'sample' && detail.sample.state.sample?.status === 'running') {
      await detail.sample.refresh();
    }
  }

  private readonly _rest: RunsRest;
  private readonly _choices = new Map<string, SampleChoice>();
}

function choiceOf({ filter, sorting }: SampleChoice): SampleChoice {
  return { filter, sorting };
}
