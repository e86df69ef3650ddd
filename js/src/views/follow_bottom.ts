import * as React from 'react';

/** Nearer to the end than this counts as at the end. */
const NEAR_PIXELS = 24;

export interface FollowBottom {
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

/** Keep the end of growing content in view until the person scrolls up. */
export function useFollowBottom(): FollowBottom {
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
    const stayAtEnd = (): void => {
      lastHeight = box.scrollHeight;
      if (follows.current) {
        box.scrollTop = lastHeight;
      } else if (fits(box)) {
        follow(true); // nothing scrolls any more, so no scrolling could tell
      }
    };
    const onScroll = (): void => {
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
