import * as React from 'react';

import type { Turn } from '../chat/types';
import { Button, Icon } from '../ui/button';
import { useTrans } from '../ui/hooks';
import { type Revealed, usePins } from './pins';
import { TurnView } from './turn';

/** Nearer to the end than this counts as at the end. */
const NEAR_PIXELS = 24;

interface FollowBottom {
  readonly scroller: React.RefObject<HTMLDivElement>;
  readonly content: React.RefObject<HTMLDivElement>;
  readonly isFollowing: boolean;
  readonly jumpToEnd: () => void;
  /** The person wants to see something else. */
  readonly leaveEnd: () => void;
}

function distanceFromEnd(element: HTMLElement): number {
  return element.scrollHeight - element.scrollTop - element.clientHeight;
}

/** Whether there is nothing to scroll. */
function fits(element: HTMLElement): boolean {
  return element.scrollHeight - element.clientHeight < NEAR_PIXELS;
}

/** Whether another view stands in its place. */
function isOutOfSight(element: HTMLElement): boolean {
  return element.closest('[hidden]') !== null;
}

/** Keep the end of growing content in view until the person scrolls up. */
function useFollowBottom(): FollowBottom {
  const scroller = React.useRef<HTMLDivElement>(null);
  const content = React.useRef<HTMLDivElement>(null);
  const follows = React.useRef(true);
  const [isFollowing, setFollowing] = React.useState(true);

  const jumpToEnd = React.useCallback(() => {
    follows.current = true;
    setFollowing(true);
    if (scroller.current !== null) {
      scroller.current.scrollTop = scroller.current.scrollHeight;
    }
  }, []);

  const leaveEnd = React.useCallback(() => {
    const isAway = scroller.current === null || !fits(scroller.current);
    follows.current = !isAway;
    setFollowing(!isAway);
  }, []);

  React.useLayoutEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) {
      return;
    }
    let lastTop = box.scrollTop;
    let lastHeight = box.scrollHeight;
    const follow = (does: boolean): void => {
      follows.current = does;
      setFollowing(does);
    };
    let isHidden = false;
    const stayAtEnd = (): void => {
      const wasHidden = isHidden;
      isHidden = isOutOfSight(box);
      if (isHidden) {
        return;
      }
      if (wasHidden && !follows.current) {
        box.scrollTop = lastTop; // not every browser keeps it
      }
      lastHeight = box.scrollHeight;
      if (follows.current) {
        box.scrollTop = lastHeight;
      } else if (fits(box)) {
        follow(true); // nothing scrolls any more, so no scrolling could tell
      }
    };
    const onScroll = (): void => {
      if (isHidden || isOutOfSight(box)) {
        return;
      }
      const wentUp = box.scrollTop < lastTop - 1;
      const isNear = distanceFromEnd(box) < NEAR_PIXELS;
      // Content that was exchanged for other content moves the view as well.
      const isMovedByContent = box.scrollHeight !== lastHeight;
      lastTop = box.scrollTop;
      lastHeight = box.scrollHeight;
      if (isNear) {
        follow(true);
      } else if (isMovedByContent) {
        stayAtEnd();
      } else if (wentUp) {
        follow(false);
      }
    };
    const onWheel = ({ deltaY }: WheelEvent): void => {
      if (deltaY < 0 && box.scrollTop > 0) {
        follow(false);
      }
    };
    const stay = new ResizeObserver(stayAtEnd);
    box.addEventListener('scroll', onScroll, { passive: true });
    box.addEventListener('wheel', onWheel, { passive: true });
    stay.observe(box);
    stay.observe(inner);
    box.scrollTop = box.scrollHeight;
    return () => {
      box.removeEventListener('scroll', onScroll);
      box.removeEventListener('wheel', onWheel);
      stay.disconnect();
    };
  }, []);

  return { scroller, content, isFollowing, jumpToEnd, leaveEnd };
}

const SHOWN = 30;
const MORE = 60;

