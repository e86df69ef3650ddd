import * as React from 'react';

import type { Usage } from '../events';
import { formatCount } from '../models/figures';
import { useTrans } from './scope';

const WARN_FROM = 0.75;
const RADIUS = 6;
const ROUND = 2 * Math.PI * RADIUS;

interface ContextMeterProps {
  readonly tokens: number;
  /** 0: not known. */
  readonly limit: number;
  /** Of the last turn; null: there is none. */
  readonly usage: Usage | null;
}

/** How much of what the model can read is used. */
export function ContextMeter({ tokens, limit, usage }: ContextMeterProps) {
  const trans = useTrans();
  const [isShown, setShown] = React.useState(false);
  const details = React.useId();
  if (tokens === 0 || limit === 0) {
    return null;
  }
  const share = Math.min(1, tokens / limit);
  const percent = Math.round(share * 100);
  const isFull = share >= WARN_FROM;
  const show = (): void => {
    setShown(true);
  };
  const hide = (): void => {
    setShown(false);
  };
  return (
    <span className="cw-menu-anchor" onMouseEnter={show} onMouseLeave={hide}>
      <button
        type="button"
        className={`cw-meter ${isFull ? 'cw-mod-full' : ''}`}
        aria-label={trans.__('Context: %1% full', percent)}
        aria-describedby={details}
        onFocus={show}
        onBlur={hide}
        onClick={show}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            hide();
          }
        }}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r={RADIUS} className="cw-meter-track" />
          <circle
            cx="8"
            cy="8"
            r={RADIUS}
            className="cw-meter-value"
            strokeDasharray={`${String(share * ROUND)} ${String(ROUND)}`}
            transform="rotate(-90 8 8)"
          />
        </svg>
        {isFull && <span>{`${String(percent)}%`}</span>}
      </button>
      <div
        id={details}
        role="tooltip"
        className="cw-popup cw-meter-details cw-mod-above cw-mod-end"
        hidden={!isShown}
      >
        <strong>{trans.__('Context: %1% full', percent)}</strong>
        <dl>
          <dt>{trans.__('Last request')}</dt>
          <dd>{formatCount(tokens)}</dd>
          {usage !== null && usage.cached_tokens > 0 && (
            <>
              <dt>{trans.__('Read from the cache in the last run')}</dt>
              <dd>{formatCount(usage.cached_tokens)}</dd>
            </>
          )}
          <dt>{trans.__('Room left')}</dt>
          <dd>{formatCount(Math.max(0, limit - tokens))}</dd>
          <dt>{trans.__('The model takes')}</dt>
          <dd>{formatCount(limit)}</dd>
        </dl>
        <p className="cw-muted">
          {isFull
            ? trans.__('Older results are cut soon. A new chat starts with an empty context.')
            : trans.__('Older results are cut when it is full.')}
        </p>
      </div>
    </span>
  );
}
