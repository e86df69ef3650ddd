import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Usage } from '../events';
import { formatCount } from '../models/figures';
import { Button } from './button';
import { ContextDetails, type ContextSource } from './context_details';
import { PinnedTurns } from './pinned_turns';
import { usePopup } from './popup';
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
  /** Null: not now. */
  readonly onCompact: (() => void) | null;
  /** What it is made of. */
  readonly source: ContextSource;
}

/** How much the model reads with each request, and of how much; and how to make it less. */
export function ContextMeter(props: ContextMeterProps) {
  const { tokens, limit, onCompact } = props;
  const trans = useTrans();
  const popup = usePopup<HTMLSpanElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const [isHovered, setHovered] = React.useState(false);
  const [draft, setDraft] = React.useState<string | null>(null);
  if (tokens === 0) {
    return null;
  }
  const isShown = popup.isOpen || isHovered;
  const close = (): void => {
    popup.close();
    setHovered(false);
  };
  const share = limit === 0 ? 0 : Math.min(1, tokens / limit);
  const isFull = share >= WARN_FROM;
  const label = labelOf(tokens, limit, trans);
  return (
    <span
      className="cw-menu-anchor"
      ref={popup.anchor}
      onMouseEnter={() => {
        setHovered(true);
      }}
      onMouseLeave={() => {
        setHovered(false);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && isShown) {
          event.preventDefault();
          event.stopPropagation();
          close();
          button.current?.focus();
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className={`cw-meter ${isFull ? 'cw-mod-full' : ''}`}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isShown}
        onClick={popup.toggle}
      >
        <Ring share={share} />
        {isFull && <span>{`${String(percentOf(share))}%`}</span>}
        {limit === 0 && <span>{formatCount(tokens)}</span>}
      </button>
      {isShown && (
        <div
          role="dialog"
          aria-label={label}
          className="cw-popup cw-meter-details cw-mod-above cw-mod-end"
          onFocus={() => {
            popup.open(); // whoever writes here may move the pointer away
          }}
        >
          <MeterDetails {...props} isFull={isFull} />
          <ContextDetails source={props.source} draft={draft} onDraft={setDraft} />
          <PinnedTurns
            onReveal={close}
            onEmptied={() => {
              button.current?.focus();
            }}
          />
          <Button
            disabled={onCompact === null}
            onClick={() => {
              close();
              onCompact?.();
            }}
          >
            {trans.__('Compact now')}
          </Button>
        </div>
      )}
    </span>
  );
}

function percentOf(share: number): number {
  return Math.round(share * 100);
}

function labelOf(tokens: number, limit: number, trans: TranslationBundle): string {
  return limit === 0
    ? trans.__('Context: %1 tokens', formatCount(tokens))
    : trans.__('Context: %1% full', percentOf(Math.min(1, tokens / limit)));
}

function Ring({ share }: { share: number }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r={RADIUS} className="cw-meter-track" />
      {share > 0 && (
        <circle
          cx="8"
          cy="8"
          r={RADIUS}
          className="cw-meter-value"
          strokeDasharray={`${String(share * ROUND)} ${String(ROUND)}`}
          transform="rotate(-90 8 8)"
        />
      )}
    </svg>
  );
}

function MeterDetails({ tokens, limit, usage, isFull }: ContextMeterProps & { isFull: boolean }) {
  const trans = useTrans();
  return (
    <>
      <strong>{labelOf(tokens, limit, trans)}</strong>
      <dl>
        <dt>{trans.__('Last request')}</dt>
        <dd>{formatCount(tokens)}</dd>
        {usage !== null && usage.cached_tokens > 0 && (
          <>
            <dt>{trans.__('Read from the cache in the last run')}</dt>
            <dd>{formatCount(usage.cached_tokens)}</dd>
          </>
        )}
        {limit > 0 && (
          <>
            <dt>{trans.__('Room left')}</dt>
            <dd>{formatCount(Math.max(0, limit - tokens))}</dd>
            <dt>{trans.__('The model takes')}</dt>
            <dd>{formatCount(limit)}</dd>
          </>
        )}
      </dl>
      <p className="cw-muted">
        {isFull
          ? trans.__('Older turns are summed up soon.')
          : trans.__('Older turns are summed up when it is full.')}
      </p>
    </>
  );
}
