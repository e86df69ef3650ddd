import * as React from 'react';

/** Nearer to the end than this counts as at the end. */
const NEAR_PIXELS = 24;

export interface FollowBottom {
  readonly scroller: React.RefObject<HTMLDivElement>;
  readonly content: React.RefObject<HTMLDivElement>;
  readonly isFollowing: boolean;
  readonly jumpToEnd: () => void;
}

function distanceFromEnd(element: HTMLElement): number {
  return element.scrollHeight - element.scrollTop - element.clientHeight;
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

  React.useLayoutEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (box === null || inner === null) {
      return;
    }
    let lastTop = box.scrollTop;
    const onScroll = (): void => {
      const wentUp = box.scrollTop < lastTop - 1;
      const isNear = distanceFromEnd(box) < NEAR_PIXELS;
      lastTop = box.scrollTop;
      // Content that shrinks moves the view up too, but leaves it at the end.
      if (isNear !== follows.current && (isNear || wentUp)) {
        follows.current = isNear;
        setFollowing(isNear);
      }
    };
    const stay = new ResizeObserver(() => {
      if (follows.current) {
        box.scrollTop = box.scrollHeight;
      }
    });
    box.addEventListener('scroll', onScroll, { passive: true });
    stay.observe(box);
    stay.observe(inner);
    box.scrollTop = box.scrollHeight;
    return () => {
      box.removeEventListener('scroll', onScroll);
      stay.disconnect();
    };
  }, []);

  return { scroller, content, isFollowing, jumpToEnd };
}
