import * as React from 'react';

import type { Turn } from '../models/types';
import { type Revealed, usePins } from './pins';

interface ShownTurn {
  readonly turns: readonly Turn[];
  /** How many of them are not drawn. */
  readonly hidden: number;
  readonly content: React.RefObject<HTMLElement>;
  readonly leaveEnd: () => void;
  readonly showFrom: (index: number) => void;
}

/** Bring the turn that the person wants to see into view, drawn before or not, with the focus. */
export function useReveal(shown: ShownTurn): void {
  const { revealed } = usePins();
  const { turns, hidden, content, leaveEnd, showFrom } = shown;
  const done = React.useRef<Revealed | null>(null);
  const index = turns.findIndex(({ runId }) => runId === revealed?.run);
  React.useLayoutEffect(() => {
    if (revealed === null || revealed === done.current || index === -1) {
      return;
    }
    leaveEnd();
    if (index < hidden) {
      showFrom(index);
      return;
    }
    done.current = revealed;
    const turn = turnIn(content.current, revealed.run);
    turn?.scrollIntoView({ block: 'start' });
    turn?.querySelector<HTMLElement>('.cw-pin button')?.focus({ preventScroll: true });
  }, [revealed, index, hidden, content, leaveEnd, showFrom]);
}

function turnIn(content: HTMLElement | null, run: string): HTMLElement | undefined {
  const drawn = content?.querySelectorAll<HTMLElement>('[data-run]') ?? [];
  return [...drawn].find(({ dataset }) => dataset.run === run);
}