interface Window<T> {
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
function useWindow<T>(all: readonly T[], isHeld: boolean): Window<T> {
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

/** Prompts that others took the place of, folded into one quiet line: the model is not told. */
function SupersededTurns({ turns }: { turns: readonly Turn[] }) {
  const trans = useTrans();
  const [isOpen, setOpen] = React.useState(false);
  const body = React.useId();
  return (
    <section className="cw-superseded" aria-label={trans.__('Replaced prompts')}>
      <button
        type="button"
        className="cw-superseded-line"
        aria-expanded={isOpen}
        aria-controls={body}
        title={trans.__('Kept, and the model is not told of it')}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name="chevron_right" className="cw-chevron" />
        <span className="cw-superseded-count">
          {trans._n('%1 replaced prompt', '%1 replaced prompts', turns.length)}
        </span>
        <span className="cw-superseded-first">{turns[0]?.prompt}</span>
      </button>
      <div id={body} className="cw-superseded-body" hidden={!isOpen}>
        {isOpen && turns.map(turn => <TurnView key={turn.runId} turn={turn} />)}
      </div>
    </section>
  );
}

/** A turn that counts, or those in a row that do not. */
type Stretch =
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'superseded'; readonly key: string; readonly turns: readonly Turn[] };

/** Put turns together that were superseded one after the other. */
export function stretchesOf(turns: readonly Turn[]): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let row: Turn[] = [];
  for (const turn of turns) {
    if (turn.supersededBy === '' || turn.status === 'running') {
      row = [];
      stretches.push({ kind: 'turn', turn });
    } else {
      if (row.length === 0) {
        stretches.push({ kind: 'superseded', key: `superseded:${turn.runId}`, turns: row });
      }
      row.push(turn);
    }
  }
  return stretches;
}

interface ShownTurn {
  readonly turns: readonly Turn[];
  /** How many of them are not drawn. */
  readonly hidden: number;
  readonly content: React.RefObject<HTMLElement>;
  readonly leaveEnd: () => void;
  readonly showFrom: (index: number) => void;
}

/** Bring the turn that the person wants to see into view, drawn before or not, with the focus. */
function useReveal(shown: ShownTurn): void {
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

interface TranscriptProps {
  readonly turns: readonly Turn[];
  /** Grows with each prompt sent from here: one's own prompt is looked at. */
  readonly sentCount: number;
  /** What follows the last turn: prompts on their way, a question of a running cell. */
  readonly children?: React.ReactNode;
}

/** The conversation. Changes are told by the live region, not token by token from here. */
export function Transcript({ turns, sentCount, children }: TranscriptProps) {
  const trans = useTrans();
  const { scroller, content, isFollowing, jumpToEnd, leaveEnd } = useFollowBottom();
  const { shown, hidden, showMore, showFrom } = useWindow(turns, !isFollowing);
  const heightBefore = React.useRef<number | null>(null);
  const onMore = React.useCallback(() => {
    heightBefore.current = scroller.current?.scrollHeight ?? null;
    showMore();
  }, [scroller, showMore]);
  React.useLayoutEffect(() => {
    // What the person looks at stays where it is while earlier turns come in above it.
    if (scroller.current !== null && heightBefore.current !== null) {
      scroller.current.scrollTop += scroller.current.scrollHeight - heightBefore.current;
      heightBefore.current = null;
    }
  }, [hidden, scroller]);
  useReveal({ turns, hidden, content, leaveEnd, showFrom });
  React.useEffect(() => {
    if (sentCount > 0) {
      jumpToEnd();
    }
  }, [sentCount, jumpToEnd]);

  return (
    <div className="cw-transcript">
      <div
        ref={scroller}
        className="cw-scroller"
        role="log"
        aria-live="off"
        aria-label={trans.__('Conversation')}
        tabIndex={0}
      >
        <div ref={content} className="cw-turns">
          {hidden > 0 && <Earlier count={hidden} onMore={onMore} />}
          {stretchesOf(shown).map(stretch =>
            stretch.kind === 'turn' ? (
              <TurnView key={stretch.turn.runId} turn={stretch.turn} />
            ) : (
              <SupersededTurns key={stretch.key} turns={stretch.turns} />
            )
          )}
          {children}
        </div>
      </div>
      {!isFollowing && (
        <Button className="cw-jump" icon="down" onClick={jumpToEnd}>
          {trans.__('Jump to latest')}
        </Button>
      )}
    </div>
  );
}

/** More turns come when this is scrolled to, or pressed. */
function Earlier({ count, onMore }: { count: number; onMore: () => void }) {
  const trans = useTrans();
  const place = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    if (place.current === null) {
      return;
    }
    const watch = new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting)) {
        onMore();
      }
    });
    watch.observe(place.current);
    return () => {
      watch.disconnect();
    };
  }, [onMore]);
  return (
    <div ref={place} className="cw-earlier">
      <Button kind="quiet" icon="up" onClick={onMore}>
        {trans._n('Show %1 earlier prompt', 'Show %1 earlier prompts', count)}
      </Button>
    </div>
  );
}
