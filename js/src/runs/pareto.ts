/** Which results nothing else beats, and where they are drawn. */
import type { Estimate } from './answers';

/** A result as a point: what a sample costs, and how many pass. */
export interface CostPoint {
  readonly path: string;
  readonly label: string;
  readonly cost: Estimate;
  readonly share: Estimate;
}

/** The results that no other one beats at the same or a lower cost, the cheapest first. */
export function paretoFront(points: readonly CostPoint[]): readonly CostPoint[] {
  const ordered = [...points].sort(
    (one, other) => one.cost.value - other.cost.value || other.share.value - one.share.value
  );
  const front: CostPoint[] = [];
  for (const point of ordered) {
    const best = front.at(-1);
    if (best === undefined || point.share.value > best.share.value) {
      front.push(point);
    }
  }
  return front;
}

/** Where a value is drawn, from 0 at the start of the axis to 1 at its end. */
export interface Axis {
  readonly ticks: readonly number[];
  readonly isLogarithmic: boolean;
  at(value: number): number;
}

/** An axis of money: by powers of ten where the costs are far apart; nothing lies at its start. */
export function costAxis(points: readonly CostPoint[]): Axis {
  const highest = Math.max(...points.map(({ cost }) => cost.high), 0);
  const positive = points.map(({ cost }) => cost.value).filter(value => value > 0);
  const lowest = Math.min(...positive, highest);
  if (highest <= 0) {
    return linear(0, 1, [0]);
  }
  return highest / lowest > 30 ? powers(lowest, highest) : linear(0, highest * 1.08, null);
}

/** An axis of shares: from nothing to all. */
export function shareAxis(): Axis {
  return linear(0, 1, [0, 0.25, 0.5, 0.75, 1]);
}

function linear(from: number, to: number, ticks: readonly number[] | null): Axis {
  return {
    ticks: ticks ?? roundTicks(to),
    isLogarithmic: false,
    at: value => clamp((value - from) / (to - from))
  };
}

/** Some four round numbers from 0 on. */
function roundTicks(to: number): readonly number[] {
  const rough = to / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find(factor => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(to / step) + 1 }, (_, place) => place * step);
}

function powers(lowest: number, highest: number): Axis {
  const from = Math.floor(Math.log10(lowest) - 0.2);
  const to = Math.log10(highest) + 0.1;
  const decades = Array.from({ length: Math.floor(to) - from + 1 }, (_, place) => from + place);
  const factors = decades.length > 3 ? [1] : [1, 2, 5];
  return {
    ticks: decades
      .flatMap(decade => factors.map(factor => factor * 10 ** decade))
      .filter(tick => Math.log10(tick) > from && Math.log10(tick) <= to),
    isLogarithmic: true,
    at: value => (value <= 0 ? 0 : clamp((Math.log10(value) - from) / (to - from)))
  };
}

function clamp(place: number): number {
  return Math.min(1, Math.max(0, place));
}
