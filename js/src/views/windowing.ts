import * as React from 'react';

const SHOWN = 30;
const MORE = 60;

export interface Window<T> {
  readonly shown: readonly T[];
  /** How many earlier ones are not drawn. */
  readonly hidden: number;
  readonly showMore: () => void;
  /** Draw all from this one on. */
  readonly showFrom: (index: number) => void;
}

/**
 * Draw only the newest of a long list, and more of it on demand.
 *
 * While the person reads further up (`isHeld`) nothing that was shown is taken away.
 */
export function useWindow<T>(all: readonly T[], isHeld: boolean): Window<T> {
  const [extra, setExtra] = React.useState(0);
  const first = React.useRef(0);
  const newest = Math.max(0, all.length - SHOWN - extra);
  first.current = isHeld ? Math.min(first.current, newest) : newest;
  const hidden = first.current;
  const showMore = React.useCallback(() => {
    setExtra(count => count + MORE);
  }, []);
  const length = React.useRef(all.length);
  length.current = all.length;
  const showFrom = React.useCallback((index: number) => {
    setExtra(count => Math.max(count, length.current - SHOWN - index));
  }, []);
  const shown = React.useMemo(() => all.slice(hidden), [all, hidden]);
  return { shown, hidden, showMore, showFrom };
}
