import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { RenderClock } from '../../src/chat/chat';

let drawn: number[];
let clock: RenderClock;

beforeEach(() => {
  vi.useFakeTimers();
  drawn = [];
  clock = new RenderClock(() => {
    drawn.push(performance.now());
  });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('drawing', () => {
  it('happens at once for the first of many', () => {
    clock.soon();
    expect(drawn).toHaveLength(1);
  });

  it('happens at most 20 times in a second, and shows what came last', () => {
    let shown = 0;
    let latest = 0;
    const busy = new RenderClock(() => {
      drawn.push(performance.now());
      shown = latest;
    });
    for (latest = 1; latest <= 500; latest += 1) {
      busy.soon();
      vi.advanceTimersByTime(2);
    }
    latest = 500;
    vi.advanceTimersByTime(200);
    expect(shown).toBe(500);
    expect(drawn.length).toBeGreaterThan(12);
    expect(drawn.length).toBeLessThanOrEqual(21);
  });

  it('happens at once when asked to, and takes along what was waiting', () => {
    clock.soon();
    clock.soon();
    clock.now();
    expect(drawn).toHaveLength(2);
    vi.advanceTimersByTime(500);
    expect(drawn).toHaveLength(2);
  });

  it('happens in a page that gets no animation frames', () => {
    const frame = vi.spyOn(globalThis, 'requestAnimationFrame').mockReturnValue(0);
    clock.soon();
    clock.soon();
    vi.advanceTimersByTime(149);
    expect(drawn).toHaveLength(1);
    vi.advanceTimersByTime(2);
    expect(drawn).toHaveLength(2);
    frame.mockRestore();
  });

  it('does not happen after the end', () => {
    clock.soon();
    clock.soon();
    clock.dispose();
    vi.advanceTimersByTime(500);
    clock.soon();
    clock.now();
    expect(drawn).toHaveLength(1);
  });
});
