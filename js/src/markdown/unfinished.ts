/**
 * The end of a text that is still being written, so that it does not flicker: what cannot be told
 * yet is held back, what is open is closed.
 */
// A line that is still being written, with what is open in it closed.

const REACH = 2000;
const SPACE = /\s|^$/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const PARTIAL_MATH = /^\$(?:\\|[A-Za-z](?:[\s_^=+\-{(,\\]|$))[^$\n]{0,60}$/;
const PARTIAL_ADDRESS = /^<https?:[^\s<>]*$/;

interface OpenMark {
  readonly sign: string;
  length: number;
  /** Where its content begins in what is written. */
  readonly start: number;
}

/** The line as if it ended here. */
function closed(line: string): string {
  if (line.length <= REACH) {
    return new Closer(line).close();
  }
  const picture = line.lastIndexOf('![');
  return picture < 0 || line.includes(')', picture) ? line : line.slice(0, picture).trimEnd();
}

/** Goes through the line once. */
class Closer {
  constructor(private readonly _line: string) {}

  close(): string {
    while (this._at < this._line.length) {
      const read = this._readers[this._line.charAt(this._at)];
      if (read === undefined) {
        this._copy(1);
      } else if (!read()) {
        return this._ended();
      }
    }
    return this._ended();
  }

  private _copy(length: number): true {
    this._written += this._line.slice(this._at, this._at + length);
    this._at += length;
    return true;
  }

  private _backslash(): boolean {
    const following = this._line.charAt(this._at + 1);
    if (following === '(' || following === '[') {
      return this._through(following === '(' ? '\\)' : '\\]');
    }
    return following !== '' && this._copy(2);
  }

  private _dollar(): boolean {
    if (this._line.startsWith('$$', this._at)) {
      return this._through('$$');
    }
    return !PARTIAL_MATH.test(this._line.slice(this._at)) && this._copy(1);
  }

  /** Copy a formula as a whole; without its end, nothing more is shown. */
  private _through(closing: string): boolean {
    const end = this._line.indexOf(closing, this._at + 2);
    return end >= 0 && this._copy(end + 2 - this._at);
  }

  private _ticks(): boolean {
    const ticks = /^`+/.exec(this._line.slice(this._at))?.[0] ?? '';
    const rest = this._line.slice(this._at + ticks.length);
    const closing = new RegExp(`(?<!\`)${ticks}(?!\`)`).exec(rest);
    if (closing !== null) {
      return this._copy(ticks.length + closing.index + ticks.length);
    }
    const code = rest.replace(/`+$/, '');
    if (code.trim() !== '') {
      this._written += `${ticks}${code}${ticks}`;
    }
    return false;
  }

  private _angle(): boolean {
    return !PARTIAL_ADDRESS.test(this._line.slice(this._at)) && this._copy(1);
  }

  private _exclamation(): boolean {
    if (this._line.charAt(this._at + 1) !== '[') {
      return this._copy(1);
    }
    const end = this._targetEnd(this._at + 1);
    return end > 0 && this._copy(end - this._at);
  }

  private _bracket(): boolean {
    const end = this._targetEnd(this._at);
    if (end > 0) {
      return this._copy(1);
    }
    // A link without its end is its text.
    this._at += 1;
    return true;
  }

  private _closingBracket(): boolean {
    const rest = this._line.slice(this._at);
    if (rest === ']') {
      return false; // an address may follow
    }
    const target = /^\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\s*\)/.exec(rest);
    if (target !== null) {
      return this._copy(target[0].length);
    }
    return !/^\]\([^)\n]*$/.test(rest) && this._copy(1);
  }

  /** Where a bracket and the address after it end; 0: nowhere yet. */
  private _targetEnd(at: number): number {
    const brackets = /^\[[^\]]*\]/.exec(this._line.slice(at))?.[0] ?? '';
    const end = at + brackets.length;
    const target = /^\([^)\n]*\)?/.exec(this._line.slice(end))?.[0] ?? '';
    const isOpen = target === '' ? end === this._line.length : !target.endsWith(')');
    return brackets === '' || isOpen ? 0 : end + target.length;
  }

  private _emphasis(): boolean {
    const sign = this._line.charAt(this._at);
    let run = 1;
    while (this._line.charAt(this._at + run) === sign) {
      run += 1;
    }
    const before = this._line.charAt(this._at - 1);
    const after = this._line.charAt(this._at + run);
    if (after === '') {
      return false;
    }
    this._pair(sign, run, {
      opens: canOpen(sign, before, after),
      closes: canOpen(sign, after, before)
    });
    return this._copy(run);
  }

  private _pair(sign: string, length: number, run: { opens: boolean; closes: boolean }): void {
    const known = this._open.map(opener => opener.sign).lastIndexOf(sign);
    const opener = this._open[known];
    if (run.closes && opener !== undefined) {
      this._open.length = opener.length > length ? known + 1 : known;
      opener.length -= length;
    } else if (run.opens) {
      this._open.push({ sign, length, start: this._written.length + length });
    }
  }

  /** What was written, with the signs that are missing. */
  private _ended(): string {
    let text = this._written.trimEnd();
    for (const { sign, length, start } of this._open.reverse()) {
      const isEmpty = text.length <= start;
      text = isEmpty ? text.slice(0, start - length).trimEnd() : text + sign.repeat(length);
    }
    return this._open.length > 0 || this._at < this._line.length ? text : this._written;
  }

  private readonly _readers: Partial<Record<string, () => boolean>> = {
    '\\': () => this._backslash(),
    $: () => this._dollar(),
    '`': () => this._ticks(),
    '<': () => this._angle(),
    '!': () => this._exclamation(),
    '[': () => this._bracket(),
    ']': () => this._closingBracket(),
    '*': () => this._emphasis(),
    _: () => this._emphasis(),
    '~': () => this._emphasis()
  };
  private readonly _open: OpenMark[] = [];
  private _at = 0;
  private _written = '';
}

/** Whether signs between two characters may begin emphasis; the other way round, end it. */
function canOpen(sign: string, before: string, after: string): boolean {
  if (SPACE.test(after)) {
    return false;
  }
  const isFree = SPACE.test(before) || PUNCTUATION.test(before);
  return isFree || (sign !== '_' && !PUNCTUATION.test(after));
}

/** Lines of nothing but signs: a list item, a heading, a rule, a table or emphasis to come. */
const SIGNS = /^[-*+_=~`#|:>0-9.)([\]!<$\\ \t]{1,1000}$/;
const FENCE_LINE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}|~{3,})([^\n]*)$/;
const CLOSING_PART = /^[ \t>]*(?:`+|~+)$/;
const DELIMITER_ROW = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;
const FORMULA_OPENING = /^[ \t]*(?:\$\$|\\\[)/;
const BLOCK_OPENING = /^[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+(?:\[[ xX]\][ \t]+)?/;
/** Lines that a formula may hold. */
const FORMULA_LINES = 200;

/** The text as it is drawn while more of it comes. */
export function finished(text: string): string {
  const lines = text.split('\n');
  const last = lines.at(-1) ?? '';
  if (isInFence(lines.slice(0, -1))) {
    return CLOSING_PART.test(last) ? lines.slice(0, -1).join('\n') : text;
  }
  const isUnclear = last !== '' && (SIGNS.test(last) || FENCE_LINE.test(last));
  const clear = isUnclear ? lines.slice(0, -1) : lines;
  const start = paragraphStart(clear);
  const held = formulaStart(clear, start) ?? tableStart(clear, start);
  return held === null ? withLineClosed(clear, start) : clear.slice(0, held).join('\n');
}

function isInFence(lines: readonly string[]): boolean {
  let open = '';
  for (const line of lines) {
    const [, ticks = '', rest = ''] = FENCE_LINE.exec(line) ?? [];
    if (open === '') {
      open = ticks.startsWith('`') && rest.includes('`') ? '' : ticks;
    } else if (ticks.startsWith(open) && rest.trim() === '') {
      open = '';
    }
  }
  return open !== '';
}

/** The first line after the last blank one. */
function paragraphStart(lines: readonly string[]): number {
  // An empty last line is one that has not begun.
  const end = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  return lastIndexWhere(lines.slice(0, end), line => line.trim() === '') + 1;
}

/** Where a formula begins that has lines of its own and no end yet. */
function formulaStart(lines: readonly string[], start: number): number | null {
  let at = start;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const opening = FORMULA_OPENING.exec(line)?.[0] ?? '';
    if (opening !== '') {
      const end = formulaEnd(lines, at, opening);
      if (end === null) {
        return lines.length - at > FORMULA_LINES ? null : at;
      }
      at = end;
    }
    at += 1;
  }
  return null;
}

/** The line on which a formula ends. */
function formulaEnd(lines: readonly string[], at: number, opening: string): number | null {
  const closing = opening.endsWith('$$') ? '$$' : '\\]';
  if (lines[at]?.includes(closing, opening.length) === true) {
    return at;
  }
  let end = at + 1;
  while (end < lines.length && lines[end]?.includes(closing) !== true) {
    end += 1;
  }
  return end < lines.length ? end : null;
}

/** Where a table begins whose second line, which makes it one, is not there yet. */
function tableStart(lines: readonly string[], start: number): number | null {
  const end = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const line = (at: number): string => (at >= start ? (lines[at] ?? '') : '');
  const isRow = (at: number): boolean => line(at).trimStart().startsWith('|');
  if (isRow(end - 1) && !isRow(end - 2) && !DELIMITER_ROW.test(line(end - 2))) {
    return end - 1;
  }
  return null;
}

function withLineClosed(lines: readonly string[], start: number): string {
  const begins = lastIndexWhere(lines, (line, at) => at <= start || BLOCK_OPENING.test(line));
  const from = Math.max(begins, 0);
  const before = lines.slice(0, from);
  const run = lines.slice(from).join('\n');
  const opening = lastCell(run) ?? BLOCK_OPENING.exec(run)?.[0] ?? '';
  return [...before, opening + closed(run.slice(opening.length))].join('\n');
}

/** A row of a table up to its last cell. */
function lastCell(run: string): string | null {
  const line = run.slice(run.lastIndexOf('\n') + 1);
  return line.trimStart().startsWith('|') ? run.slice(0, run.lastIndexOf('|') + 1) : null;
}

function lastIndexWhere(
  lines: readonly string[],
  isFound: (line: string, at: number) => boolean
): number {
  let at = lines.length - 1;
  while (at >= 0 && !isFound(lines[at] ?? '', at)) {
    at -= 1;
  }
  return at;
}
