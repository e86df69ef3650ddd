import { complaintOf, StateModel } from '../pages/state';
import type { Sample } from './answers';

export interface SampleState {
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
