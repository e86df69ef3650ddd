import { Signal, type ISignal } from '@lumino/signaling';

import type { ContextItem, Mode } from '../server/frames';
import type { ChatMemory } from './memory';
import type { Draft } from './types';

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

  /** Give back what could not be sent, unless something else was begun. */
  restore(draft: Draft): void {
    if (this._text === '') {
      this._context = draft.context;
      this.setText(draft.text);
    }
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
