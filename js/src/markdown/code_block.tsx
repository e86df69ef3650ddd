import * as React from 'react';

import { CopyCode } from './copy_button';
import type { CodePiece } from './highlighting';
import { highlighted } from './highlighting';
import type { CodeBlockNode } from './nodes';
import { useScope } from './scope';

/** Lines that are laid out together: code that grows lays out only the last of them again. */
const LINES_TOGETHER = 50;

/** Code with what it is written in, and what can be done with it. */
export function FencedCode({ node }: { readonly node: CodeBlockNode }) {
  const { trans, onInsert } = useScope();
  const { code, language, isOpen } = node;
  return (
    <div className="cw-md-code">
      <div className="cw-md-code-head">
        <span className="cw-md-language">{language}</span>
        {!isOpen && <CopyCode text={code} label={trans.__('Copy')} />}
        {!isOpen && onInsert !== null && (
          <button
            type="button"
            className="cw-md-button"
            onClick={() => {
              onInsert(code, language);
            }}
          >
            {trans.__('Insert as cell')}
          </button>
        )}
      </div>
      <pre tabIndex={0} role="group" aria-label={trans.__('Code')}>
        <code>
          <FencedText node={node} />
        </code>
      </pre>
    </div>
  );
}

function FencedText({ node }: { readonly node: CodeBlockNode }) {
  const pieces = usePieces(node);
  if (pieces === null) {
    return (
      <>
        {linesTogether(node.code).map((text, index) => (
          <Lines key={index} text={text} />
        ))}
      </>
    );
  }
  return (
    <>
      {pieces.map(({ text, className }, index) =>
        className === '' ? (
          text
        ) : (
          <span key={index} className={className}>
            {text}
          </span>
        )
      )}
    </>
  );
}

const Lines = React.memo(function Lines({ text }: { readonly text: string }) {
  return <span className="cw-md-lines">{text}</span>;
});

/** Coloured pieces of code that is settled. */
function usePieces({ code, language, isOpen }: CodeBlockNode): readonly CodePiece[] | null {
  const { highlight } = useScope();
  const [pieces, setPieces] = React.useState<readonly CodePiece[] | null>(null);
  React.useEffect(() => {
    setPieces(null);
    if (isOpen || highlight === null) {
      return;
    }
    let isCurrent = true;
    void highlighted(code, language, highlight).then(found => {
      if (isCurrent) {
        setPieces(found);
      }
    });
    return () => {
      isCurrent = false;
    };
  }, [code, language, isOpen, highlight]);
  return pieces;
}

/** The code in parts of so many lines, each with its line ends. */
function linesTogether(code: string): readonly string[] {
  const lines = code.split('\n');
  const parts: string[] = [];
  for (let at = 0; at < lines.length; at += LINES_TOGETHER) {
    const isLast = at + LINES_TOGETHER >= lines.length;
    parts.push(lines.slice(at, at + LINES_TOGETHER).join('\n') + (isLast ? '' : '\n'));
  }
  return parts;
}
