import type * as React from 'react';

/** What a key means in the composer. */
export type ComposerAction = 'send' | 'instead' | 'later' | 'stop' | 'none';

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly withAccel: boolean;
  /** An input method is at work: its keys are its own. */
  readonly isComposing: boolean;
}

export function actionOfKey(
  press: KeyPress,
  sendWith: 'Enter' | 'Shift Enter',
  isRunning: boolean
): ComposerAction {
  if (press.isComposing) {
    return 'none';
  }
  if (press.altKey) {
    return isEnterAlone(press) ? 'later' : 'none';
  }
  if (press.key === 'Escape') {
    return isRunning ? 'stop' : 'none';
  }
  if (press.key !== 'Enter') {
    return 'none';
  }
  if (press.withAccel) {
    return 'instead';
  }
  return press.shiftKey === (sendWith === 'Shift Enter') ? 'send' : 'none';
}

function isEnterAlone({ key, shiftKey, withAccel }: KeyPress): boolean {
  return key === 'Enter' && !shiftKey && !withAccel;
}

/** Safari ends a composition before it tells of the key that ended it, and then says only this. */
const KEY_OF_INPUT_METHOD = 229;

export function pressOf(event: React.KeyboardEvent): KeyPress {
  return {
    key: event.key,
    shiftKey: event.shiftKey,
    altKey: event.altKey,
    withAccel: event.ctrlKey || event.metaKey,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other sign of it
    isComposing: event.nativeEvent.isComposing || event.keyCode === KEY_OF_INPUT_METHOD
  };
}
