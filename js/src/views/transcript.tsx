import * as React from 'react';

import type { Turn } from '../models/types';
import { Button } from './button';
import { useFollowBottom } from './follow_bottom';
import { useReveal } from './revealing';
import { useTrans } from './scope';
import { stretchesOf, SupersededTurns } from './superseded_turns';
import { TurnView } from './turn';
import { useWindow } from './windowing';

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
