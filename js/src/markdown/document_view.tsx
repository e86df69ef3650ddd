import * as React from 'react';

import { Blocks } from './block_view';
import { HighlightContext } from './highlighting';
import { MarkdownReader } from './reader';
import type { MarkdownProps, MarkdownScope } from './scope';
import { ScopeContext } from './scope';

/** So much is drawn at once; a longer text appears bit by bit, so that the page stays quick. */
const STEP = 5000;

/** A whole text; `nodes.ts` lists what is drawn of it. */
export default function DocumentView(props: MarkdownProps) {
  const { text, isStreaming, trans, highlight, onInsert } = props;
  const inherited = React.useContext(HighlightContext);
  const [reader] = React.useState(() => new MarkdownReader());
  const length = useGrowing(text.length);
  const blocks = React.useMemo(
    () => reader.read(text.slice(0, length), isStreaming || length < text.length),
    [reader, text, length, isStreaming]
  );
  const scope = React.useMemo<MarkdownScope>(
    () => ({ trans, highlight: highlight ?? inherited, onInsert: onInsert ?? null }),
    [trans, highlight, inherited, onInsert]
  );
  return (
    <ScopeContext.Provider value={scope}>
      <div className="cw-md">
        <Blocks blocks={blocks} />
      </div>
    </ScopeContext.Provider>
  );
}

/** How much of something is drawn yet. */
function useGrowing(length: number): number {
  const [drawn, setDrawn] = React.useState(0);
  const next = Math.min(length, drawn + STEP);
  React.useEffect(() => {
    if (next === drawn) {
      return;
    }
    // Even a text that grows is never cut, as long as it grows by less than a step.
    const timer = setTimeout(() => {
      setDrawn(next);
    });
    return () => {
      clearTimeout(timer);
    };
  }, [next, drawn]);
  return next;
}
