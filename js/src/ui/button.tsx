/** Buttons and icons. */
import * as React from 'react';

/** Our icons: strokes on a 16 px grid, drawn in the colour of the text around them. */
const ICON_PATHS = {
  add_line: 'M2.5 4.5h11M2.5 8H8M2.5 11.5H6M11.5 8.5v6M8.5 11.5h6',
  attach:
    'M13.2 7.4 8 12.6a3.1 3.1 0 0 1-4.4-4.4l5.5-5.5a2.1 2.1 0 0 1 2.9 2.9L6.6 11a1 1 0 0 1-1.5-1.4l4.8-4.9',
  book: 'M8 4.2C6.6 3 4.6 2.7 2.5 2.9v9.4c2.1-.2 4.1.1 5.5 1.3 1.4-1.2 3.4-1.5 5.5-1.3V2.9C11.4 2.7 9.4 3 8 4.2zM8 4.2v9.4',
  branch:
    'M4.5 5.2v5.6M4.5 2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM4.5 10.8a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM11.5 4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM11.5 7.2c0 2.2-3 2.3-7 3.6',
  bubble:
    'M3 3h10a1 1 0 0 1 1 1v6.5a1 1 0 0 1-1 1H7.5L4.5 14v-2.5H3a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1z',
  cell: 'M5.5 2.5H3.5v11h2M10.5 2.5h2v11h-2M6.5 6h3M6.5 8.5h3',
  check: 'M3 8.5 6.3 12 13 4.5',
  chevron_down: 'M4 6.2 8 10l4-3.8',
  chevron_left: 'M9.8 4 6 8l3.8 4',
  chevron_right: 'M6.2 4 10 8l-3.8 4',
  clock: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.2l2.2 1.4',
  close: 'm4 4 8 8M12 4l-8 8',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  copy: 'M6 5.5h6.5a.8.8 0 0 1 .8.8v6.4a.8.8 0 0 1-.8.8H6.5a.8.8 0 0 1-.8-.8V6.3M10.3 5.5V3.3a.8.8 0 0 0-.8-.8H3.5a.8.8 0 0 0-.8.8v6.4a.8.8 0 0 0 .8.8h2.2',
  download: 'M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10',
  down: 'M8 3v10M3.8 8.8 8 13l4.2-4.2',
  edit: 'm10.5 3 2.5 2.5-7.3 7.3-3.2.7.7-3.2zM9 4.5 11.5 7',
  error: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 5v3.6M8 11v.1',
  eye: 'M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  file: 'M9.3 2H4.5a.8.8 0 0 0-.8.8v10.4a.8.8 0 0 0 .8.8h7a.8.8 0 0 0 .8-.8V5zM9.3 2v3h3',
  info: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 7.4V11M8 5v.1',
  input: 'M2 4.5h12v7H2zM4.5 7v2M6.5 9.5h3',
  key: 'M5 7.8a2.7 2.7 0 1 0 0 5.4 2.7 2.7 0 0 0 0-5.4zM7 8.6l6.2-6.1M10.6 5l2 2',
  list: 'M2.5 4.5h.1M5.5 4.5h8M2.5 8h.1M5.5 8h8M2.5 11.5h.1M5.5 11.5h8',
  more: 'M3.5 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2zM8 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2zM12.5 7.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2z',
  note: 'M4.3 2.5h7.4a.8.8 0 0 1 .8.8v9.4a.8.8 0 0 1-.8.8H4.3a.8.8 0 0 1-.8-.8V3.3a.8.8 0 0 1 .8-.8zM6 5.5h4M6 8h4M6 10.5h2',
  package: 'M8 1.9 13.5 5v6L8 14.1 2.5 11V5zM2.7 5.1 8 8.1l5.3-3M8 8.2V14',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  person:
    'M8 2.5a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM2.8 13.5c.5-2.7 2.5-4 5.2-4s4.7 1.3 5.2 4',
  pin: 'M5.6 2.3h4.8M6.4 2.3v4.2L4.3 9.2h7.4L9.6 6.5V2.3M8 9.2v4.6',
  play: 'M5 3.5v9l7-4.5z',
  plus: 'M8 3v10M3 8h10',
  redo: 'M10.5 3 13.3 5.8l-2.8 2.8M13 5.8H6.2a3.3 3.3 0 0 0 0 6.7H9',
  retry: 'M13 8A5 5 0 1 1 11.4 4.3L13 5.8M13 2.5v3.3H9.7',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2',
  send: 'M8 13V3.2M3.8 7.2 8 3l4.2 4.2',
  spark: 'M8 2c.5 3.6 2.4 5.5 6 6-3.6.5-5.5 2.4-6 6-.5-3.6-2.4-5.5-6-6 3.6-.5 5.5-2.4 6-6z',
  stop: 'M4.5 4.5h7v7h-7z',
  target: 'M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM8 1.5v3.2M8 11.3v3.2M1.5 8h3.2M11.3 8h3.2',
  thought:
    'M5 12.5c-1.6-.6-2.3-1.9-1.9-3.2C1.8 8.6 1.9 6.4 3.5 5.9c0-2 1.8-3.1 3.3-2.5C8 2 10.4 2.4 11 4.1c1.7 0 2.7 1.7 2.1 3.1 1.3.9 1.1 3-.6 3.5-.3 1.5-2.2 2.2-3.4 1.3-1.2 1-3.2 1.2-4.1.5z',
  thumb_down:
    'M5 8.8V2.8h6.2c.8 0 1.3.5 1.5 1.2l1 3.6c.3 1-.3 1.8-1.3 1.8H9.3l.5 2.6c.2 1-.4 1.7-1.2 1.7L5 8.8zM5 2.8H2.3v6H5',
  thumb_up:
    'M5 7.2v6h6.2c.8 0 1.3-.5 1.5-1.2l1-3.6c.3-1-.3-1.8-1.3-1.8H9.3L9.8 4c.2-1-.4-1.7-1.2-1.7L5 7.2zM5 13.2H2.3v-6H5',
  trash: 'M3 4.5h10M6.3 4.3V2.5h3.4v1.8M4.3 4.5l.6 9h6.2l.6-9M6.8 7v4M9.2 7v4',
  undo: 'M5.5 3 2.7 5.8l2.8 2.8M3 5.8h6.8a3.3 3.3 0 0 1 0 6.7H7',
  up: 'M8 13V3M3.8 7.2 8 3l4.2 4.2',
  variable: 'M4.5 2.5C2.3 5.8 2.3 10.2 4.5 13.5M11.5 2.5c2.2 3.3 2.2 7.7 0 11M6 6l4 4M10 6l-4 4',
  warning: 'M8 2.3 14.3 13.2H1.7zM8 6.5v3M8 11.4v.1'
} as const;

