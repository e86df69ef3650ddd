import { expect, it } from 'vitest';

import { loadsFromElsewhere } from '../../src/markdown/loads';
import EXAMPLES from './loads.json';

// tests/test_browser_loads.py holds Python's check against the same examples
it.each(EXAMPLES.loads)('finds what would be loaded for %j', markdown => {
  expect(loadsFromElsewhere(markdown)).toBe(true);
  expect(loadsFromElsewhere(`> - before ${markdown}`)).toBe(true);
});

it.each(EXAMPLES.harmless)('finds nothing to load in %j', markdown => {
  expect(loadsFromElsewhere(markdown)).toBe(false);
});

it.each(['<a', '<a x=', '<img src=', '[', '![x](', 'url(', '![a][', '[r]: ', '<b style='])(
  'is not made slow by many of %j',
  piece => {
    const started = performance.now();
    loadsFromElsewhere(`![${piece.repeat(30_000)}`);
    expect(performance.now() - started).toBeLessThan(4_000);
  }
);
