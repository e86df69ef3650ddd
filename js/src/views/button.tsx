import * as React from 'react';

import { Icon } from './icon';
import type { IconName } from './icon_paths';

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
