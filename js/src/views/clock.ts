import * as React from 'react';

const TICK_MILLISECONDS = 1000;

/** Seconds since the epoch, counting up once a second while something runs. */
export function useSeconds(isRunning: boolean): number {
  const [now, setNow] = React.useState(() => Date.now() / 1000);
  React.useEffect(() => {
    if (!isRunning) {
      return;
    }
    const timer = setInterval(() => {
      setNow(Date.now() / 1000);
    }, TICK_MILLISECONDS);
    setNow(Date.now() / 1000);
    return () => {
      clearInterval(timer);
    };
  }, [isRunning]);
  return now;
}

/** True once `milliseconds` have passed since `key` was first seen. */
export function useDelay(key: string, milliseconds: number): boolean {
  const [passed, setPassed] = React.useState('');
  React.useEffect(() => {
    const timer = setTimeout(() => {
      setPassed(key);
    }, milliseconds);
    return () => {
      clearTimeout(timer);
    };
  }, [key, milliseconds]);
  return passed === key;
}
