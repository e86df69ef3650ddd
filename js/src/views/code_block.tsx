import * as React from 'react';

import { HighlightContext, highlighted, type CodePiece } from '../markdown/highlighting';
import { CopyButton } from './copy_button';
import { useTrans } from './scope';

interface CodeBlockProps {
  readonly text: string;
  /** What it is written in; empty: it stays plain. */
  readonly language?: string;
  /** What it is, for people who cannot see it. */
  readonly label: string;
}

/** Code or output as it is, with a button that copies it. */
export const CodeBlock = React.memo(function CodeBlock(props: CodeBlockProps) {
  const { text, language = '', label } = props;
  const trans = useTrans();
  const pieces = usePieces(text, language);
  return (
    <div className="cw-code">
      <pre tabIndex={0} aria-label={label} role="group">
        {pieces === null
          ? text
          : pieces.map((piece, index) => (
              <span key={index} className={piece.className}>
                {piece.text}
              </span>
            ))}
      </pre>
      <CopyButton text={() => text} label={trans.__('Copy')} />
    </div>
  );
});

/** The text in coloured pieces; null while there are none. */
function usePieces(text: string, language: string): readonly CodePiece[] | null {
  const highlight = React.useContext(HighlightContext);
  const [pieces, setPieces] = React.useState<readonly CodePiece[] | null>(null);
  React.useEffect(() => {
    setPieces(null);
    if (highlight === null || language === '') {
      return;
    }
    let isOver = false;
    void highlighted(text, language, highlight).then(found => {
      if (!isOver) {
        setPieces(found);
      }
    });
    return () => {
      isOver = true;
    };
  }, [text, language, highlight]);
  return pieces;
}
