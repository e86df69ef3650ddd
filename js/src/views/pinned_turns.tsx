import * as React from 'react';

import { Button } from './button';
import { usePins } from './pins';
import { useTrans } from './scope';

const FIRST_CHARACTERS = 80;

interface PinnedTurnsProps {
  /** The person went to one of them. */
  readonly onReveal: () => void;
  /** The person took the last one away from here. */
  readonly onEmptied: () => void;
}

/** The turns that stay in the context, each to go to or to unpin; nothing where there are none. */
export function PinnedTurns({ onReveal, onEmptied }: PinnedTurnsProps) {
  const trans = useTrans();
  const id = React.useId();
  const pins = usePins();
  const runs = (pins.runs ?? []).filter(run => (pins.turnOf(run)?.supersededBy ?? '') === '');
  const { list, leave } = useNextFocus(runs.length, onEmptied);
  if (runs.length === 0) {
    return null;
  }
  return (
    <section className="cw-pinned" aria-labelledby={id}>
      <p id={id}>{trans._n('%1 turn pinned', '%1 turns pinned', runs.length)}</p>
      <ul ref={list}>
        {runs.map((run, index) => {
          const prompt = firstWords(pins.turnOf(run)?.prompt ?? trans.__('A turn of this chat'));
          return (
            <li key={run}>
              <button
                type="button"
                className="cw-link"
                title={prompt}
                onClick={() => {
                  onReveal();
                  pins.reveal(run);
                }}
              >
                {prompt}
              </button>
              <Button
                kind="quiet"
                aria-label={trans.__('Unpin %1', prompt)}
                onClick={() => {
                  leave(index);
                  pins.setPinned(run, false);
                }}
              >
                {trans.__('Unpin')}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function firstWords(prompt: string): string {
  const words = prompt.trim().replace(/\s+/g, ' ');
  return words.length > FIRST_CHARACTERS ? `${words.slice(0, FIRST_CHARACTERS)} …` : words;
}

/** Whoever takes a row away goes on at the next one. */
function useNextFocus(count: number, onEmptied: () => void) {
  const list = React.useRef<HTMLUListElement>(null);
  const left = React.useRef<number | null>(null);
  const latest = React.useRef(onEmptied);
  latest.current = onEmptied;
  React.useLayoutEffect(() => {
    const index = left.current;
    left.current = null;
    if (index !== null && document.activeElement === document.body) {
      const buttons = list.current?.querySelectorAll<HTMLElement>('.cw-button') ?? [];
      const next = buttons[Math.min(index, buttons.length - 1)];
      if (next === undefined) {
        latest.current();
      } else {
        next.focus();
      }
    }
  }, [count]);
  const leave = React.useCallback((index: number) => {
    left.current = index;
  }, []);
  return { list, leave };
}
