import { describe, expect, it } from 'vitest';

import type { MarkdownBlock } from '../../src/markdown/nodes';
import { MarkdownReader } from '../../src/markdown/reader';
import { pick, seeded } from './chance';
import { growing, longAnswer, SAMPLE } from './growing';
import { FRAGMENTS } from './payloads';

function readAtOnce(text: string): readonly MarkdownBlock[] {
  return new MarkdownReader().read(text, false);
}

function readGrowing(texts: Iterable<string>, whole: string): readonly MarkdownBlock[] {
  const reader = new MarkdownReader();
  for (const text of texts) {
    reader.read(text, true);
  }
  return reader.read(whole, false);
}

describe('a text that grew', () => {
  it.each([1, 2, 3, 7, 40])('reads as if it had come at once, in steps of %i', step => {
    const grown = readGrowing(growing(SAMPLE, Math.ceil(SAMPLE.length / step)), SAMPLE);
    expect(grown).toEqual(readAtOnce(SAMPLE));
  });

  it('reads as if it had come at once, whatever it is', () => {
    const random = seeded(6);
    for (let round = 0; round < 400; round += 1) {
      const length = Math.floor(random() * 25);
      const text = Array.from({ length }, () => pick(random, FRAGMENTS)).join('');
      const grown = readGrowing(growing(text, Math.ceil(text.length / 3)), text);
      expect(grown, JSON.stringify(text)).toEqual(readAtOnce(text));
    }
  }, 60_000);

  it('keeps what is settled as the same objects', () => {
    const reader = new MarkdownReader();
    const text = longAnswer(20_000);
    let before: readonly MarkdownBlock[] = [];
    for (const part of growing(text, 300)) {
      const now = reader.read(part, true);
      const settled = Math.max(0, before.length - 2);
      expect(now.slice(0, settled).every((block, index) => block === before[index])).toBe(true);
      before = now;
    }
    expect(before.length).toBeGreaterThan(20);
  });

  it('keeps the items of a list that grows', () => {
    const reader = new MarkdownReader();
    const items = (count: number): readonly object[] => {
      const text = Array.from({ length: count }, (_, index) => `- item ${String(index)}\n`).join(
        ''
      );
      const [list] = reader.read(text, true);
      return list?.kind === 'list' ? list.items : [];
    };
    const before = items(20);
    expect(items(21).slice(0, 19)).toEqual(before.slice(0, 19));
    expect(items(22)[3]).toBe(before[3]);
  });

  it('may become another text', () => {
    const reader = new MarkdownReader();
    reader.read('one\n\ntwo\n\nthree\n\nfour', true);
    expect(reader.read('other', true)).toEqual(readAtOnce('other'));
  });

  it('may hold escapes and half characters at its end', () => {
    const reader = new MarkdownReader();
    reader.read('a \x1b[3', true);
    reader.read('a \x1b[31mred \ud83d', true);
    expect(reader.read('a \x1b[31mred \ud83d\ude00\r\nb', true)).toEqual(readAtOnce('a red 😀\nb'));
  });
});

/** What is shown of the end of a text that still comes. */
function shown(text: string): string {
  return JSON.stringify(new MarkdownReader().read(text, true));
}

describe('the end of a text that still comes', () => {
  it.each([
    ['**bold te', '**bold te**'],
    ['a **bold ', 'a **bold**'],
    ['a **', 'a'],
    ['a **bold*', 'a **bold**'],
    ['a *emph **both', 'a *emph **both***'],
    ['a ~~gone', 'a ~~gone~~'],
    ['a `co', 'a `co`'],
    ['a `', 'a'],
    ['see [the docs', 'see the docs'],
    ['see [the docs](https://exa', 'see the docs'],
    ['see [the docs]', 'see the docs'],
    ['see ![plot](data:image/png;base64,AAA', 'see'],
    ['see ![pl', 'see'],
    ['see <https://exa', 'see'],
    ['area $x^2 + ', 'area'],
    ['area \\(x^2 + ', 'area'],
    ['area $$x', 'area'],
    ['back\\', 'back'],
    ['text\n-', 'text'],
    ['text\n===', 'text'],
    ['text\n\n##', 'text'],
    ['- a\n- ', '- a'],
    ['- a\n- [', '- a'],
    ['text\n\n```py', 'text'],
    ['text\n\n``', 'text'],
    ['text\n\n$$\n\\frac', 'text'],
    ['text\n\n$$\nx\n$', 'text'],
    ['text\n\n\\[\nx', 'text'],
    ['text\n| a | b |', 'text'],
    ['text\n\n| a | b |\n', 'text'],
    ['text\n\n| a | b |\n|--', 'text'],
    ['| a |\n|---|\n| **b', '| a |\n|---|\n| **b**'],
    ['> quoted *te', '> quoted *te*'],
    ['- item **bo', '- item **bo**'],
    ['- [x] **bo', '- [x] **bo**']
  ])('%j shows what %j would', (text, expected) => {
    expect(shown(text)).toBe(JSON.stringify(readAtOnce(expected)));
  });

  it.each([
    'costs $5 and',
    'snake_case and 2 * 3',
    'a \\* b',
    'a ![x](c.png) b [x](https://x.test/) c',
    '`a` and ``b ` c`` d',
    'a $x$ and \\(y\\) b',
    '$$\nx\n$$\nmore',
    '**kw** and __init__ x',
    '| a |\n|---|\n| b |\n',
    '| a |\n| b |\nc',
    'a < b! and c',
    'a ] b'
  ])('%j is shown as it is', text => {
    expect(shown(text)).toBe(JSON.stringify(readAtOnce(text)));
  });

  it('is code while a fence is open', () => {
    expect(new MarkdownReader().read('```python\nx = "**"\n``', true)).toEqual([
      { kind: 'code_block', language: 'python', code: 'x = "**"', isOpen: true }
    ]);
    expect(new MarkdownReader().read('- ```sql\n  select', true)).toMatchObject([
      { kind: 'list', items: [{ blocks: [{ kind: 'code_block', isOpen: true }] }] }
    ]);
  });

  it('is settled code once the fence is closed', () => {
    for (const text of ['```\nx\n```\n', '~~~\nx\n~~~', '```\nx\n```\n\nmore']) {
      const [block] = new MarkdownReader().read(text, true);
      expect(block).toMatchObject({ kind: 'code_block', code: 'x' });
    }
    expect(new MarkdownReader().read('```\nx\n```\n', true)).toMatchObject([{ isOpen: false }]);
    expect(new MarkdownReader().read('```\nx', false)).toMatchObject([{ isOpen: false }]);
  });
});
