/**
 * The end of a text that is still being written, so that it does not flicker: what cannot be told
 * yet is held back, what is open is closed.
 */
import { closed } from './unfinished_line';

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
