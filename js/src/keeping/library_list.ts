import { complaintOf } from '../pages/state';
import type { Hit, Indexing, Library, LibraryDocument } from './answers';
import { KeptList, type KeptState, UNREAD } from './kept_list';
import type { KeepingRest } from './requests';

/** A file that was not taken, and why. */
export interface RefusedFile {
  readonly name: string;
  readonly why: string;
}

export interface LibraryState extends KeptState {
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

  protected async read(): Promise<Partial<LibraryState>> {
    const { libraries = [], ...found } = await this._rest.library();
    return { ...found, libraries };
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
