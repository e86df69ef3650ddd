import { type ISignal, Signal } from '@lumino/signaling';

import type { Rest, WaitingNote } from '../client/panel_rest';
import { type Problem, problemOf } from '../client/problems';
import { RequestError } from '../client/request';
import type { ChatState } from '../wire/generated';
import type { ComposerModel } from './composer';

const NONE: readonly WaitingNote[] = [];

type NotesRest = Pick<Rest, 'addNote' | 'takeNote' | 'waitingNotes'>;

/** What it needs of the chat whose notes they are. */
interface NotedChat {
  readonly id: string;
  readonly state: ChatState;
  readonly isCaughtUp: boolean;
  readonly composer: ComposerModel;
  readonly stateReceived: ISignal<unknown, ChatState>;
  begin(): Promise<string>;
}

/** What waits in a chat for its next question, written here or elsewhere. */
export class WaitingNotes {
  constructor(rest: NotesRest, chat: NotedChat) {
    this._rest = rest;
    this._chat = chat;
    this._run = chat.state.run;
    this._phase = chat.state.phase;
  }

  /** In the order in which they were said, without those that the run took along. */
  get notes(): readonly WaitingNote[] {
    return this._notes;
  }

  /** Why the last change was not made; null: it was. */
  get problem(): Problem | null {
    return this._problem;
  }

  /** A text is on its way to the server. */
  get isAdding(): boolean {
    return this._isAdding;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Follow what runs take along and what is noted elsewhere. */
  watch(): void {
    this._chat.stateReceived.connect(this._onState, this);
  }

  unwatch(): void {
    this._chat.stateReceived.disconnect(this._onState, this);
    this._asked += 1;
  }

  /** Read them anew; where the server does not tell, they stay as they were. */
  async refresh(): Promise<void> {
    const { id } = this._chat;
    const turn = ++this._asked;
    if (id !== '') {
      const notes = await this._rest.waitingNotes(id).catch(() => null);
      if (notes !== null && turn === this._asked) {
        this._show(notes);
      }
    }
  }

  /** Let what is written in the composer wait; whether it does. The rest of the draft stays. */
  async add(): Promise<boolean> {
    const { composer } = this._chat;
    const written = composer.text;
    if (this._isAdding || written.trim() === '') {
      return false;
    }
    this._isAdding = true;
    const isAdded = await this._try(async () => {
      const note = await this._rest.addNote(await this._chat.begin(), written.trim());
      this._asked += 1; // what is on its way may be older
      this._show([...this._notes.filter(({ id }) => id !== note.id), note]);
      if (composer.text.startsWith(written)) {
        composer.setText(composer.text.slice(written.length));
      }
    });
    this._isAdding = false;
    return isAdded;
  }

  /** Let it wait no more, and give its text back to the composer; whether that was done. */
  async takeBack(note: WaitingNote): Promise<boolean> {
    const { composer, id } = this._chat;
    if (this._leaving.has(note.id)) {
      return false;
    }
    this._leaving.add(note.id);
    const isBack = await this._try(async () => {
      await this._rest.takeNote(id, note.id);
      this._asked += 1;
      this._show(this._notes.filter(other => other.id !== note.id));
      const before = composer.text.trimEnd();
      composer.setText(before === '' ? note.text : `${before}\n\n${note.text}`);
    });
    this._leaving.delete(note.id);
    return isBack;
  }

  /** The person has read it, or does something else. */
  clearProblem(): void {
    this._setProblem(null);
  }

  private async _try(change: () => Promise<void>): Promise<boolean> {
    this._setProblem(null);
    try {
      await change();
      return true;
    } catch (error) {
      this._setProblem(problemOf(error));
      if (error instanceof RequestError && error.status === 404) {
        await this.refresh(); // it is not as it was shown
      }
      return false;
    }
  }

  /**
   * What began to run took along all that waited; the server lets go of it once it was answered.
   *
   * A state that tells of no progress says that something beside it changed, such as the notes.
   */
  private _onState(_: unknown, { run, phase }: ChatState): void {
    if (run !== this._run) {
      const isSeen = run !== '' && this._chat.isCaughtUp; // else nobody knows what came first
      this._taken = new Set(isSeen ? this._notes.map(({ id }) => id) : []);
      this._show(this._notes);
    }
    if (run !== this._run || run === '' || phase === this._phase) {
      void this.refresh();
    }
    this._run = run;
    this._phase = phase;
  }

  private _show(notes: readonly WaitingNote[]): void {
    const left = notes.filter(({ id }) => !this._taken.has(id));
    this._notes = left.length === 0 ? NONE : left;
    this._changed.emit();
  }

  private _setProblem(problem: Problem | null): void {
    if (this._problem !== problem) {
      this._problem = problem;
      this._changed.emit();
    }
  }

  private readonly _rest: NotesRest;
  private readonly _chat: NotedChat;
  private readonly _changed = new Signal<this, void>(this);
  /** Those that are being taken back. */
  private readonly _leaving = new Set<string>();
  private _notes = NONE;
  /** Those that went with the question that is being answered. */
  private _taken: ReadonlySet<string> = new Set();
  private _problem: Problem | null = null;
  private _isAdding = false;
  private _asked = 0;
  private _run: string;
  private _phase: ChatState['phase'];
}
