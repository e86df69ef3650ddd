import { describe, expect, it } from 'vitest';

import { type DiffLine, diffLines, withContext } from '../../src/notebook/line_diff';

function signs(before: string, after: string): string {
  const sign = { same: ' ', added: '+', removed: '-' };
  return diffLines(before, after)
    .map(line => sign[line.kind] + line.text)
    .join('\n');
}

function text(lines: readonly DiffLine[], without: DiffLine['kind']): string {
  return lines
    .filter(line => line.kind !== without)
    .map(line => line.text)
    .join('\n');
}

describe('diffLines', () => {
  it.each([
    ['the same', 'a\nb', 'a\nb', ' a\n b'],
    ['a new text', '', 'a', '+a'],
    ['a text that goes', 'a\nb', '', '-a\n-b'],
    ['a line in the middle', 'a\nc', 'a\nb\nc', ' a\n+b\n c'],
    ['a changed line', 'a\nb\nc', 'a\nB\nc', ' a\n-b\n+B\n c'],
    ['a line that moves', 'a\nb\nc', 'b\nc\na', '-a\n b\n c\n+a'],
    ['nothing in common', 'a\nb', 'c\nd', '-a\n-b\n+c\n+d']
  ])('shows %s', (_, before, after, expected) => {
    expect(signs(before, after)).toBe(expected);
  });

  it('finds the shortest way between the texts of Myers’ example', () => {
    const lines = diffLines('A\nB\nC\nA\nB\nB\nA', 'C\nB\nA\nB\nA\nC');
    expect(lines.filter(line => line.kind !== 'same')).toHaveLength(5);
  });

  it('gives back both texts, whatever they are', () => {
    const letters = 'abc\n\n';
    let seed = 1;
    const random = (): string => {
      seed = (seed * 48_271) % 2_147_483_647;
      return letters[seed % letters.length] ?? '';
    };
    for (let round = 0; round < 300; round++) {
      const [before, after] = [1, 2].map(() => Array.from({ length: round % 30 }, random).join(''));
      const lines = diffLines(before ?? '', after ?? '');
      expect(text(lines, 'added')).toBe(before);
      expect(text(lines, 'removed')).toBe(after);
    }
  });

  it('replaces texts that have next to nothing in common without a long search', () => {
    const before = Array.from({ length: 3_000 }, (_, index) => `old ${String(index)}`).join('\n');
    const after = Array.from({ length: 3_000 }, (_, index) => `new ${String(index)}`).join('\n');
    const started = performance.now();
    expect(diffLines(before, after)).toHaveLength(6_000);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('withContext', () => {
  it('leaves out what is far from a change and says how much', () => {
    const before = Array.from({ length: 20 }, (_, index) => `line ${String(index)}`);
    const after = before.map(line => (line === 'line 10' ? 'new' : line));
    const shown = withContext(diffLines(before.join('\n'), after.join('\n')), 2);
    expect(shown.map(line => (line.kind === 'gap' ? line.count : line.text))).toEqual([
      8,
      ...['line 8', 'line 9', 'line 10', 'new', 'line 11', 'line 12'],
      7
    ]);
  });
});
