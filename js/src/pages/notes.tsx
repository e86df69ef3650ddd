/** What is said where there is no table yet. */
import * as React from 'react';

import { Icon } from '../views/icon';

/** What went wrong; nothing when nothing did. */
export function Complaint({ text }: { readonly text: string }) {
  return text === '' ? null : (
    <p className="cw-page-note cw-mod-error" role="alert">
      <Icon name="error" />
      <span>{text}</span>
    </p>
  );
}

/** That there is nothing, and what to do about it. */
export function Nothing({ children }: { readonly children: React.ReactNode }) {
  return <p className="cw-muted cw-nothing">{children}</p>;
}
