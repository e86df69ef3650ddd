/** Bounds far above what is measured by `js/bench/markdown.mjs`: they find what grows, not noise. */
import { render } from '@testing-library/react';
import * as React from 'react';
import { describe, expect, it } from 'vitest';

import DocumentView from '../../src/markdown/document_view';
import { MarkdownReader } from '../../src/markdown/reader';
import { trans } from './drawing';
import { growing, longAnswer } from './growing';

const LONG = 80_000;

function milliseconds(action: () => void): number {
  const started = performance.now();
  action();
  return performance.now() - started;
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
}

describe('a long answer that comes in 2,000 pieces', () => {
  it('costs little a render, at its end as at its beginning', { timeout: 60_000 }, () => {
    const texts = [...growing(longAnswer(LONG), 200)];
    const view = (text: string) => <DocumentView text={text} isStreaming trans={trans} />;
    const { rerender } = render(view(''));
    const times = texts.map(text =>
      milliseconds(() => {
        rerender(view(text));
      })
    );
    expect(median(times)).toBeLessThan(24);
    expect(median(times.slice(-50))).toBeLessThan(24);
  });

  it.each([
    ['list', '- words with **bold** and `code` in them\n'],
    ['ordered list', '1. words with **bold** and `code` in them\n'],
    ['paragraph', 'words with **bold** and `code` in them\n'],
    ['quotation', '> words with **bold** and `code` in them\n'],
    ['code', '    words = in + them\n']
  ])('costs little when it is one %s', (_name, line) => {
    const reader = new MarkdownReader();
    const texts = growing(line.repeat(LONG / line.length), 200);
    const times = Array.from(texts, text =>
      milliseconds(() => {
        reader.read(text, true);
      })
    );
    expect(median(times)).toBeLessThan(40);
  });
});

const UNITS = [
  ...['[', '*', '>', '`', '_', '~', '<', '$', '\\', '|', '!', '(', '&', '#'],
  ...['- ', '1. ', '> - ', '**a ', '_a ', '*a_ ', '*`a` ', '~~a ', '[a](', '![a](', '<a ', '[[a]'],
  ...['a@b.', 'http://a ', '\\[', '\\(', '$$', '$a', 'word', 'a_b_', '`a', '[a\\', '*[a](b)* '],
  ...['- a\n', '> a\n', '1. a\n', '```\n', '| a |\n', '|a|\n|-|\n', '    a\n', '[a]: x\n', '$$\n'],
  ...['\\[\n', 'a\n', '# a\n', '- a\n\n', '> a\n\n', '- > a\n', '-\n', '=\n', '\n\n', '  \n']
];

it.each(UNITS)('a hundred thousand characters of %j do not hang', { timeout: 20_000 }, unit => {
  for (const length of [19_900, 100_000]) {
    const text = unit.repeat(Math.ceil(length / unit.length));
    const spent = milliseconds(() => {
      new MarkdownReader().read(text, false);
      new MarkdownReader().read(text, true);
    });
    expect(spent, String(length)).toBeLessThan(5000);
  }
});
