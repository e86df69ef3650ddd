import { describe, expect, it } from 'vitest';

import {
  costAxis,
  type CostPoint,
  paretoFront,
  shareAxis
} from '../../../src/pages/runs/plot_view';
import { estimate } from './answers';

function point(label: string, cost: number, share: number): CostPoint {
  return { path: label, label, cost: estimate(cost, cost / 10), share: estimate(share) };
}

function names(points: readonly CostPoint[]): readonly string[] {
  return points.map(({ label }) => label);
}

describe('the line', () => {
  it('joins what no other result beats at the same or a lower cost', () => {
    const points = [
      point('dear', 1, 0.9),
      point('beaten', 0.5, 0.4),
      point('cheap', 0.1, 0.5),
      point('middle', 0.4, 0.7),
      point('as good but dearer', 2, 0.9)
    ];
    expect(names(paretoFront(points))).toEqual(['cheap', 'middle', 'dear']);
  });

  it('has the better one of two that cost the same, and one of two that are the same', () => {
    expect(names(paretoFront([point('a', 1, 0.3), point('b', 1, 0.6)]))).toEqual(['b']);
    expect(paretoFront([point('a', 1, 0.3), point('b', 1, 0.3)])).toHaveLength(1);
    expect(paretoFront([])).toEqual([]);
  });
});

describe('the axis of costs', () => {
  it('is even where the costs are close, with round numbers from nothing on', () => {
    const axis = costAxis([point('a', 0.01, 0.5), point('b', 0.04, 0.5)]);
    expect(axis.isLogarithmic).toBe(false);
    expect(axis.ticks[0]).toBe(0);
    expect(axis.ticks.length).toBeGreaterThan(2);
    expect(axis.at(0)).toBe(0);
    expect(axis.at(0.04)).toBeLessThan(1);
  });

  it('goes by powers of ten where they are far apart; what costs nothing is at its start', () => {
    const axis = costAxis([point('a', 0.0005, 0.5), point('b', 0.5, 0.5), point('c', 0, 0.1)]);
    expect(axis.isLogarithmic).toBe(true);
    expect(axis.ticks).toEqual([0.001, 0.01, 0.1].map(value => expect.closeTo(value, 6) as number));
    expect(axis.at(0)).toBe(0);
    expect(axis.at(0.0005)).toBeGreaterThan(0);
    expect(axis.at(0.01)).toBeLessThan(axis.at(0.1));
  });

  it('is there also when nothing costs anything', () => {
    expect(costAxis([point('a', 0, 0.5)]).at(0)).toBe(0);
    expect(costAxis([]).ticks).toEqual([0]);
    expect(shareAxis().at(1.2)).toBe(1);
  });
});
