/** marked's lexer with formulas, held to what a page can bear. */
// eslint-disable-next-line jupyter/prefer-lazy-imports -- `index.tsx` loads this file lazily
import { Lexer, Marked, type Token, Tokenizer, type Tokens } from 'marked';

// Where a formula begins and ends in Markdown, and its TeX without macros that act.

/** A token of marked for a formula. */
export interface FormulaToken extends Tokens.Generic {
  readonly type: 'formula';
  readonly source: string;
  readonly isDisplay: boolean;
}

const LENGTH_LIMIT = 2000;
const DISPLAY_LIMIT = 5000;
const TRIES_LIMIT = 50;
const BLANK_LINE = /\n[ \t]*(?:\n|$)/;
/** "$5 and $10" is money. */
const DOLLARS = /^\$(?![\s$])((?:[^$\\\n]|\\[^\n])+?)(?<!\s)\$(?![\d$])/;
const PARENTHESES = /^\\\(([^\n]+?)\\\)/;
const MASKED = /\$\$[^$]+\$\$|\$(?![\s$])(?:[^$\\\n]|\\[^\n])+?(?<!\s)\$(?![\d$])/g;
const OPENS_BLOCK = /^ {0,3}(?:\$\$|\\\[)/gm;
const ACTIVE_MACRO =
  /\\(?=(?:href|url|class|style|cssId|data|require|csname|mmlToken|includegraphics|html[A-Z]\w*)(?![a-zA-Z]))/g;

/** A formula that has lines of its own, at the beginning of a text. */
function blockFormula(text: string): FormulaToken | undefined {
  const indent = /^ {0,3}/.exec(text)?.[0].length ?? 0;
  const found = delimited(text, indent);
  if (found === undefined) {
    return undefined;
  }
  const rest = /^[ \t]*(?:\n|$)/.exec(text.slice(found.end));
  if (rest === null) {
    return undefined;
  }
  return formula(text.slice(0, found.end + rest[0].length), found.body, true);
}

/** Where the next formula with lines of its own begins in this paragraph. */
function findBlockFormula(text: string): number | undefined {
  const blank = text.search(BLANK_LINE);
  const paragraph = blank < 0 ? text : text.slice(0, blank);
  let tries = 0;
  for (const { index } of paragraph.matchAll(OPENS_BLOCK)) {
    tries += 1;
    if (tries > TRIES_LIMIT) {
      return undefined;
    }
    // marked leaves out the first character, so that is no line's beginning
    if (index > 0 && blockFormula(paragraph.slice(index)) !== undefined) {
      return index;
    }
  }
  return undefined;
}

/** A formula at the beginning of a text. */
function inlineFormula(text: string): FormulaToken | undefined {
  const first = text.charAt(0);
  if (first !== '$' && first !== '\\') {
    return undefined;
  }
  const found = delimited(text, 0);
  if (found !== undefined) {
    return formula(text.slice(0, found.end), found.body, true);
  }
  const inline = (first === '$' ? DOLLARS : PARENTHESES).exec(text.slice(0, LENGTH_LIMIT));
  return inline === null ? undefined : formula(inline[0], inline[1] ?? '', false);
}

/** The text with its formulas covered, so that nothing in them is taken for emphasis. */
function withoutFormulas(text: string): string {
  return text.includes('$') ? text.replace(MASKED, found => 'a'.repeat(found.length)) : text;
}

function formula(raw: string, body: string, isDisplay: boolean): FormulaToken {
  const source = body.replace(ACTIVE_MACRO, '').trim();
  return { type: 'formula', raw, source, isDisplay };
}

/** `$$…$$` or `\[…\]` from a position on. */
function delimited(text: string, start: number): { body: string; end: number } | undefined {
  const opening = text.slice(start, start + 2);
  if (opening !== '$$' && opening !== '\\[') {
    return undefined;
  }
  const closing = opening === '$$' ? '$$' : '\\]';
  const within = text.slice(start + 2, start + 2 + DISPLAY_LIMIT);
  const length = within.indexOf(closing);
  const body = within.slice(0, Math.max(length, 0));
  const isFormula = body.trim() !== '' && !BLANK_LINE.test(body.trimEnd());
  return isFormula ? { body, end: start + 2 + length + 2 } : undefined;
}

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
