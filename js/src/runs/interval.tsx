import * as React from 'react';

import { useTrans } from '../views/scope';
import type { Estimate } from './answers';
import { methodWords, percent } from './words';

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
