import type {
  BudgetChange,
  Grouping,
  Hit,
  Indexing,
  KeepingRest,
  KeptTool,
  Library,
  LibraryDocument,
  Memory,
  MemoryProposal,
  MonthBudget,
  Scope,
  SignIn,
  UsageRow
} from '../../client/keeping_rest';
import { complaintOf } from '../../client/problems';
import { RequestError } from '../../client/request';
import { StateModel } from '../state';

/** What all parts of the page have in common. */
export interface KeptState {
  readonly isLoaded: boolean;
  /** The server is too old to have it. */
  readonly isMissing: boolean;
  /** Something is being changed; further changes come after it. */
  readonly isBusy: boolean;
  /** What went wrong; empty: nothing did. */
  readonly problem: string;
}

export const UNREAD: KeptState = {
  isLoaded: false,
  isMissing: false,
  isBusy: false,
  problem: ''
};

/** Something that the server keeps, and the person looks at and changes. */
export abstract class KeptList<S extends KeptState> extends StateModel<S> {
  /** Read it anew; what an action complained about stays until the next one. */
  async refresh(): Promise<void> {
    const isCurrent = this._begin();
    try {
      const found = await this.read();
      if (isCurrent()) {
        this.set({ ...found, ...this._read('') });
      }
    } catch (error) {
      if (isCurrent()) {
        const isMissing = error instanceof RequestError && error.status === 404;
        this.set({ ...this._read(isMissing ? '' : complaintOf(error)), isMissing });
      }
    }
  }

  /** Change something, then read it anew; false: it could not be changed. */
  protected act(work: () => Promise<void>): Promise<boolean> {
    const acted = this._acted.then(() => this._act(work));
    this._acted = acted;
    return acted;
  }

  /** Ask the server for it. */
  protected abstract read(): Promise<Partial<S>>;

  private async _act(work: () => Promise<void>): Promise<boolean> {
    this._setBusy(true);
    this._failed = '';
    try {
      await work();
    } catch (error) {
      this._failed = complaintOf(error);
    }
    await this.refresh();
    this._setBusy(false);
    return this._failed === '';
  }

  /** A later reading is the one that counts. */
  private _begin(): () => boolean {
    const turn = ++this._turn;
    return () => turn === this._turn;
  }

  private _read(problem: string): Partial<S> {
    const read: Partial<KeptState> = {
      isLoaded: true,
      isMissing: false,
      problem: this._failed || problem
    };
    return read as Partial<S>;
  }

  private _setBusy(isBusy: boolean): void {
    const busy: Partial<KeptState> = { isBusy };
    this.set(busy as Partial<S>);
  }

  private _acted: Promise<unknown> = Promise.resolve();
  private _turn = 0;
  private _failed = '';
}

interface MemoryState extends KeptState {
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

  protected read(): Promise<Partial<MemoryState>> {
    return this._rest.memories(this.state.query);
  }

  private readonly _rest: KeepingRest;
  private readonly _notebook: () => string;
}

interface ToolListState extends KeptState {
  readonly tools: readonly KeptTool[];
  /** The servers that the person has signed in to, or has to. */
  readonly signIns: readonly SignIn[];
}

/** The tools that were added to the agent's own. */
export class ToolList extends KeptList<ToolListState> {
  /**
   * @param rest - Where tools are listed.
   * @param notebook - Path of the notebook that the person looks at; empty: none.
   */
  constructor(rest: KeepingRest, notebook: () => string) {
    super({ ...UNREAD, tools: [], signIns: [] });
    this._rest = rest;
    this._notebook = notebook;
  }

  signIn(name: string): Promise<boolean> {
    return this.act(() => this._rest.signIn(name, this._notebook()));
  }

  signOut(name: string): Promise<boolean> {
    return this.act(() => this._rest.signOut(name, this._notebook()));
  }

  protected async read(): Promise<Partial<ToolListState>> {
    const { tools, sign_ins: signIns } = await this._rest.tools(this._notebook());
    return { tools, signIns };
  }

  private readonly _rest: KeepingRest;
  private readonly _notebook: () => string;
}

interface UsageState extends KeptState {
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

/** A file that was not taken, and why. */
interface RefusedFile {
  readonly name: string;
  readonly why: string;
}

interface LibraryState extends KeptState {
  readonly documents: readonly LibraryDocument[];
  readonly libraries: readonly Library[];
  /** Null: nothing is being read. */
  readonly indexing: Indexing | null;
  /** Null: nothing is on its way to the server. */
  readonly uploading: Indexing | null;
  /** Files that did not get there. */
  readonly refused: readonly RefusedFile[];
  readonly query: string;
  /** Null: nothing was looked for. */
  readonly hits: readonly Hit[] | null;
  /** Why nothing could be looked for; empty: it could. */
  readonly searchProblem: string;
}

/** The documents that answers are looked up in. */
export class LibraryList extends KeptList<LibraryState> {
  constructor(rest: KeepingRest) {
    super({
      ...UNREAD,
      documents: [],
      libraries: [],
      indexing: null,
      uploading: null,
      refused: [],
      query: '',
      hits: null,
      searchProblem: ''
    });
    this._rest = rest;
  }

  add(place: string): Promise<boolean> {
    return this.act(() => this._rest.addPlace(place));
  }

  /**
   * Send files to the server, one after the other, after those that are on their way.
   *
   * @param files - Which ones.
   * @param objection - Why one is not to be sent; empty: it is.
   */
  upload(files: readonly File[], objection: (file: File) => string): Promise<void> {
    const uploaded = this._uploaded.then(() => this._upload(files, objection));
    this._uploaded = uploaded;
    return uploaded;
  }

  /** The person has read which files were not taken. */
  clearRefused(): void {
    this.set({ refused: [] });
  }

  /** Forget a library with all of its documents; an empty id: all libraries. */
  forget(id: string): Promise<boolean> {
    return this.act(() => this._rest.forgetLibrary(id));
  }

  remove(id: string): Promise<boolean> {
    return this.act(() => this._rest.removeDocument(id));
  }

  /** Find passages; without words there are none. */
  async search(query: string): Promise<void> {
    this.set({ query, searchProblem: '' });
    if (query.trim() === '') {
      this.set({ hits: null });
      return;
    }
    try {
      const { hits, problem } = await this._rest.search(query);
      if (query === this.state.query) {
        this.set({ hits, searchProblem: problem });
      }
    } catch (error) {
      if (query === this.state.query) {
        this.set({ hits: null, searchProblem: complaintOf(error) });
      }
    }
  }

  protected read(): Promise<Partial<LibraryState>> {
    return this._rest.library();
  }

  private async _upload(files: readonly File[], objection: (file: File) => string): Promise<void> {
    const refused: RefusedFile[] = [];
    this.set({ refused });
    for (const [done, file] of files.entries()) {
      const { name } = file;
      this.set({ uploading: { done, total: files.length, name } });
      const why = objection(file) || (await this._send(file));
      if (why !== '') {
        refused.push({ name, why });
      }
    }
    this.set({ uploading: null, refused });
    await this.refresh();
  }

  /** Why it was not taken; empty: it was. */
  private async _send(file: File): Promise<string> {
    try {
      await this._rest.upload(file);
      return '';
    } catch (error) {
      return complaintOf(error);
    }
  }

  private _uploaded: Promise<void> = Promise.resolve();
  private readonly _rest: KeepingRest;
}
