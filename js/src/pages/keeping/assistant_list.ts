import {
  type AssistantDetails,
  type AssistantRest,
  type AssistantsAnswer,
  type ListedAssistant
} from '../../client/assistants_rest';
import { readText, type TextStore, writeText } from '../../client/browser_store';
import type { KeepingRest, LibraryAnswer, UsageRow } from '../../client/keeping_rest';
import type { AssistantPlace } from '../../client/panel_rest';
import { complaintOf } from '../../client/problems';
import { RequestError } from '../../client/request';
import type { AssistantChange } from '../../ui/opening';
import { fits, isObject, shape } from '../../wire/shapes';
import { StateModel } from '../state';
import {
  type AssistantDraft,
  changeOf,
  contested,
  draftOf,
  emptyDraft,
  type FieldName,
  fieldsOf,
  isChanged,
  merged,
  picked
} from './assistant_draft';
import { KeptList, type KeptState, UNREAD } from './kept_lists';

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

interface FormParts {
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

// What was typed about assistants and not saved, for when the page is opened again.

const KEY = 'cellwright:assistants';

interface KeptDraft {
  readonly notebook: string;
  /** What the file had; null: there is none yet. */
  readonly saved: AssistantDetails | null;
  readonly draft: AssistantDraft;
}

/** Whether the browser kept what this version understands. */
function isDraft(kept: unknown): kept is KeptDraft {
  if (!isObject(kept) || typeof kept.notebook !== 'string' || !isObject(kept.draft)) {
    return false;
  }
  const { draft, saved } = kept;
  const details = { ...draft, temperature: null, file: '', version: '' };
  const hasKeys = (scenes: unknown): boolean =>
    Array.isArray(scenes) &&
    scenes.every(scene => isObject(scene) && typeof scene.key === 'number');
  return (
    typeof draft.temperature === 'string' &&
    fits(shape('AssistantDetails'), details) &&
    hasKeys(draft.scenes) &&
    (saved === null || fits(shape('AssistantDetails'), saved))
  );
}

/** Keeps drafts for as long as the browser's tab lives. */
export class DraftStore {
  constructor(private readonly _store: TextStore) {}

  /** What another version has kept and this one does not understand is left out. */
  read(): readonly KeptDraft[] {
    try {
      const kept: unknown = JSON.parse(readText(this._store, KEY) || '[]');
      return Array.isArray(kept) && kept.every(isDraft) ? kept : [];
    } catch {
      return [];
    }
  }

  write(forms: readonly AssistantForm[]): void {
    const kept = forms.map(({ notebook, state: { saved, draft } }): KeptDraft => ({
      notebook,
      saved,
      draft
    }));
    writeText(this._store, KEY, kept.length === 0 ? '' : JSON.stringify(kept));
  }
}

/** Names that a person can choose from; where nobody knows them there are none. */
interface FormOffers {
  readonly models: readonly string[];
  readonly tools: readonly string[];
  readonly documents: readonly string[];
}

export interface AssistantsState extends KeptState {
  /** Path of the notebook whose assistants these are; empty: none. */
  readonly notebook: string;
  readonly assistants: readonly ListedAssistant[];
  readonly problems: readonly string[];
  /** Where one can be written; none: the person may write none. */
  readonly places: readonly AssistantPlace[];
  /** What each has used, by its name. */
  readonly usage: ReadonlyMap<string, UsageRow>;
  /** Null: the list is shown. */
  readonly open: AssistantForm | null;
  /** Those with something typed that is not saved. */
  readonly unsaved: readonly AssistantForm[];
  readonly offers: FormOffers;
  /** What was done last, and to which one. */
  readonly done: { readonly kind: 'saved' | 'deleted'; readonly name: string } | null;
}

interface AssistantListParts {
  readonly rest: AssistantRest;
  readonly kept: KeepingRest;
  /** Path of the notebook that the person looks at; empty: none. */
  readonly notebook: () => string;
  /** What was typed before the page was closed. */
  readonly drafts: DraftStore;
  /** Tell whoever shows assistants elsewhere. */
  readonly onChange: (change: AssistantChange) => void;
}

/** The assistants that can be chosen, and those that are being written. */
export class AssistantList extends KeptList<AssistantsState> {
  constructor(parts: AssistantListParts) {
    super({
      ...UNREAD,
      notebook: '',
      assistants: [],
      problems: [],
      places: [],
      usage: new Map(),
      open: null,
      unsaved: [],
      offers: { models: [], tools: [], documents: [] },
      done: null
    });
    this._parts = parts;
    for (const { notebook, saved, draft: typed } of parts.drafts.read()) {
      const draft = emptyDraft(typed.place);
      this._add(new AssistantForm({ rest: parts.rest, notebook, saved, draft, typed }));
    }
    this.set({ unsaved: this._unsaved() });
  }

  /** Show those of this notebook until another is named; null: of the one the person looks at. */
  lookAt(notebook: string | null): void {
    this._notebook = notebook;
  }

  /** Change the assistant of this name; what was typed about it before is still there. */
  edit(name: string): Promise<boolean> {
    return this.act(async () => {
      const notebook = this._path();
      const begun = this._forms.find(form => form.name === name && form.notebook === notebook);
      const { rest } = this._parts;
      this._show(
        begun ??
          new AssistantForm({
            rest,
            notebook,
            saved: await rest.read(name, notebook),
            draft: emptyDraft('')
          })
      );
    });
  }

