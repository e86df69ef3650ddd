import * as React from 'react';

import { HighlightContext, useHighlighted } from '../markdown/highlighting';
import { IconButton } from './button';
import { useCopy } from './copy_and_save';
import { useTrans } from './hooks';
import { spelledOut } from './spelled_out';

interface CopyButtonProps {
  /** Read when it is clicked. */
  readonly text: () => string;
  readonly label: string;
}

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const { outcome, words, copy } = useCopy(label, useTrans());
  const icons = { '': 'copy', copied: 'check', failed: 'error' } as const;
  return (
    <IconButton
      icon={icons[outcome]}
      label={words}
      onClick={() => {
        copy(text());
      }}
    />
  );
}

interface CodeBlockProps {
  readonly text: string;
  /** What it is written in; empty: it stays plain. */
  readonly language?: string;
  /** What it is, for people who cannot see it. */
  readonly label: string;
  /** All of it is seen without scrolling: lines are wrapped, and hidden signs spelled out. */
  readonly isWhole?: boolean;
}

/** Code or output as it is, with a button that copies it. */
export const CodeBlock = React.memo(function CodeBlock(props: CodeBlockProps) {
  const { text: given, language = '', label, isWhole = false } = props;
  const trans = useTrans();
  const text = isWhole ? spelledOut(given) : given;
  const pieces = useHighlighted(text, language, React.useContext(HighlightContext));
  return (
    <div className={isWhole ? 'cw-code cw-mod-whole' : 'cw-code'}>
      <pre tabIndex={0} aria-label={label} role="group">
        {pieces === null
          ? text
          : pieces.map((piece, index) => (
              <span key={index} className={piece.className}>
                {piece.text}
              </span>
            ))}
      </pre>
      <CopyButton text={() => given} label={trans.__('Copy')} />
    </div>
  );
});
