import { complaintOf, StateModel } from '../../pages/state';
import { RequestError } from '../../server/request';
import type { AssistantDetails } from './answers';
import {
  type AssistantDraft,
  changeOf,
  contested,
  draftOf,
  type FieldName,
  fieldsOf,
  isChanged,
  merged,
  picked
} from './draft';
import type { AssistantRest } from './requests';

export interface FormState {
  /** What is typed. */
  readonly draft: AssistantDraft;
  /** What the server has, or what a new one began with. */
  readonly base: AssistantDraft;
  /** Null: there is no file yet. */
  readonly saved: AssistantDetails | null;
  /** The person wanted to save it. */
  readonly isTried: boolean;
  readonly isBusy: boolean;
  /** Why it was not saved or deleted; empty: it was, or was not tried. */
  readonly problem: string;
  /** `changed` or `gone`: the file is not what it was when it was read. */
  readonly conflict: '' | 'changed' | 'gone';
  /** What the file has where it was changed here too. */
  readonly theirs: Partial<AssistantDraft>;
}

export interface FormParts {
  readonly rest: AssistantRest;
  /** Path of the notebook whose assistants these are; empty: none. */
  readonly notebook: string;
  /** Null: it is new. */
  readonly saved: AssistantDetails | null;
  /** What a new one begins with; one with a file begins as that. */
  readonly draft: AssistantDraft;
  /** What was typed before; left out: nothing was. */
  readonly typed?: AssistantDraft;
}

/** An assistant while a person changes it; nothing that was typed goes with an error. */
export class AssistantForm extends StateModel<FormState> {
  constructor({ rest, notebook, saved, draft, typed }: FormParts) {
    const base = saved === null ? draft : draftOf(saved);
    super({
      draft: typed ?? base,
      base,
      saved,
      isTried: false,
      isBusy: false,
      problem: '',
      conflict: '',
      theirs: {}
    });
    this._rest = rest;
    this.notebook = notebook;
  }

  readonly notebook: string;

  /** What it is called on the server; empty: it is new. */
  get name(): string {
    return this.state.saved?.name ?? '';
  }

  /** Something is typed that is not saved. */
  get isDirty(): boolean {
    return isChanged(this.state.base, this.state.draft);
  }

  change(change: Partial<AssistantDraft>): void {
    this.set({ draft: { ...this.state.draft, ...change } });
  }

  /** Show what is missing too. */
  try(): void {
    this.set({ isTried: true });
  }

  /** Null: it was not saved. */
  async save(): Promise<AssistantDetails | null> {
    const { draft } = this.state;
    const saved = await this._act(() => this._send(draft));
    if (saved !== null) {
      this._rebase(draft, saved);
      this.set({ theirs: {} });
    }
    return saved;
  }

  /** Delete its file; false: it is still there. */
  async remove(): Promise<boolean> {
    const { saved } = this.state;
    const removed = await this._act(async () => {
      if (saved !== null) {
        await this._rest.remove(saved, this.notebook);
      }
      return true;
    });
    return removed === true;
  }

  /** Read the file; what the person changed stays as it is typed. */
  async readAgain(): Promise<void> {
    const { base, draft } = this.state;
    const saved = await this._act(() => this._rest.read(this.name, this.notebook));
    if (saved !== null) {
      const theirs = draftOf(saved);
      this._rebase(base, saved);
      this.set({ theirs: picked(theirs, contested(base, draft, theirs)) });
    }
  }

  /** Take what the file has in a field in place of what was typed. */
  take(field: FieldName): void {
    const { [field]: taken, ...theirs } = this.state.theirs;
    if (taken !== undefined) {
      this.change({ [field]: taken });
    }
    this.set({ theirs });
  }

  private _send(draft: AssistantDraft): Promise<AssistantDetails> {
    const { saved, base } = this.state;
    return saved === null
      ? this._rest.create(fieldsOf(draft), draft.place, this.notebook)
      : this._rest.change(saved, changeOf(base, draft), this.notebook);
  }

  /** What was typed since `before` stays; the rest is what the server has. */
  private _rebase(before: AssistantDraft, saved: AssistantDetails): void {
    const base = draftOf(saved);
    this.set({ saved, base, draft: merged(before, this.state.draft, base) });
  }

  /** Null: it failed, and the state says why. */
  private async _act<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.state.isBusy) {
      return null;
    }
    this.set({ isBusy: true, problem: '' });
    try {
      const done = await work();
      this.set({ isBusy: false, conflict: '' });
      return done;
    } catch (error) {
      const conflict = conflictIn(error, this.state.saved !== null);
      this.set({ isBusy: false, conflict, problem: conflict === '' ? complaintOf(error) : '' });
      return null;
    }
  }

  private readonly _rest: AssistantRest;
}

function conflictIn(error: unknown, isSaved: boolean): FormState['conflict'] {
  if (!(error instanceof RequestError) || !isSaved) {
    return '';
  }
  if (error.status === 404) {
    return 'gone';
  }
  return error.code === 'changed' ? 'changed' : '';
}
