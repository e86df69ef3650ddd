import { type ISignal, Signal } from '@lumino/signaling';

import type { ChatChange, ListedChat, Rest, Thumb } from '../client/panel_rest';
import { type Problem, problemOf } from '../client/problems';
import type { ChatState } from '../wire/generated';

/** What is done to a person's words before they are sent, by the server's names, in its order. */
export const TEXT_FILTERS = ['line_ends', 'terminal_colours', 'blank_lines'] as const;

export type TextFilter = (typeof TEXT_FILTERS)[number];

/** Those that a person switched on or off. */
export type FilterChoice = Readonly<Partial<Record<TextFilter, boolean>>>;

/** The names that are on after a choice; those that are not known here stay where they are. */
export function chosenFilters(before: readonly string[], choice: FilterChoice): readonly string[] {
  let names = before.filter(name => !isOff(name, choice));
  for (const filter of TEXT_FILTERS) {
    if (choice[filter] === true && !names.includes(filter)) {
      names = placed(names, filter);
    }
  }
  return names;
}

function isOff(name: string, choice: Readonly<Record<string, boolean | undefined>>): boolean {
  return choice[name] === false;
}

/** After those that come before it where all are on, as far as they are there. */
function placed(names: readonly string[], filter: TextFilter): string[] {
  const earlier: readonly string[] = TEXT_FILTERS.slice(0, TEXT_FILTERS.indexOf(filter));
  const later: readonly string[] = TEXT_FILTERS.slice(TEXT_FILTERS.indexOf(filter) + 1);
  const after = Math.max(...earlier.map(name => names.indexOf(name)), -1);
  const before = names.findIndex(name => later.includes(name));
  const end = before === -1 ? names.length : before;
  const index = after === -1 ? end : after + 1;
  return [...names.slice(0, index), filter, ...names.slice(index)];
}

/** What the server keeps with a chat. */
interface KeptWithChat {
  /** Instructions of its own; empty: the assistant's count. */
  readonly prompt: string;
  /** Runs that stay in the context, in the order pinned; null: not known yet. */
  readonly pins: readonly string[] | null;
  /** What is done to a prompt before it is sent; null: not known yet. */
  readonly textFilters: readonly string[] | null;
  /** What the person thinks of the answers, by run; null: not known yet. */
  readonly thumbs: Readonly<Record<string, Thumb>> | null;
  /** From which cell on runs were undone, counted from 1, by run; 0: all of the run. */
  readonly undone: Readonly<Record<string, number>>;
}

/** The chat they belong to. */
export interface SettledChat {
  readonly id: string;
  readonly stateReceived: ISignal<unknown, ChatState>;
  begin(): Promise<string>;
}

type SettingsRest = Pick<Rest, 'chat' | 'changeChat' | 'setPinned' | 'setThumb'>;

/** What the server keeps with a chat: read again when another tab may have changed it. */
export class ChatSettings {
  constructor(rest: SettingsRest, chat: SettledChat) {
    this._rest = rest;
    this._chat = chat;
    // the server makes a chat with all filters on
    const textFilters = chat.id === '' ? TEXT_FILTERS : null;
    this._kept = { prompt: '', pins: null, textFilters, thumbs: null, undone: {} };
  }

  /** Another object when something changed. */
  get kept(): KeptWithChat {
    return this._kept;
  }

  /** Why a turn was not pinned or thumbed; null: it was, or the person has read it. */
  get problem(): Problem | null {
    return this._problem;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Follow what other tabs change. */
  watch(): void {
    this._chat.stateReceived.connect(this._onState, this);
  }

  unwatch(): void {
    this._chat.stateReceived.disconnect(this._onState, this);
    this._asked += 1;
  }

  /** Ask the server; what was asked for later, or saved meanwhile, is what counts. */
  async refresh(): Promise<void> {
    const asked = ++this._asked;
    if (this._chat.id !== '') {
      const listed = await this._rest.chat(this._chat.id).catch(() => null); // it does not tell
      if (listed !== null && asked === this._asked) {
        this._take(listed);
      }
    }
  }

  /** Keep these; rejects when the server does not take them. */
  async save(text: string, choice: FilterChoice = {}): Promise<void> {
    const prompt = text.trim();
    const isNew = this._chat.id === '';
    const id = await this._chat.begin();
    if (isNew && Object.keys(choice).length > 0) {
      await this.refresh(); // a newer server may have more filters
    }
    const before = this._kept.textFilters ?? [];
    const textFilters = chosenFilters(before, choice);
    const isSame = textFilters.join() === before.join();
    const change: ChatChange = isSame ? { prompt } : { prompt, text_filters: textFilters };
    await this._rest.changeChat(id, change);
    this._asked += 1;
    this._set(isSame ? { prompt } : { prompt, textFilters });
  }

  /** Keep a turn in the context, or no longer; one after the other, as the person said. */
  setPinned(run: string, isPinned: boolean): Promise<void> {
    return this._change(id => this._rest.setPinned(id, run, isPinned));
  }

  /** Keep what the person thinks of an answer; null: nothing any more. */
  setThumb(run: string, thumb: Thumb | null): Promise<void> {
    return this._change(id => this._rest.setThumb(id, run, thumb));
  }

  clearProblem(): void {
    this._setProblem(null);
  }

  private _change(send: (id: string) => Promise<ListedChat>): Promise<void> {
    this._changing = this._changing.then(() => this._send(send));
    return this._changing;
  }

  private async _send(send: (id: string) => Promise<ListedChat>): Promise<void> {
    try {
      const listed = await send(this._chat.id);
      this._asked += 1;
      this._take(listed);
      this._setProblem(null);
    } catch (error) {
      this._setProblem(problemOf(error));
      await this.refresh(); // the turn may count no more, or another tab may have been quicker
    }
  }

  private _onState(_: unknown, state: ChatState): void {
    const doing = doingOf(state);
    // A frame of a run that tells of no step is about something that it does not hold.
    if (state.run === '' || doing === this._doing) {
      void this.refresh();
    }
    this._doing = doing;
  }

  private _take({ prompt, pins, text_filters: textFilters, thumbs, undone }: ListedChat): void {
    this._set({ prompt, pins, textFilters, thumbs, undone });
  }

  private _set(change: Partial<KeptWithChat>): void {
    const kept = { ...this._kept, ...change };
    if (JSON.stringify(kept) !== JSON.stringify(this._kept)) {
      this._kept = kept;
      this._changed.emit();
    }
  }

  private _setProblem(problem: Problem | null): void {
    if (this._problem !== problem) {
      this._problem = problem;
      this._changed.emit();
    }
  }

  private readonly _rest: SettingsRest;
  private readonly _chat: SettledChat;
  private readonly _changed = new Signal<this, void>(this);
  private _kept: KeptWithChat;
  private _problem: Problem | null = null;
  private _changing: Promise<void> = Promise.resolve();
  private _asked = 0;
  private _doing = '';
}

/** What goes on in a chat, to compare it. */
function doingOf(state: ChatState): string {
  return JSON.stringify({ ...state, updated_at: 0 });
}
