import { describe, expect, it } from 'vitest';

import { sourceHash } from '../../src/notebook/source_hash';

describe('sourceHash', () => {
  it.each([
    // SHA-256 of the examples in FIPS 180-4
    ['', 'e3b0c44298fc1c14'],
    ['abc', 'ba7816bf8f01cfea'],
    ['abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq', '248d6a61d20638b8'],
    // what Python's `cells.source_hash` gives
    ['x = "ä€😀"\n', '47ef2856100735e7'],
    ['half a pair \ud800', 'e2b9c9cd3db8119e']
  ])('names %j as %s', (source, digits) => {
    expect(sourceHash(source)).toBe(digits);
  });

  it('agrees with the platform at every length around the size of a block', async () => {
    for (let length = 50; length < 140; length++) {
      const source = 'é'.repeat(length % 7) + 'x'.repeat(length);
      expect(sourceHash(source)).toBe(await platformHash(source));
    }
  });

  it('takes no longer than typing for a long cell', () => {
    const source = 'value = 1  # a line of a long cell\n'.repeat(1_000);
    const taken = Array.from({ length: 5 }, () => {
      const started = performance.now();
      sourceHash(source);
      return performance.now() - started;
    });
    expect(Math.min(...taken)).toBeLessThan(50); // the quickest: others work here too
  });
});

async function platformHash(source: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(source));
  const bytes = Array.from(new Uint8Array(digest), byte => byte.toString(16).padStart(2, '0'));
  return bytes.join('').slice(0, 16);
}