export type IconName = keyof typeof ICON_PATHS;

interface IconProps {
  readonly name: IconName;
  readonly className?: string;
}

/** An icon beside words or on a labelled button; never on its own. */
export const Icon = React.memo(function Icon({ name, className = '' }: IconProps) {
  return (
    <svg className={`cw-icon ${className}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
});

type NativeProps = Omit<React.ButtonHTMLAttributes<HTMLButtonElement>, 'type'>;

interface ButtonProps extends NativeProps {
  readonly kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  readonly icon?: IconName;
}

/** A button with words. */
export const Button = React.forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind = 'plain', icon, className = '', children, ...rest },
  ref
) {
  return (
    <button ref={ref} type="button" className={`cw-button cw-mod-${kind} ${className}`} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
});

/** Words that lead somewhere, such as the name in a row of a table. */
export function LinkButton({ className = '', ...rest }: NativeProps) {
  return <button type="button" className={`cw-row-link ${className}`} {...rest} />;
}

interface IconButtonProps extends NativeProps {
  readonly icon: IconName;
  /** Its name for all: shown as a tooltip and read aloud. */
  readonly label: string;
}

/** A button that shows only an icon. */
export const IconButton = React.forwardRef<HTMLButtonElement, IconButtonProps>(function IconButton(
  { icon, label, className = '', ...rest },
  ref
) {
  return (
    <button
      ref={ref}
      type="button"
      className={`cw-icon-button ${className}`}
      aria-label={label}
      title={label}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
});
