import { complaintOf, StateModel } from '../pages/state';
import type { OutcomeChange, ComparedRow, Comparison } from './answers';
import type { RunsRest } from './requests';

export interface ComparisonState {
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
