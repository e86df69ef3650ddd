/** What states, numbers and their intervals are called on the page. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { RunStatus } from '../events';
import { statusWords } from '../views/words';
import type { OutcomeChange, Estimate, ResultPlace, SampleRow } from './answers';

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
export function methodWords({ method, count }: Estimate, trans: TranslationBundle): string {
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

/** `$1.25`, `$0.0480`: three digits that say something, so that an interval can be told. */
export function dollars(amount: number): string {
  const size = Math.abs(amount);
  if (size === 0 || size >= 1) {
    return `$${amount.toFixed(2)}`;
  }
  return `$${amount.toFixed(Math.min(8, 2 - Math.floor(Math.log10(size))))}`;
}
