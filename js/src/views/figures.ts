/** Figures that the models have no need of. */
import { formatSeconds } from '../models/figures';

/** A time that still counts up: whole seconds, so that it does not flicker. */
export function formatElapsed(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  return whole < 60 ? `${String(whole)}s` : formatSeconds(whole);
}

/** `512 B`, `12 kB`, `3.4 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) {
    return `${String(bytes)} B`;
  }
  const [value, unit] = bytes < 999_500 ? [bytes / 1000, 'kB'] : [bytes / 1_000_000, 'MB'];
  return `${value < 9.95 ? value.toFixed(1) : String(Math.round(value))} ${unit}`;
}
