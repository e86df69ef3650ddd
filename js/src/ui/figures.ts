import type { TranslationBundle } from '@jupyterlab/translation';

import type { Turn } from '../chat/types';

type Figures = Pick<Turn, 'usage' | 'costDollars' | 'durationSeconds'>;

/** `12.3s · 45.2K in (38.1K cached, 84%) / 1.2K out · $0.08`; `~` before what is estimated. */
export function formatFigures(turn: Figures, trans: TranslationBundle): string {
  const parts = [formatSeconds(turn.durationSeconds), formatTokens(turn, trans)];
  if (turn.costDollars !== null) {
    parts.push(`${turn.usage.estimated ? '~' : ''}${formatDollars(turn.costDollars)}`);
  }
  return parts.filter(part => part !== '').join(' · ');
}

function formatTokens({ usage }: Figures, trans: TranslationBundle): string {
  if (usage.prompt_tokens + usage.completion_tokens === 0) {
    return '';
  }
  const mark = usage.estimated ? '~' : '';
  const given = mark + formatCount(usage.prompt_tokens);
  const made = mark + formatCount(usage.completion_tokens);
  const share = formatShare(usage.cached_tokens, usage.prompt_tokens);
  const cached = formatCount(usage.cached_tokens);
  const read =
    usage.cached_tokens === 0
      ? trans.__('%1 in', given)
      : trans.__('%1 in (%2 cached, %3)', given, cached, share);
  const written =
    usage.reasoning_tokens === 0
      ? trans.__('%1 out', made)
      : trans.__('%1 out (%2 thinking)', made, formatCount(usage.reasoning_tokens));
  return `${read} / ${written}`;
}

/** `84%`; empty where there is no whole. */
export function formatShare(part: number, whole: number): string {
  return whole > 0 ? `${String(Math.round((100 * part) / whole))}%` : '';
}

/** `0.4s`, `12.3s`, `3m 05s`, `1h 02m`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 59.95) {
    return `${seconds.toFixed(1)}s`;
  }
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return hours > 0
    ? `${String(hours)}h ${twoDigits(minutes)}m`
    : `${String(minutes)}m ${twoDigits(whole % 60)}s`;
}

/** `840`, `1.2K`, `45.2K`, `1.3M`. */
export function formatCount(count: number): string {
  if (count < 1000) {
    return String(count);
  }
  return count < 999_950 ? `${(count / 1000).toFixed(1)}K` : `${(count / 1_000_000).toFixed(1)}M`;
}

/** `$0.08`, `$12.30`; what is smaller keeps two digits that say something: `$0.0042`. */
export function formatDollars(dollars: number): string {
  if (dollars === 0 || dollars >= 0.01) {
    return `$${dollars.toFixed(2)}`;
  }
  return dollars < 0.0001 ? '<$0.0001' : `$${dollars.toFixed(4)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

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
  const [value, unit] =
    bytes < 999_500
      ? [bytes / 1000, 'kB']
      : bytes < 999_500_000
        ? [bytes / 1_000_000, 'MB']
        : [bytes / 1_000_000_000, 'GB'];
  return `${value < 9.95 ? value.toFixed(1) : String(Math.round(value))} ${unit}`;
}
