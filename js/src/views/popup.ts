import * as React from 'react';

export interface Popup<T extends HTMLElement> {
  readonly isOpen: boolean;
  /** What holds both the button and what it opens. */
  readonly anchor: React.RefObject<T>;
  open(): void;
  close(): void;
  toggle(): void;
}

/** Something that opens over the panel and closes when the person turns to something else. */
export function usePopup<T extends HTMLElement>(): Popup<T> {
  const [isOpen, setOpen] = React.useState(false);
  const anchor = React.useRef<T>(null);
  React.useEffect(() => {
    if (!isOpen) {
      return;
    }
    const closeOutside = (event: Event): void => {
      if (event.target instanceof Node && anchor.current?.contains(event.target) === false) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);
  return React.useMemo(
    () => ({
      isOpen,
      anchor,
      open: () => {
        setOpen(true);
      },
      close: () => {
        setOpen(false);
      },
      toggle: () => {
        setOpen(open => !open);
      }
    }),
    [isOpen]
  );
}
