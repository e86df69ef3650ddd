import type { ChatState } from '../server/frames';
import type { Draft, Turn } from './types';

interface SentPrompt {
  readonly draft: Draft;
  /** How many turns there were. */
  readonly turns: number;
  /** `accepted`: its run begins any moment; `queued`: it waits its turn. */
  phase: 'sent' | 'accepted' | 'queued';
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
    this._sent.set(request, { draft, turns, phase: 'sent', hasLostLine: false });
  }

  /** The server has it; it may still say that it cannot be answered. */
  accept(request: string, isQueued: boolean): void {
    const sent = this._sent.get(request);
    if (sent !== undefined) {
      this._drafts = null;
      sent.phase = isQueued ? 'queued' : 'accepted';
    }
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

  /** The line broke: nobody knows whether they arrived. */
  loseLine(): void {
    for (const sent of this._sent.values()) {
      sent.hasLostLine = true;
    }
  }

  /** The line is back and all is known: take out those that arrived, give those that did not. */
  settle(turns: readonly Turn[], state: ChatState): readonly Draft[] {
    const lost: Draft[] = [];
    for (const [request, sent] of this._sent) {
      if (sent.hasLostLine) {
        this.take(request);
        const { text } = sent.draft;
        const hasArrived =
          sent.phase !== 'sent' ||
          turns.slice(sent.turns).some(turn => turn.prompt === text) ||
          state.queue.some(({ prompt }) => prompt === text);
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
