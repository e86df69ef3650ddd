/** Where a formula begins and ends in Markdown, and its TeX without macros that act. */
import type { Tokens } from 'marked';

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
export function blockFormula(text: string): FormulaToken | undefined {
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
export function findBlockFormula(text: string): number | undefined {
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
export function inlineFormula(text: string): FormulaToken | undefined {
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
export function withoutFormulas(text: string): string {
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
