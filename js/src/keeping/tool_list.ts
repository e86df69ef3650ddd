import type { KeptTool } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

export interface ToolListState extends KeptState {
  readonly tools: readonly KeptTool[];
}

/** The tools that were added to the agent's own. */
export class ToolList extends KeptList<ToolListState> {
  /**
   * @param rest - Where tools are listed.
   * @param notebook - Path of the notebook that the person looks at; empty: none.
   */
  constructor(rest: KeepingRest, notebook: () => string) {
    super({ ...UNREAD, tools: [] });
    this._rest = rest;
    this._notebook = notebook;
  }

  protected async read(): Promise<Partial<ToolListState>> {
    return { tools: await this._rest.tools(this._notebook()) };
  }

  private readonly _rest: KeepingRest;
  private readonly _notebook: () => string;
}
