/** Which results nothing else beats, and where they are drawn. */
import { type Axis, linear, powers } from '../pages/axes';
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
