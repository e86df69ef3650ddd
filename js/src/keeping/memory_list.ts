import type { Memory, MemoryProposal, Scope } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

export interface MemoryState extends KeptState {
  readonly query: string;
  readonly memories: readonly Memory[];
  readonly proposals: readonly MemoryProposal[];
  /** False: nothing that is kept is used. */
  readonly is_on: boolean;
}

/** The facts that the agent is given, and those it proposes. */
export class MemoryList extends KeptList<MemoryState> {
  /**
   * @param rest - Where it is kept.
   * @param notebook - Path of the notebook that the person looks at; empty: none.
   */
  constructor(rest: KeepingRest, notebook: () => string) {
    super({ ...UNREAD, query: '', memories: [], proposals: [], is_on: true });
    this._rest = rest;
    this._notebook = notebook;
  }

  async search(query: string): Promise<void> {
    this.set({ query });
    await this.refresh();
  }

  add(text: string, scope: Scope): Promise<boolean> {
    return this.act(() => this._rest.addMemory(text, scope, this._notebook()));
  }

  change(id: string, text: string): Promise<boolean> {
    return this.act(() => this._rest.changeMemory(id, text));
  }

  forget(id: string): Promise<boolean> {
    return this.act(() => this._rest.forgetMemory(id));
  }

  /** Use what is kept, and propose more; or neither. */
  switch(isOn: boolean): Promise<boolean> {
    return this.act(() => this._rest.switchMemory(isOn));
  }

  answer(proposal: string, accept: boolean): Promise<boolean> {
    return this.act(() => this._rest.answerProposal(proposal, accept));
  }

  protected async read(): Promise<Partial<MemoryState>> {
    const { is_on: isOn = true, ...found } = await this._rest.memories(this.state.query);
    return { ...found, is_on: isOn };
  }

  private readonly _rest: KeepingRest;
  private readonly _notebook: () => string;
}
