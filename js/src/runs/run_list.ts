import { complaintOf, StateModel } from '../pages/state';
import type { RunRow } from './answers';
import type { RunFilter, RunsRest } from './requests';

export interface RunListState {
  readonly runs: readonly RunRow[];
  readonly filter: RunFilter;
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

  /** Ask for the newest page again; what was read of older ones stays below it. */
  async refresh(): Promise<void> {
    const { filter } = this.state;
    const since = this._version;
    await this._ask(async () => {
      const page = await this._rest.runs(filter, '', since);
      if (page.runs === null || filter !== this.state.filter) {
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
    const { filter, runs } = this.state;
    const last = runs.at(-1)?.id ?? '';
    await this._ask(async () => {
      const page = await this._rest.runs(filter, last, '');
      if (filter === this.state.filter && last === this.state.runs.at(-1)?.id) {
        this.set({
          runs: [...this.state.runs, ...(page.runs ?? [])],
          hasMore: (page.after ?? null) !== null
        });
      }
    });
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
