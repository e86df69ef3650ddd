/** marked's lexer, held to what a page can bear. */
// eslint-disable-next-line jupyter/prefer-lazy-imports -- `index.tsx` loads this file lazily
import { Lexer, Marked, Tokenizer } from 'marked';
import type { Token, Tokens } from 'marked';

import { blockFormula, findBlockFormula, inlineFormula, withoutFormulas } from './formulas';

const BLOCK_DEPTH = 8;
const INLINE_DEPTH = 12;
/** How many characters may be looked through in vain for the ends of emphasis and links. */
const EFFORT_LIMIT = 200_000;
/** What opens neither emphasis nor a link costs nothing. */
const IDLE = /^(?:[*_~]+(?:\s|$)|!?\[[^\]()]{0,200}\](?!\())/;
const WORD = /[\p{L}\p{N}]/u;

/** So much of a list or quotation is read at once; what follows is another one. */
const PART_LIMIT = 10_000;
const LONGEST_PART = 50_000;

/** How deep we are, and what was spent. */
class Tally {
  block = 0;
  inline = 0;
  effort = 0;
}

/** No HTML, no reference definitions, and an end to nesting and to searching. */
class BoundedTokenizer extends Tokenizer {
  constructor(private readonly _tally: Tally) {
    super();
  }

  override html(): undefined {
    return undefined;
  }

  override tag(): undefined {
    return undefined;
  }

  override def(): undefined {
    return undefined;
  }

  override reflink(): undefined {
    return undefined;
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this._partly(source, part => super.blockquote(part));
  }

  override list(source: string): Tokens.List | undefined {
    return this._partly(source, part => super.list(part));
  }

  override emStrong(
    source: string,
    masked: string,
    before = ''
  ): Tokens.Em | Tokens.Strong | undefined {
    const first = source.charAt(0);
    if (first !== '*' && (first !== '_' || WORD.test(before))) {
      return undefined;
    }
    return this._searched(source, () => super.emStrong(source, masked, before));
  }

  override del(source: string, masked: string, before = ''): Tokens.Del | undefined {
    return source.startsWith('~')
      ? this._searched(source, () => super.del(source, masked, before))
      : undefined;
  }

  override link(source: string): Tokens.Link | Tokens.Image | undefined {
    return source.startsWith('[') || source.startsWith('![')
      ? this._searched(source, () => super.link(source))
      : undefined;
  }

  /** Read one level further in, and no more than a part. */
  private _partly<T extends Token>(
    source: string,
    read: (part: string) => T | undefined
  ): T | undefined {
    if (this._tally.block >= BLOCK_DEPTH) {
      return undefined;
    }
    this._tally.block += 1;
    try {
      const part = firstPart(source);
      const token = read(part);
      if (token !== undefined && part.length < source.length) {
        markPart(token, part);
      }
      return token;
    } finally {
      this._tally.block -= 1;
    }
  }

  private _searched<T>(source: string, read: () => T | undefined): T | undefined {
    const tally = this._tally;
    if (tally.inline >= INLINE_DEPTH || tally.effort > EFFORT_LIMIT || IDLE.test(source)) {
      return undefined;
    }
    tally.inline += 1;
    try {
      const found = read();
      tally.effort += found === undefined ? source.length : 0;
      return found;
    } finally {
      tally.inline -= 1;
    }
  }
}

const parts = new WeakSet<Token>();

/** Whether a block ends where its part did, so that nothing that follows belongs to it. */
export function isPart(token: Token): boolean {
  return parts.has(token);
}

function markPart(token: Token, part: string): void {
  if (token.raw.length >= part.trimEnd().length) {
    parts.add(token);
  }
}

/** A text up to the last line of its first part that is not indented. */
function firstPart(text: string): string {
  if (text.length <= PART_LIMIT) {
    return text;
  }
  let end = text.lastIndexOf('\n', PART_LIMIT - 1);
  while (end > 0 && /\s/.test(text.charAt(end + 1))) {
    end = text.lastIndexOf('\n', end - 1);
  }
  return text.slice(0, end > 0 ? end + 1 : LONGEST_PART);
}

const OPTIONS = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    { name: 'formula', level: 'block', start: findBlockFormula, tokenizer: blockFormula },
    {
      name: 'inline_formula',
      level: 'inline',
      start: text => {
        const at = text.indexOf('$');
        return at < 0 ? undefined : at;
      },
      tokenizer: inlineFormula
    }
  ],
  hooks: { emStrongMask: withoutFormulas }
}).defaults;

/** The blocks of a text; what is inside lines is not looked at yet. */
export function lexBlocks(text: string): Token[] {
  const lexer = newLexer();
  return lexer.blockTokens(text, []);
}

/** Reads lines; one for each block, as it tires. */
export class InlineLexer {
  /** What stands in some lines. */
  lex(text: string): Token[] {
    return this._lexer.inlineTokens(text, []);
  }

  private readonly _lexer = newLexer();
}

function newLexer(): Lexer {
  return new Lexer({ ...OPTIONS, tokenizer: new BoundedTokenizer(new Tally()) });
}
