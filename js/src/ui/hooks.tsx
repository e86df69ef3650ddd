import * as React from 'react';

import { nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';

/**
 * What a model shows now, read again whenever its signal tells of a change.
 *
 * `read` must return the same object until something changed; models keep their state frozen.
 */
export function useSignal<Sender, T>(signal: ISignal<Sender, unknown>, read: () => T): T {
  const subscribe = React.useCallback(
    (listener: () => void) => {
      signal.connect(listener);
      return () => {
        signal.disconnect(listener);
      };
    },
    [signal]
  );
  return React.useSyncExternalStore(subscribe, read);
}

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

const Translation = React.createContext<TranslationBundle>(nullTranslator.load('cellwright'));

export const TranslationProvider = Translation.Provider;

/** The words of the panel in the person's language. */
export function useTrans(): TranslationBundle {
  return React.useContext(Translation);
}

/** For what takes the focus as soon as it is there. */
export function useFocus<E extends HTMLElement>(): React.RefObject<E> {
  const place = React.useRef<E>(null);
  React.useEffect(() => {
    place.current?.focus();
  }, []);
  return place;
}

/** Takes an answer over, unless who asked is gone by then: what it returns ends an effect. */
export function takeAnswer<T>(
  answer: Promise<T>,
  take: (found: T) => void,
  fail: (error: unknown) => void = () => undefined
): () => void {
  let isGone = false;
  answer.then(
    found => {
      if (!isGone) {
        take(found);
      }
    },
    (error: unknown) => {
      if (!isGone) {
        fail(error);
      }
    }
  );
  return () => {
    isGone = true;
  };
}

const keys = new WeakMap<object, number>();
let lastKey = 0;

/** A key of React for an object: what is drawn for another one is drawn anew. */
export function keyOf(object: object): number {
  const key = keys.get(object) ?? ++lastKey;
  keys.set(object, key);
  return key;
}
