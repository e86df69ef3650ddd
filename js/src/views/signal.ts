import * as React from 'react';

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