  /** Write a new one, where it is wanted; its places have to be known for that. */
  async begin(draft?: AssistantDraft): Promise<void> {
    if (!this.state.isLoaded || this.state.notebook !== this._path()) {
      await this.refresh();
    }
    const { places } = this.state;
    const [nearest] = places;
    if (nearest !== undefined) {
      const whole = draft ?? emptyDraft(nearest.place);
      const isWritable = places.some(({ place }) => place === whole.place);
      const { rest } = this._parts;
      this._show(
        new AssistantForm({
          rest,
          notebook: this._path(),
          saved: null,
          draft: isWritable ? whole : { ...whole, place: nearest.place }
        })
      );
    }
  }

  /** Go on with one that is not saved. */
  resume(form: AssistantForm): void {
    this._show(form);
  }

  /** A new one that begins as another one is typed. */
  duplicate({ state: { draft } }: AssistantForm, nameOf: (number: number) => string): void {
    const taken = new Set(this.state.assistants.map(({ name }) => name));
    let number = 1;
    while (taken.has(nameOf(number))) {
      number += 1;
    }
    void this.begin({ ...draft, name: nameOf(number), is_default: false });
  }

  /** Back to the list; what was typed stays. */
  leave(): void {
    const form = this.state.open;
    this._focus = form === null || form.name === '' ? 'new' : form.name;
    if (form?.isDirty === false) {
      this._drop(form); // it is read anew when it is opened again
    }
    this.set({ open: null, unsaved: this._unsaved() });
  }

  /** Back to the list; what was typed goes. */
  discard(): void {
    this._drop(this.state.open);
    this.leave();
  }

  /** Save what is open and go back to the list; false: it was not saved. */
  async save(): Promise<boolean> {
    const form = this.state.open;
    const from = form?.name ?? '';
    const saved = await form?.save();
    if (!form || !saved) {
      return false;
    }
    this._tell({ from, to: saved.name });
    await this._end(form, 'saved', saved.name);
    return true;
  }

  /** Delete the file of what is open, and go back to the list. */
  async remove(): Promise<void> {
    const form = this.state.open;
    const from = form?.name ?? '';
    if (form !== null && (await form.remove())) {
      this._tell({ from, to: '' });
      this._drop(form);
      await this._end(form, 'deleted', from);
    }
  }

  /** Where the focus belongs after a step: the form, a row by its name, or `new`; told once. */
  takeFocus(): string | null {
    const focus = this._focus;
    this._focus = null;
    return focus;
  }

  override dispose(): void {
    for (const form of this._forms) {
      form.dispose();
    }
    super.dispose();
  }

  protected async read(): Promise<Partial<AssistantsState>> {
    const notebook = this._path();
    const { rest, kept } = this._parts;
    const [found, usage] = await Promise.all([
      rest.list(notebook),
      orNothing(kept.usage('assistant').then(({ rows }) => rows))
    ]);
    this._notice(notebook, found);
    return { ...found, notebook, usage: new Map(usage.map(row => [row.key, row])) };
  }

  /** Others list them too, and do not look for news themselves. */
  private _notice(notebook: string, { assistants, problems }: AssistantsAnswer): void {
    const before = this.state;
    const news = JSON.stringify([assistants, problems]);
    const isKnown = before.isLoaded && before.notebook === notebook;
    const isTold = this._hasTold;
    this._hasTold = false;
    if (isKnown && !isTold && news !== JSON.stringify([before.assistants, before.problems])) {
      this._parts.onChange({ from: '', to: '' });
    }
  }

  private _tell(change: AssistantChange): void {
    this._hasTold = true; // what is read next is no news to others
    this._parts.onChange(change);
  }

  private _path(): string {
    return this._notebook ?? this._parts.notebook();
  }

  private _show(form: AssistantForm): void {
    const before = this.state.open;
    if (before !== null && before !== form && !before.isDirty) {
      this._drop(before);
    }
    if (!this._forms.includes(form)) {
      this._add(form);
    }
    this._focus = 'form';
    this.set({ open: form, unsaved: this._unsaved(), done: null });
    void this._loadOffers();
  }

  private _add(form: AssistantForm): void {
    this._forms.push(form);
    form.changed.connect(this._keep, this);
  }

  private _drop(form: AssistantForm | null): void {
    this._forms = this._forms.filter(other => other !== form);
    form?.dispose();
    this._keep();
  }

  /** The page may be closed at any time. */
  private _keep(): void {
    this._parts.drafts.write(this._unsaved());
  }

  private _unsaved(): readonly AssistantForm[] {
    return this._forms.filter(form => form.isDirty);
  }

  private async _end(form: AssistantForm, kind: 'saved' | 'deleted', name: string): Promise<void> {
    await this.refresh();
    if (this.state.open !== form) {
      return; // the person has turned to another one meanwhile
    }
    this.set({ done: { kind, name } });
    if (kind === 'saved' && form.isDirty) {
      return; // what was typed while it was being saved is not saved yet
    }
    this._drop(form);
    this._focus = kind === 'saved' ? name : 'new';
    this.set({ open: null, unsaved: this._unsaved() });
  }

  private async _loadOffers(): Promise<void> {
    const { rest, kept } = this._parts;
    const [models, tools, documents] = await Promise.all([
      orNothing(rest.models()),
      orNothing(kept.tools(this._path()).then(found => found.tools.map(({ name }) => name))),
      orNothing(kept.library().then(namesIn))
    ]);
    this.set({ offers: { models, tools, documents } });
  }

  private _notebook: string | null = null;
  private _hasTold = false;
  private _focus: string | null = null;
  private _forms: AssistantForm[] = [];
  private readonly _parts: AssistantListParts;
}

/** Libraries and documents, each name once. */
function namesIn({ libraries, documents }: LibraryAnswer): readonly string[] {
  return [...new Set([...libraries, ...documents].map(({ name }) => name))];
}

/** What is only offered may be missing. */
function orNothing<T>(asked: Promise<readonly T[]>): Promise<readonly T[]> {
  return asked.catch(() => []);
}
