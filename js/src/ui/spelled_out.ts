/**
 * What a page would not draw, or would draw in another order than it runs; the same signs as in
 * `cellwright/record/asked_calls.py`.
 */
const HIDDEN =
  '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\p{Zl}\\p{Zp}\\p{Bidi_Control}\\p{Default_Ignorable_Code_Point}]';
/** Signs that shape an emoji or join letters stay where they stand alone behind one of those. */
const SHAPED = `(?!${HIDDEN})[^\\0-\\x7f](?:\\ufe0f\\u200d?|[\\u200c\\u200d])`;
const SHAPED_OR_HIDDEN = new RegExp(`${SHAPED}|(${HIDDEN})`, 'gu');

/** A text in which nothing hides. */
export function spelledOut(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(SHAPED_OR_HIDDEN, (whole, hidden?: string) =>
      hidden === undefined ? whole : escaped(hidden.codePointAt(0) ?? 0)
    );
}

/** As Python writes it. */
function escaped(code: number): string {
  const digits = code.toString(16);
  return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}
