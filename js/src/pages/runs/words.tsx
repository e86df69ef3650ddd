/** What states, numbers and their intervals are called on the page. */
import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  Estimate,
  OutcomeChange,
  ResultNumbers,
  ResultPlace,
  SampleRow
} from '../../client/runs_rest';
import { Icon, type IconName } from '../../ui/button';
import { useTrans } from '../../ui/hooks';
import { statusWords } from '../../ui/words';
import type { RunStatus } from '../../wire/generated';

const STATUSES: ReadonlySet<string> = new Set<RunStatus>([
  'running',
  'completed',
  'agent context limit',
  'agent validation failed',
  'agent invalid action',
  'task limit reached',
  'task error',
  'unknown',
  'cancelled'
]);

/** How a run ended; a word that is not known is shown as it is. */
export function runStatusWords(status: string, trans: TranslationBundle): string {
  return STATUSES.has(status) ? statusWords(status as RunStatus, trans) : status;
}

/** How a benchmark stands. */
export function stateWords(state: ResultPlace['state'], trans: TranslationBundle): string {
  const words: Record<ResultPlace['state'], string> = {
    done: trans.__('Done'),
    going: trans.__('Running'),
    unfinished: trans.__('Interrupted')
  };
  return words[state];
}

/** Whether a sample passed. */
export type Outcome = 'passed' | 'failed' | 'unscored';

export function outcomeOf({ passed, is_scored: isScored }: SampleRow): Outcome {
  if (passed) {
    return 'passed';
  }
  return isScored ? 'failed' : 'unscored';
}

export function outcomeWords(outcome: Outcome, trans: TranslationBundle): string {
  const words: Record<Outcome, string> = {
    passed: trans.__('Passed'),
    failed: trans.__('Not passed'),
    unscored: trans.__('A check failed to run')
  };
  return words[outcome];
}

/** What a sample did from the first result to the second. */
export function changeWords(change: OutcomeChange, trans: TranslationBundle): string {
  const words: Record<OutcomeChange, string> = {
    worse: trans.__('Worse'),
    better: trans.__('Better'),
    same: trans.__('Same')
  };
  return words[change];
}

/** How an interval was found. */
function methodWords({ method, count }: Estimate, trans: TranslationBundle): string {
  if (method === 'wilson') {
    return trans.__('95% interval after Wilson, from %1 values', count);
  }
  if (method === 'none') {
    return trans.__('There is too little for an interval: %1 values', count);
  }
  if (method === 'group') {
    return trans.__('95% interval, from %1 values', count);
  }
  return trans.__('95% interval by families of samples, from %1 values', count);
}

/** `62.5%` */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}

/** `+4.2 pp`: the difference of two shares. */
export function points(difference: number): string {
  const value = (100 * difference).toFixed(1);
  const sign = difference > 0 ? '+' : '';
  return `${sign}${value === '-0.0' ? '0.0' : value} pp`;
}

/** Whether points say more than what passes: some checks are right in part, or some of several. */
export function earnsParts({ points: earned, share }: ResultNumbers): boolean {
  return earned.value !== share.value;
}

/** `$1.25`, `$0.0480`: three digits that say something, so that an interval can be told. */
export function dollars(amount: number): string {
  const size = Math.abs(amount);
  if (size === 0 || size >= 1) {
    return `$${amount.toFixed(2)}`;
  }
  return `$${amount.toFixed(Math.min(8, 2 - Math.floor(Math.log10(size))))}`;
}

interface IntervalProps {
  readonly estimate: Estimate | null;
  readonly format: (value: number) => string;
}

/** A number with its interval; there is no other way to show a mean here. */
export function Interval({ estimate, format }: IntervalProps) {
  const trans = useTrans();
  if (estimate === null || estimate.count === 0) {
    return <span className="cw-muted">–</span>;
  }
  const { value, low, high, method } = estimate;
  const range =
    method === 'none' ? trans.__('no interval') : trans.__('%1 to %2', format(low), format(high));
  return (
    <span className="cw-interval" title={methodWords(estimate, trans)}>
      <span className="cw-interval-value">{format(value)}</span>{' '}
      <span className="cw-muted">{range}</span>
    </span>
  );
}

/** A share with its interval in figures and as a bar from nothing to all. */
export function Share({ estimate }: { readonly estimate: Estimate }) {
  const { low, high, value, count } = estimate;
  const at = (share: number): string => String(100 * Math.min(1, Math.max(0, share)));
  return (
    <span className="cw-share">
      <Interval estimate={estimate} format={percent} />
      {count > 0 && (
        <svg className="cw-share-bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
          <rect className="cw-share-all" x="0" y="3" width="100" height="2" />
          <rect
            className="cw-share-range"
            x={at(low)}
            y="1"
            width={String(Math.max(1, 100 * (high - low)))}
            height="6"
          />
          <rect
            className="cw-share-value"
            x={String(Math.min(98, 100 * value))}
            y="0"
            width="2"
            height="8"
          />
        </svg>
      )}
    </span>
  );
}

const ICONS: Record<Outcome, IconName> = {
  passed: 'check',
  failed: 'close',
  unscored: 'warning'
};

/** Whether something passed, as a sign with a word. */
export function OutcomeMark({ outcome }: { readonly outcome: Outcome }) {
  const trans = useTrans();
  return (
    <span className={`cw-outcome cw-mod-${outcome}`}>
      <Icon name={ICONS[outcome]} />
      {outcomeWords(outcome, trans)}
    </span>
  );
}
