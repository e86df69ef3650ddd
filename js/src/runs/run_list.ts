import { type Sorting, UNSORTED } from '../pages/sorting';
import { complaintOf, StateModel } from '../pages/state';
import type { RunRow } from './answers';
import type { RunFilter, RunsRest } from './requests';

export interface RunListState {
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
      const { statuses = [], models = [], lanes = [] } = page;
      this.set({
        runs: [...page.runs, ...older],
        hasMore: older.length > 0 ? this.state.hasMore : (page.after ?? null) !== null,
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
          hasMore: (page.after ?? null) !== null
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
