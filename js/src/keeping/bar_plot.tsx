import * as React from 'react';

import { linear } from '../pages/axes';

const WIDTH = 760;
const VALUE = 80;
const LINE = 26;
const BAR = 14;
const LABEL_CHARACTERS = 28;
const CHARACTER = 8;

/** An amount with its name. */
export interface Bar {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  /** The amount as people read it. */
  readonly words: string;
}

interface BarPlotProps {
  /** What the bars are of. */
  readonly label: string;
  readonly bars: readonly Bar[];
}

/** Amounts as bars, one below the other. */
export function BarPlot({ label, bars }: BarPlotProps) {
  const highest = Math.max(...bars.map(({ value }) => value), 0);
  const axis = linear(0, highest === 0 ? 1 : highest, []);
  const left = Math.max(...bars.map(bar => shortened(bar.label).length), 0) * CHARACTER + 10;
  const width = WIDTH - left - VALUE;
  return (
    <figure className="cw-plot">
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(bars.length * LINE + 4)}`}
        role="img"
        aria-label={`${label}: ${bars.map(bar => `${bar.label} ${bar.words}`).join(', ')}`}
      >
        {bars.map((bar, place) => {
          const middle = place * LINE + LINE / 2 + 2;
          const length = Math.max(axis.at(bar.value) * width, bar.value > 0 ? 2 : 0);
          return (
            <g key={bar.key}>
              <title>{`${bar.label}: ${bar.words}`}</title>
              <text x={left - 10} y={middle + 4} textAnchor="end">
                {shortened(bar.label)}
              </text>
              <rect
                className="cw-plot-bar"
                x={left}
                y={middle - BAR / 2}
                width={length}
                height={BAR}
                rx={2}
              />
              <text x={left + length + 8} y={middle + 4}>
                {bar.words}
              </text>
            </g>
          );
        })}
        <line className="cw-plot-axis" x1={left} x2={left} y1={0} y2={bars.length * LINE + 4} />
      </svg>
    </figure>
  );
}

function shortened(text: string): string {
  return text.length > LABEL_CHARACTERS ? `${text.slice(0, LABEL_CHARACTERS - 1)}…` : text;
}
