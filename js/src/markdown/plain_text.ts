/**
 * Text without terminal escapes, controls and marks that hide or reorder it; the same as
 * `plain_text` in `cellwright/text/cleaning.py`.
 */

const SUSPECT =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]|\p{Cs}/u;
const CONTROLS =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const ESCAPES =
  /\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\|$)|[PX^_][^\x1b]*(?:\x1b\\|$)|\[[0-?]*[ -/]*[@-~]|[ -/]*[0-~]|$)/g;
const EIGHT_BIT = /[\x90\x9b\x9d\x9e\x9f]/g;
const SEVEN_BIT: Record<string, string> = {
  '\x90': '\x1bP',
  '\x9b': '\x1b[',
  '\x9d': '\x1b]',
  '\x9e': '\x1b^',
  '\x9f': '\x1b_'
};
const HALF_PAIRS = /\p{Cs}/gu;

/** Whether there is anything to take out, from a position on. */
export function isSuspect(text: string, from = 0): boolean {
  return SUSPECT.test(from > 0 ? text.slice(from) : text);
}

/** The text as it can be shown. */
export function plainText(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(EIGHT_BIT, sign => SEVEN_BIT[sign] ?? '')
    .replace(ESCAPES, '')
    .replace(CONTROLS, '')
    .replace(HALF_PAIRS, '\ufffd');
}
