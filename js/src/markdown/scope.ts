/** What the parts of a text share, and how it is told from outside. */
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { Highlight } from './highlighting';

/** A text and how to draw it. */
export interface MarkdownProps {
  readonly text: string;
  /** More of the text may come; `text` then only grows. */
  readonly isStreaming: boolean;
  readonly trans: TranslationBundle;
  /** Colours code; without it, what the `HighlightContext` has. */
  readonly highlight?: Highlight | null;
  /** Puts code into a new cell; without it, there is no button for that. */
  readonly onInsert?: (code: string, language: string) => void;
}

export interface MarkdownScope {
  readonly trans: TranslationBundle;
  /** Colours code; null: code stays plain. */
  readonly highlight: Highlight | null;
  readonly onInsert: ((code: string, language: string) => void) | null;
}

export const ScopeContext = React.createContext<MarkdownScope | null>(null);

export function useScope(): MarkdownScope {
  const scope = React.useContext(ScopeContext);
  if (scope === null) {
    throw new Error('This part of a text stands outside of a DocumentView.');
  }
  return scope;
}
