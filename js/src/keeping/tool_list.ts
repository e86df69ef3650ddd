import type { KeptTool } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

export interface ToolListState extends KeptState {
  readonly tools: readonly KeptTool[];
}

/** The tools that were added to the agent's own. */
export class ToolList extends KeptList<ToolListState> {
  constructor(rest: KeepingRest) {
    super({ ...UNREAD, tools: [] });
    this._rest = rest;
  }

  protected async read(): Promise<Partial<ToolListState>> {
    return { tools: await this._rest.tools() };
  }

  private readonly _rest: KeepingRest;
}
