/** Axes of plots that we draw ourselves. */

/** Where a value is drawn, from 0 at the start of the axis to 1 at its end. */
export interface Axis {
  readonly ticks: readonly number[];
  readonly isLogarithmic: boolean;
  at(value: number): number;
}

/** An axis on which equal steps are equal; without ticks it gets some round ones. */
export function linear(from: number, to: number, ticks: readonly number[] | null): Axis {
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

/** An axis of powers of ten. */
export function powers(lowest: number, highest: number): Axis {
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

const LABEL_CHARACTERS = 28;

/** A label that has room in a plot. */
export function shortened(text: string): string {
  return text.length > LABEL_CHARACTERS ? `${text.slice(0, LABEL_CHARACTERS - 1)}…` : text;
}
