import * as React from 'react';

import type { Estimate } from '../../client/runs_rest';
import { useSignal, useTrans } from '../../ui/hooks';
import { type Axis, linear, powers, shortened } from '../axes';
import { Nothing } from '../table';
import { agentOf, filtered, type Result } from './result_list';
import type { RunsPage } from './runs_page';
import { dollars, percent } from './words';

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

const WIDTH = 760;
const HEIGHT = 420;
const LEFT = 56;
const RIGHT = 24;
const TOP = 16;
const BOTTOM = 52;

interface CostPlotProps {
  readonly points: readonly CostPoint[];
  readonly onOpen: (path: string) => void;
}

interface Scales {
  readonly costs: Axis;
  readonly shares: Axis;
}

/** Cost against accuracy, with intervals and the line of what nothing else beats. */
function CostPlot({ points, onOpen }: CostPlotProps) {
  const trans = useTrans();
  const front = paretoFront(points);
  const scales = { costs: costAxis(points), shares: shareAxis() };
  const labels = placeLabels(points, scales);
  return (
    <figure className="cw-plot">
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
        role="group"
        aria-label={trans.__('Cost against accuracy')}
      >
        <Axes scales={scales} />
        <path className="cw-plot-front" d={frontPath(front, scales)} />
        {points.map((point, place) => (
          <Point
            key={point.path}
            point={point}
            scales={scales}
            isBest={front.includes(point)}
            labelAt={labels[place] ?? 0}
            onOpen={onOpen}
          />
        ))}
      </svg>
      <figcaption className="cw-muted">
        {trans.__(
          'The line joins the results that no other one beats at the same or a lower cost. The bars are 95% intervals.'
        )}
      </figcaption>
    </figure>
  );
}

function x(cost: number, { costs }: Scales): number {
  return LEFT + costs.at(cost) * (WIDTH - LEFT - RIGHT);
}

function y(share: number, { shares }: Scales): number {
  return HEIGHT - BOTTOM - shares.at(share) * (HEIGHT - TOP - BOTTOM);
}

function Axes({ scales }: { readonly scales: Scales }) {
  const trans = useTrans();
  const { costs, shares } = scales;
  const bottom = HEIGHT - BOTTOM;
  return (
    <g aria-hidden="true">
      {shares.ticks.map(tick => (
        <g key={tick}>
          <line
            className="cw-plot-grid"
            x1={LEFT}
            x2={WIDTH - RIGHT}
            y1={y(tick, scales)}
            y2={y(tick, scales)}
          />
          <text x={LEFT - 8} y={y(tick, scales) + 4} textAnchor="end">
            {`${String(Math.round(tick * 100))}%`}
          </text>
        </g>
      ))}
      {costs.ticks.map(tick => (
        <g key={tick}>
          <line
            className="cw-plot-grid"
            x1={x(tick, scales)}
            x2={x(tick, scales)}
            y1={bottom}
            y2={bottom + 4}
          />
          <text x={x(tick, scales)} y={bottom + 18} textAnchor="middle">
            {tickWords(tick)}
          </text>
        </g>
      ))}
      <line className="cw-plot-axis" x1={LEFT} x2={WIDTH - RIGHT} y1={bottom} y2={bottom} />
      <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 8} textAnchor="middle">
        {costs.isLogarithmic
          ? trans.__('Cost of a sample (mean, logarithmic)')
          : trans.__('Cost of a sample (mean)')}
      </text>
      <text
        x={14}
        y={(TOP + bottom) / 2}
        textAnchor="middle"
        transform={`rotate(-90 14 ${String((TOP + bottom) / 2)})`}
      >
        {trans.__('Passed')}
      </text>
    </g>
  );
}

interface PointProps {
  readonly point: CostPoint;
  readonly scales: Scales;
  readonly isBest: boolean;
  /** How far below the point its name stands. */
  readonly labelAt: number;
  readonly onOpen: (path: string) => void;
}

