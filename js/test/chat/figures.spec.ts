import { nullTranslator } from '@jupyterlab/translation';
import { expect, it } from 'vitest';

import { formatCount, formatDollars, formatFigures, formatSeconds } from '../../src/ui/figures';
import { usage } from './events';

const trans = nullTranslator.load('cellwright');

const USED = usage({ prompt_tokens: 45_200, completion_tokens: 1_200, cached_tokens: 38_100 });

it('tells time, tokens and cost of a turn', () => {
  const turn = { usage: USED, costDollars: 0.08, durationSeconds: 12.34 };
  expect(formatFigures(turn, trans)).toBe(
    '12.3s · 45.2K in (38.1K cached, 84%) / 1.2K out · $0.08'
  );
});

it('hides a cost that is not known, and a cache that was not used', () => {
  const turn = { usage: { ...USED, cached_tokens: 0 }, costDollars: null, durationSeconds: 0.04 };
  expect(formatFigures(turn, trans)).toBe('0.0s · 45.2K in / 1.2K out');
});

it('tells how much of what was written is thinking', () => {
  const turn = { usage: { ...USED, reasoning_tokens: 640 }, costDollars: null, durationSeconds: 1 };
  expect(formatFigures(turn, trans)).toContain(' / 1.2K out (640 thinking)');
});

it('marks what is estimated', () => {
  const turn = { usage: { ...USED, estimated: true }, costDollars: 1, durationSeconds: 1 };
  expect(formatFigures(turn, trans)).toBe(
    '1.0s · ~45.2K in (38.1K cached, 84%) / ~1.2K out · ~$1.00'
  );
});

it('hides tokens when there are none', () => {
  const turn = { usage: usage(), costDollars: null, durationSeconds: 1 };
  expect(formatFigures(turn, trans)).toBe('1.0s');
});

it.each([
  [0.44, '0.4s'],
  [59.94, '59.9s'],
  [59.96, '1m 00s'],
  [185, '3m 05s'],
  [3599.6, '1h 00m'],
  [7260, '2h 01m']
])('writes %s seconds as %s', (seconds, text) => {
  expect(formatSeconds(seconds)).toBe(text);
});

it.each([
  [0, '0'],
  [999, '999'],
  [1000, '1.0K'],
  [999_949, '999.9K'],
  [999_950, '1.0M'],
  [1_340_000, '1.3M']
])('writes %s tokens as %s', (count, text) => {
  expect(formatCount(count)).toBe(text);
});

it.each([
  [0, '$0.00'],
  [0.00001, '<$0.0001'],
  [0.0042, '$0.0042'],
  [0.01, '$0.01'],
  [12.3, '$12.30']
])('writes %s dollars as %s', (dollars, text) => {
  expect(formatDollars(dollars)).toBe(text);
});
