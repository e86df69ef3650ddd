import type { BudgetChange, Grouping, MonthBudget, UsageRow } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

export interface UsageState extends KeptState {
  readonly by: Grouping;
  readonly rows: readonly UsageRow[];
  readonly budgets: readonly MonthBudget[];
}

/** What runs have used and cost. */
export class UsageList extends KeptList<UsageState> {
  constructor(rest: KeepingRest) {
    super({ ...UNREAD, by: 'month', rows: [], budgets: [] });
    this._rest = rest;
  }

  /** Add it up by something else; the old sums go at once, for they are of other things. */
  async group(by: Grouping): Promise<void> {
    if (by !== this.state.by) {
      this.set({ by, rows: [], isLoaded: false });
      await this.refresh();
    }
  }

  setBudgets(change: BudgetChange): Promise<boolean> {
    return this.act(() => this._rest.setBudgets(change));
  }

  protected read(): Promise<Partial<UsageState>> {
    return this._rest.usage(this.state.by);
  }

  private readonly _rest: KeepingRest;
}
