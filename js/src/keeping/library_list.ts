import { complaintOf } from '../pages/state';
import type { Hit, Indexing, LibraryDocument } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

export interface LibraryState extends KeptState {
  readonly documents: readonly LibraryDocument[];
  /** Null: nothing is being read. */
  readonly indexing: Indexing | null;
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
      indexing: null,
      query: '',
      hits: null,
      searchProblem: ''
    });
    this._rest = rest;
  }

  add(place: string): Promise<boolean> {
    return this.act(() => this._rest.addPlace(place));
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
      const { hits, problem = '' } = await this._rest.search(query);
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

  private readonly _rest: KeepingRest;
}
