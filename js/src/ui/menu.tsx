import * as React from 'react';

import { Icon, type IconName } from './button';

interface Popup<T extends HTMLElement> {
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

export interface MenuEntry {
  readonly key: string;
  readonly label: string;
  readonly description?: string;
  readonly icon?: IconName;
  /** Given: it is one of several choices. */
  readonly isChecked?: boolean;
  readonly isDisabled?: boolean;
  /** What follows is of another kind than what stands before it. */
  readonly startsGroup?: boolean;
  readonly onChoose: () => void;
}

interface MenuProps {
  /** What the button is called. */
  readonly label: string;
  readonly className: string;
  readonly entries: readonly MenuEntry[];
  /** Where it opens. */
  readonly side: 'above' | 'below';
  readonly end?: boolean;
  /** It gives room to what stands beside it. */
  readonly shrinks?: boolean;
  /** What the button shows. */
  readonly children: React.ReactNode;
}

/** A button that opens a menu. */
export function Menu(props: MenuProps) {
  const { label, className, entries, side, end = false, shrinks = false, children } = props;
  const popup = usePopup<HTMLDivElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const menu = React.useId();
  const close = (): void => {
    popup.close();
    button.current?.focus();
  };
  return (
    <div className={`cw-menu-anchor ${shrinks ? 'cw-mod-shrink' : ''}`} ref={popup.anchor}>
      <button
        ref={button}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={popup.isOpen}
        aria-label={label}
        title={label}
        {...(popup.isOpen && { 'aria-controls': menu })}
        onClick={popup.toggle}
        onKeyDown={event => {
          if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
            event.preventDefault();
            popup.open();
          }
        }}
      >
        {children}
      </button>
      {popup.isOpen && (
        <MenuList
          id={menu}
          label={label}
          entries={entries}
          className={`cw-popup cw-menu cw-mod-${side} ${end ? 'cw-mod-end' : ''}`}
          onClose={close}
        />
      )}
    </div>
  );
}

interface MenuListProps {
  readonly id: string;
  readonly label: string;
  readonly entries: readonly MenuEntry[];
  readonly className: string;
  readonly onClose: () => void;
}

const STEPS: Partial<Record<string, (index: number, count: number) => number>> = {
  ArrowDown: (index, count) => (index + 1) % count,
  ArrowUp: (index, count) => (index + count - 1) % count,
  Home: () => 0,
  End: (_, count) => count - 1
};

function MenuList({ id, label, entries, className, onClose }: MenuListProps) {
  const list = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    const items = itemsOf(list.current);
    (items.find(item => item.getAttribute('aria-checked') === 'true') ?? items[0])?.focus();
  }, []);
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const step = STEPS[event.key];
    if (event.key === 'Escape' || event.key === 'Tab') {
      onClose();
    } else if (step !== undefined) {
      const items = itemsOf(list.current);
      const index = items.indexOf(event.target as HTMLElement);
      items[step(index, items.length)]?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      ref={list}
      id={id}
      role="menu"
      aria-label={label}
      className={className}
      onKeyDown={onKeyDown}
    >
      {entries.map(entry => (
        <button
          key={entry.key}
          type="button"
          tabIndex={-1}
          className={`cw-menu-item ${entry.startsGroup === true ? 'cw-mod-group' : ''}`}
          disabled={entry.isDisabled ?? false}
          {...(entry.isChecked === undefined
            ? { role: 'menuitem' }
            : { role: 'menuitemradio', 'aria-checked': entry.isChecked })}
          onClick={() => {
            onClose();
            entry.onChoose();
          }}
        >
          {entry.isChecked !== undefined && (
            <span className="cw-menu-check">{entry.isChecked && <Icon name="check" />}</span>
          )}
          {entry.icon !== undefined && <Icon name={entry.icon} />}
          <span className="cw-menu-words">
            <span>{entry.label}</span>
            {entry.description !== undefined && (
              <span className="cw-muted">{entry.description}</span>
            )}
          </span>
        </button>
      ))}
    </div>
  );
}

function itemsOf(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('.cw-menu-item:not(:disabled)') ?? [])];
}
