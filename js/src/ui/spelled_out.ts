/**
 * What a page would not draw, or would draw in another order than it runs; the same signs as in
 * `cellwright/record/asked_calls.py`.
 */
const HIDDEN =
  '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}]';
const EMOJI =
  '[\\xa9\\xae\\u203c\\u2049\\u2122\\u2190-\\u2bff\\u3030\\u303d\\u3297\\u3299\\u{1f000}-\\u{1faff}]';
/** Letters of scripts that are written with joiners. */
const JOINED = '[\\u0600-\\u109f\\u1780-\\u18af\\ufb50-\\ufdff\\ufe70-\\ufefc]';
/**
 * Signs that shape an emoji or join letters stay where they stand alone behind one of those. Behind
 * other letters they would make two names that look alike.
 */
const SHAPED = `${EMOJI}(?:\\ufe0f\\u200d?|\\u200d)|(?!${HIDDEN})${JOINED}[\\u200c\\u200d]`;
const SHAPED_OR_HIDDEN = new RegExp(`${SHAPED}|(${HIDDEN})`, 'gu');

/** A text in which nothing hides. */
export function spelledOut(text: string): string {
  return text
    .replaceAll(/\r\n?/g, '\n')
    .replace(SHAPED_OR_HIDDEN, (whole, hidden?: string) =>
      hidden === undefined ? whole : escaped(hidden.codePointAt(0) ?? 0)
    );
}

/** As Python writes it. */
function escaped(code: number): string {
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
