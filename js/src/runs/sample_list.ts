import { type Sorting, UNSORTED } from '../pages/sorting';
import { complaintOf, StateModel } from '../pages/state';
import type { SamplePage, SampleRow } from './answers';
import type { RunsRest, SampleFilter } from './requests';

/** Which samples are shown, and in which order. */
export interface SampleChoice {
  readonly filter: SampleFilter;
  readonly sorting: Sorting;
}

const ALL: SampleChoice = {
  filter: { status: '', outcome: '', group: '', query: '' },
  sorting: UNSORTED
};

export interface SampleListState extends SampleChoice {
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
    choice: SampleChoice = ALL
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
      this.set({ isLoaded: true, problem: complaintOf(error) });
    } finally {
      this._isReading = false;
    }
  }

  private _pages = 1;
  private _version = '';
  private _followed = '';
  private _isReading = false;
}
