import * as React from 'react';

import { ICON_PATHS, type IconName } from './icon_paths';

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
