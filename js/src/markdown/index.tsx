/** Model text as Markdown. What reads and draws it is loaded with the first text. */
import * as React from 'react';

import type { MarkdownProps } from './document_view';
import { plainText } from './plain_text';

export { type Highlight, HighlightContext, highlightWith } from './highlighting';
export type { MarkdownProps } from './document_view';

const LazyDocumentView = React.lazy(
  () => import('./document_view').catch(() => ({ default: UnreadText })) // the text is what matters
);

/**
 * Draws a text that a model wrote. Nothing in it is loaded or run, whatever it says; links open
 * on a click, in another tab. What this does not do: judge what the text says.
 */
export const Markdown = React.memo(function Markdown(props: MarkdownProps) {
  return (
    <React.Suspense fallback={<UnreadText {...props} />}>
      <LazyDocumentView {...props} />
    </React.Suspense>
  );
});

function UnreadText({ text }: MarkdownProps) {
  return <div className="cw-md cw-md-plain">{plainText(text)}</div>;
}