function Point({ point, scales, isBest, labelAt, onOpen }: PointProps) {
  const trans = useTrans();
  const { cost, share, label, path } = point;
  const left = x(cost.value, scales);
  const top = y(share.value, scales);
  const isRight = left > WIDTH * 0.7;
  const words = trans.__(
    '%1: %2 passed (%3 to %4), %5 a sample (%6 to %7)',
    label,
    percent(share.value),
    percent(share.low),
    percent(share.high),
    dollars(cost.value),
    dollars(cost.low),
    dollars(cost.high)
  );
  const open = (): void => {
    onOpen(path);
  };
  return (
    <g
      className={`cw-plot-point ${isBest ? 'cw-mod-best' : ''}`}
      role="button"
      tabIndex={0}
      aria-label={words}
      onClick={open}
      onKeyDown={event => {
        if (event.key === 'Enter' || event.key === ' ') {
          event.preventDefault();
          open();
        }
      }}
    >
      <title>{words}</title>
      <line x1={left} x2={left} y1={y(share.low, scales)} y2={y(share.high, scales)} />
      <line x1={x(cost.low, scales)} x2={x(cost.high, scales)} y1={top} y2={top} />
      <circle cx={left} cy={top} r={6} />
      <text
        x={left + (isRight ? -10 : 10)}
        y={top + labelAt}
        textAnchor={isRight ? 'end' : 'start'}
      >
        {shortened(label)}
      </text>
    </g>
  );
}

/** A round number of dollars, without digits that say nothing. */
function tickWords(tick: number): string {
  return `$${String(Number(tick.toPrecision(3)))}`;
}

/** A line of steps: until the next better result costs its price, the one before is the best. */
function frontPath(front: readonly CostPoint[], scales: Scales): string {
  const steps = front
    .map(({ cost, share }, place) => {
      const to = `${x(cost.value, scales).toFixed(1)},${y(share.value, scales).toFixed(1)}`;
      return place === 0 ? `M${to}` : `H${x(cost.value, scales).toFixed(1)}L${to}`;
    })
    .join('');
  return steps === '' ? '' : `${steps}H${String(WIDTH - RIGHT)}`;
}

const LINE = 16;

/** Names above or below their points, wherever no other name stands yet. */
function placeLabels(points: readonly CostPoint[], scales: Scales): readonly number[] {
  const taken: { readonly left: number; readonly top: number }[] = [];
  return points.map(({ cost, share }) => {
    const left = x(cost.value, scales);
    const top = y(share.value, scales);
    const offsets = [-8, 18, -8 - LINE, 18 + LINE, -8 - 2 * LINE];
    const isFree = (offset: number): boolean =>
      taken.every(
        other => Math.abs(other.left - left) > 180 || Math.abs(other.top - top - offset) >= LINE
      );
    const offset = offsets.find(isFree) ?? -8;
    taken.push({ left, top: top + offset });
    return offset;
  });
}

/** What accuracy costs: the results of one suite as points. */
export function PlotView({ page }: { readonly page: RunsPage }) {
  const trans = useTrans();
  const list = page.results;
  const state = useSignal(list.changed, () => list.state);
  const known = filtered(state).filter(({ numbers }) => numbers !== null && numbers.total > 0);
  const suites = [...new Set(known.map(({ suite }) => suite))].sort();
  const [chosen, setChosen] = React.useState('');
  const suite = suites.includes(chosen) ? chosen : mostPriced(known);
  const here = known.filter(result => result.suite === suite);
  const plotted = here.map(pointOf).filter(point => point !== null);
  const others = here.filter(({ numbers }) => numbers?.cost_each === null);
  return (
    <div className="cw-page-scroller cw-page-detail">
      {suites.length > 1 && (
        <label className="cw-chooser">
          <span className="cw-muted">{trans.__('Suite')}</span>
          <select
            className="cw-field"
            value={suite}
            onChange={event => {
              setChosen(event.target.value);
            }}
          >
            {suites.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {plotted.length > 0 ? (
        <CostPlot
          points={plotted}
          onOpen={path => {
            page.go({ kind: 'result', result: path });
          }}
        />
      ) : (
        <Nothing>{trans.__('There is no result whose cost is known')}</Nothing>
      )}
      {others.length > 0 && (
        <p className="cw-muted">
          {trans.__('Without a known cost: %1', [...new Set(others.map(agentOf))].join(', '))}
        </p>
      )}
    </div>
  );
}

function pointOf(result: Result): CostPoint | null {
  const { numbers, path } = result;
  return numbers?.cost_each
    ? { path, label: agentOf(result), cost: numbers.cost_each, share: numbers.share }
    : null;
}

/** The suite with the most points to draw. */
function mostPriced(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { suite, numbers } of results) {
    counts.set(suite, (counts.get(suite) ?? 0) + (numbers?.cost_each ? 1 : 0));
  }
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}
