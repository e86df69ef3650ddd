import { complaintOf, StateModel } from '../pages/state';
import { RequestError } from '../server/request';

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
