/** What the panel remembers in the browser: a chat's unsent text, mode, model and assistant. */
import { readText, type TextStore, writeText } from '../client/browser_store';
import type { Mode } from '../wire/generated';

const DRAFT = 'cellwright:draft:';
const MODE = 'cellwright:mode:';
const ASSISTANT = 'cellwright:assistant:';
const MODEL = 'cellwright:model:';
const DRIVEN = 'cellwright:driven:';
const WAITING = 'cellwright:waiting:';
const UNFINISHED = 'cellwright:unfinished:';

/** Prompts of this tab that wait their turn on a server. */
export interface WaitingPrompts {
  readonly server: string;
  /** How many turns the chat had. */
  readonly turns: number;
  readonly prompts: readonly { readonly id: string; readonly prompt: string }[];
}

const NONE_WAITING: WaitingPrompts = { server: '', turns: 0, prompts: [] };

/** A mode that may outlive the page: `auto` is chosen anew each time. */
type LastingMode = Exclude<Mode, 'auto'>;

const LASTING_MODES: readonly LastingMode[] = ['plan', 'ask', 'edits'];

/**
 * Drafts live as long as the tab, what was chosen as long as the browser.
 *
 * Nothing breaks where a browser refuses to store: the page then forgets at its end.
 */
export class ChatMemory {
  constructor(tabStore: TextStore, browserStore: TextStore) {
    this._tabStore = tabStore;
    this._browserStore = browserStore;
  }

  draft(chat: string): string {
    return readText(this._tabStore, DRAFT + chat);
  }

  setDraft(chat: string, text: string): void {
    writeText(this._tabStore, DRAFT + chat, text);
  }

  /** The remembered mode; null: none is. */
  mode(chat: string): LastingMode | null {
    const mode = readText(this._browserStore, MODE + chat);
    return LASTING_MODES.find(known => known === mode) ?? null;
  }

  setMode(chat: string, mode: Mode): void {
    writeText(this._browserStore, MODE + chat, mode === 'auto' ? '' : mode);
  }

  /** The remembered assistant; empty: none. */
  assistant(chat: string): string {
    return readText(this._browserStore, ASSISTANT + chat);
  }

  setAssistant(chat: string, name: string): void {
    writeText(this._browserStore, ASSISTANT + chat, name);
  }

  /** The remembered model; empty: none was chosen. */
  model(chat: string): string {
    return readText(this._browserStore, MODEL + chat);
  }

  setModel(chat: string, name: string): void {
    writeText(this._browserStore, MODEL + chat, name);
  }

  /** Whether this tab drove the chat, perhaps before a reload. */
  isDriven(chat: string): boolean {
    return readText(this._tabStore, DRIVEN + chat) !== '';
  }

  setDriven(chat: string, isDriven: boolean): void {
    writeText(this._tabStore, DRIVEN + chat, isDriven ? '1' : '');
  }

  /** The run that this tab has begun to draw and not drawn to its end; empty: none. */
  unfinished(chat: string): string {
    return readText(this._tabStore, UNFINISHED + chat);
  }

  setUnfinished(chat: string, run: string): void {
    writeText(this._tabStore, UNFINISHED + chat, run);
  }

  /** The prompts of this tab that waited when the server was heard last. */
  waiting(chat: string): WaitingPrompts {
    const text = readText(this._tabStore, WAITING + chat);
    return text === '' ? NONE_WAITING : (JSON.parse(text) as WaitingPrompts);
  }

  setWaiting(chat: string, waiting: WaitingPrompts): void {
    const text = waiting.prompts.length === 0 ? '' : JSON.stringify(waiting);
    writeText(this._tabStore, WAITING + chat, text);
  }

  /** A chat that had no id has one now. */
  rename(from: string, to: string): void {
    this.setDraft(to, this.draft(from));
    const mode = this.mode(from);
    if (mode !== null) {
      this.setMode(to, mode);
    }
    this.setAssistant(to, this.assistant(from));
    this.setModel(to, this.model(from));
    this.forget(from);
  }

  forget(chat: string): void {
    writeText(this._tabStore, DRAFT + chat, '');
    writeText(this._browserStore, MODE + chat, '');
    writeText(this._browserStore, ASSISTANT + chat, '');
    writeText(this._browserStore, MODEL + chat, '');
    writeText(this._tabStore, DRIVEN + chat, '');
    writeText(this._tabStore, UNFINISHED + chat, '');
    writeText(this._tabStore, WAITING + chat, '');
  }

  private readonly _tabStore: TextStore;
  private readonly _browserStore: TextStore;
}
