import { type ISignal, Signal } from '@lumino/signaling';

import type { ChatState, Mode } from '../wire/generated';
import type { ChatMemory } from './memory';
import type { ContextItem, Draft, Turn } from './types';

interface SentPrompt {
  readonly draft: Draft;
  /** How many turns there were. */
  readonly turns: number;
  /** `accepted`: its run begins any moment; `queued`: it waits its turn. */
  phase: 'sent' | 'accepted' | 'queued';
  /** Which server accepted it. */
  server: string;
  hasLostLine: boolean;
}

/** Prompts on their way: sent, and their run has not begun. */
export class SentPrompts {
  /** Those that nothing else shows yet; the same array until something changes. */
  get drafts(): readonly Draft[] {
    this._drafts ??= [...this._sent.values()]
      .filter(({ phase }) => phase !== 'queued')
      .map(({ draft }) => draft);
    return this._drafts;
  }

  has(request: string): boolean {
    return this._sent.has(request);
  }

  add(request: string, draft: Draft, turns: number): void {
    this._drafts = null;
    this._sent.set(request, { draft, turns, phase: 'sent', server: '', hasLostLine: false });
  }

  /** The server has it; it may still say that it cannot be answered. */
  accept(request: string, isQueued: boolean, server: string): void {
    const sent = this._sent.get(request);
    if (sent !== undefined) {
      this._drafts = null;
      sent.phase = isQueued ? 'queued' : 'accepted';
      sent.server = server;
    }
  }

  /** Take out those that a server which is gone was about to answer, and has not begun to. */
  forgotten(turns: readonly Turn[], server: string): Draft[] {
    const found = [...this._sent].filter(
      ([, { phase, server: before, draft, turns: count }]) =>
        phase === 'accepted' &&
        before !== server &&
        !turns.slice(count).some(turn => turn.prompt === draft.text)
    );
    return found.flatMap(([request]) => this.take(request) ?? []);
  }

  /** A run began: of the prompt that was accepted first, or of one that had waited. */
  begin(prompt: string): void {
    const all = [...this._sent];
    const begun =
      all.find(([, { phase }]) => phase === 'accepted') ??
      all.find(([, { phase, draft }]) => phase === 'queued' && draft.text === prompt);
    if (begun !== undefined) {
      this.take(begun[0]);
    }
  }

  /** Take one out; null: it was none of ours. */
  take(request: string): Draft | null {
    const sent = this._sent.get(request);
    this._drafts = null;
    this._sent.delete(request);
    return sent?.draft ?? null;
  }

  /** One that waits its turn; null: none of ours does with this text. */
  queued(prompt: string): Draft | null {
    const all = [...this._sent.values()];
    const found = all.find(({ phase, draft }) => phase === 'queued' && draft.text === prompt);
    return found?.draft ?? null;
  }

  /** The line broke: nobody knows whether they arrived. */
  loseLine(): void {
    for (const sent of this._sent.values()) {
      sent.hasLostLine = true;
    }
  }

  /**
   * The line is back and all is known: take out those that arrived, give those that did not.
   *
   * One that was accepted stays while the server is about to answer it; where it is not, it was
   * refused meanwhile.
   */
  settle(turns: readonly Turn[], state: ChatState): Draft[] {
    const lost: Draft[] = [];
    for (const [request, sent] of this._sent) {
      const { text } = sent.draft;
      const hasArrived =
        sent.phase === 'queued' ||
        turns.slice(sent.turns).some(turn => turn.prompt === text) ||
        state.queue.some(({ prompt }) => prompt === text);
      const isNext = sent.phase === 'accepted' && state.phase !== 'idle';
      if (sent.hasLostLine && (hasArrived || !isNext)) {
        this.take(request);
        if (!hasArrived) {
          lost.push(sent.draft);
        }
      }
    }
    return lost;
  }

  private readonly _sent = new Map<string, SentPrompt>();
  private _drafts: readonly Draft[] | null = null;
}

/** What the person is about to send in one chat; its text survives a refusal and a reload. */
export class ComposerModel {
  constructor(memory: ChatMemory, key: string) {
    this._memory = memory;
    this._key = key;
    this._text = memory.draft(key);
  }

  get text(): string {
    return this._text;
  }

  get context(): readonly ContextItem[] {
    return this._context;
  }

  /** The mode the person chose for this chat; null: none, take the set one. */
  get chosenMode(): Mode | null {
    return this._chosenMode ?? this._memory.mode(this._key);
  }

  /** The assistant that answers in this chat; empty: none. */
  get assistant(): string {
    return this._memory.assistant(this._key);
  }

  /** The model that the person chose for this chat; empty: none, the service's answers. */
  get chosenModel(): string {
    return this._chosenModel ?? this._memory.model(this._key);
  }

  /** Something was put beside the prompt or chosen that no memory keeps. */
  get isOnlyHere(): boolean {
    return this._context.length > 0 || this.chosenMode !== this._memory.mode(this._key);
  }

  /** Text, context, mode, model or assistant changed, also by the person's typing. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  setText(text: string): void {
    this._text = text;
    this._memory.setDraft(this._key, text);
    this._changed.emit();
  }

  /** Put something beside the prompt; what is there already stays once. */
  addContext(item: ContextItem): void {
    const same = JSON.stringify(item);
    if (!this._context.some(known => JSON.stringify(known) === same)) {
      this._context = [...this._context, item];
      this._changed.emit();
    }
  }

  removeContext(item: ContextItem): void {
    this._context = this._context.filter(known => known !== item);
    this._changed.emit();
  }

  setMode(mode: Mode): void {
    this._chosenMode = mode;
    this._memory.setMode(this._key, mode);
    this._changed.emit();
  }

  setAssistant(name: string): void {
    this._memory.setAssistant(this._key, name);
    this._changed.emit();
  }

  setModel(name: string): void {
    this._chosenModel = name;
    this._memory.setModel(this._key, name);
    this._changed.emit();
  }

  clear(): void {
    this._context = [];
    this.setText('');
  }

  /** Give back what could not be sent, before what was begun since. */
  restore(draft: Pick<Draft, 'text' | 'context'>): void {
    const begun = this._context;
    this._context = draft.context;
    begun.forEach(item => {
      this.addContext(item);
    });
    this.setText([draft.text, this._text].filter(text => text !== '').join('\n\n'));
  }

  /** The chat has an id now. */
  rename(key: string): void {
    this._memory.rename(this._key, key);
    this._key = key;
  }

  private readonly _memory: ChatMemory;
  private readonly _changed = new Signal<this, void>(this);
  private _key: string;
  private _text: string;
  private _context: readonly ContextItem[] = [];
  private _chosenMode: Mode | null = null;
  private _chosenModel: string | null = null;
}
