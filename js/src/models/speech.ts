import type { Block } from './types';

type SpeechKind = 'text' | 'reasoning';

interface Growing {
  readonly index: number;
  text: string;
  isShown: boolean;
}

/** What the model is saying in the reply that comes in, kept in the list of a turn's blocks. */
export class Speech {
  constructor(blocks: Block[]) {
    this._blocks = blocks;
  }

  say(kind: SpeechKind, text: string): void {
    let growing = this._growing.get(kind);
    if (growing === undefined) {
      const index = this._blocks.push({ kind, text: '', isStreaming: true }) - 1;
      growing = { index, text: '', isShown: false };
      this._growing.set(kind, growing);
    }
    growing.text += text;
    growing.isShown = false;
  }

  /** Write what has grown into the blocks. */
  show(): void {
    for (const [kind, growing] of this._growing) {
      if (!growing.isShown) {
        this._blocks[growing.index] = { kind, text: growing.text, isStreaming: true };
        growing.isShown = true;
      }
    }
  }

  /** The reply is void: it will be asked for again. */
  retract(): void {
    const indexes = [...this._growing.values()].map(({ index }) => index);
    for (const index of indexes.sort((one, other) => other - one)) {
      this._blocks.splice(index, 1);
    }
    this._growing.clear();
  }

  /** The whole reply is there: it counts, and not what was seen of it. */
  settle(reasoning: string, text: string): void {
    if (this._isVoid('reasoning', reasoning) || this._isVoid('text', text)) {
      this.retract();
    }
    this._settle('reasoning', reasoning);
    this._settle('text', text);
    this.end();
  }

  /** No more comes of this reply. */
  end(): void {
    for (const [kind, { index, text }] of this._growing) {
      this._blocks[index] = { kind, text, isStreaming: false };
    }
    this._growing.clear();
  }

  /** It was seen, and the whole reply has none of it. */
  private _isVoid(kind: SpeechKind, text: string): boolean {
    return text === '' && this._growing.has(kind);
  }

  private _settle(kind: SpeechKind, text: string): void {
    const growing = this._growing.get(kind);
    if (growing !== undefined) {
      growing.text = text;
    } else if (text !== '') {
      this.say(kind, text);
    }
  }

  private readonly _blocks: Block[];
  private readonly _growing = new Map<SpeechKind, Growing>();
}
