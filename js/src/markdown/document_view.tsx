/** Draws what was read of a text: blocks, lines, code and formulas. */
import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { useCopy } from '../ui/copy_and_save';
import { type Highlight, HighlightContext, useHighlighted } from './highlighting';
import type {
  Align,
  BlockedPictureNode,
  CodeBlockNode,
  FormulaNode,
  HeadingNode,
  Inline,
  ItemNode,
  LinkNode,
  ListNode,
  MarkdownBlock,
  ParagraphNode,
  RowNode,
  TableNode
} from './nodes';
import { MarkdownReader } from './reader';
import { isTypesetterLoaded, loadTypesetter, type MathElement, typeset } from './typesetting';

// What the parts of a text share, and how it is told from outside.

/** A text and how to draw it. */
export interface MarkdownProps {
  readonly text: string;
  /** More of the text may come; `text` then only grows. */
  readonly isStreaming: boolean;
  readonly trans: TranslationBundle;
  /** Colours code; without it, what the `HighlightContext` has. */
  readonly highlight?: Highlight | null;
}

interface MarkdownScope {
  readonly trans: TranslationBundle;
  /** Colours code; null: code stays plain. */
  readonly highlight: Highlight | null;
}

const ScopeContext = React.createContext<MarkdownScope | null>(null);

function useScope(): MarkdownScope {
  const scope = React.useContext(ScopeContext);
  if (scope === null) {
    throw new Error('This part of a text stands outside of a DocumentView.');
  }
  return scope;
}

interface CopyCodeProps {
  readonly text: string;
  readonly label: string;
}

/** Copies a text and says so for a moment. */
function CopyCode({ text, label }: CopyCodeProps) {
  const { words, copy } = useCopy(label, useScope().trans);
  return (
    <button
      type="button"
      className="cw-md-button"
      onClick={() => {
        copy(text);
      }}
    >
      {words}
    </button>
  );
}

/** Lines that are laid out together: code that grows lays out only the last of them again. */
const LINES_TOGETHER = 50;

/** Code with what it is written in, and what can be done with it. */
function FencedCode({ node }: { readonly node: CodeBlockNode }) {
  const { trans } = useScope();
  const { code, language, isOpen } = node;
  return (
    <div className="cw-md-code">
      <div className="cw-md-code-head">
        <span className="cw-md-language">{language}</span>
        {!isOpen && <CopyCode text={code} label={trans.__('Copy')} />}
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
  const { highlight } = useScope();
  const pieces = useHighlighted(node.code, node.language, node.isOpen ? null : highlight);
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

/** A formula; its source until it is typeset, and when it cannot be. */
const Formula = React.memo(function Formula({ node }: { readonly node: FormulaNode }) {
  const isReady = useTypesetter();
  const math = React.useMemo(() => (isReady ? typeset(node) : null), [isReady, node]);
  const className = node.isDisplay ? 'cw-md-math cw-md-display' : 'cw-md-math';
  return (
    <span className={className}>
      {math === null ? <code>{node.source}</code> : mathNode(math, null)}
    </span>
  );
});

function useTypesetter(): boolean {
  const [isReady, setReady] = React.useState(isTypesetterLoaded);
  React.useEffect(() => {
    let isMounted = true;
    if (!isReady) {
      loadTypesetter().then(
        () => {
          if (isMounted) {
            setReady(true);
          }
        },
        () => undefined // the source is shown
      );
    }
    return () => {
      isMounted = false;
    };
  }, [isReady]);
  return isReady;
}

function mathNode(node: MathElement | string, key: number | null): React.ReactNode {
  if (typeof node === 'string') {
    return node;
  }
  const { name, attributes, children } = node;
  return React.createElement(name, { key, ...attributes }, ...children.map(mathNode));
}

interface InlinesProps {
  readonly nodes: readonly Inline[];
}

/** What stands in a line. */
function Inlines({ nodes }: InlinesProps) {
  return (
    <>
      {nodes.map((node, index) => (
        <InlineView key={index} node={node} />
      ))}
    </>
  );
}

function InlineView({ node }: { readonly node: Inline }): React.ReactElement {
  switch (node.kind) {
    case 'text':
      return <>{node.text}</>;
    case 'break':
      return <br />;
    case 'marked':
      return React.createElement(node.mark, null, <Inlines nodes={node.children} />);
    case 'code':
      return <code>{node.text}</code>;
    case 'formula':
      return <Formula node={node} />;
    case 'picture':
      return <img className="cw-md-picture" src={node.source} alt={node.alt} />;
    case 'link':
      return <Link node={node} />;
    case 'blocked_picture':
      return <BlockedPicture node={node} />;
    default:
      return node satisfies never;
  }
}

/** Whether we are inside a link, where no button can be. */
const InLinkContext = React.createContext(false);

function Link({ node }: { readonly node: LinkNode }) {
  return (
    <>
      <a className="cw-md-link" href={node.href} target="_blank" rel="noopener noreferrer">
        <InLinkContext.Provider value={true}>
          <Inlines nodes={node.children} />
        </InLinkContext.Provider>
      </a>
      {node.host !== '' && <span className="cw-md-host">{` (${node.host})`}</span>}
    </>
  );
}

function BlockedPicture({ node }: { readonly node: BlockedPictureNode }) {
  const { trans } = useScope();
  const isInLink = React.useContext(InLinkContext);
  const host = node.host === '' ? trans.__('a file') : node.host;
  return (
    <span className="cw-md-blocked">
      {node.alt !== '' && <span>{node.alt}</span>}
      <span>{trans.__('Image blocked: %1', host)}</span>
      {!isInLink && <CopyCode text={node.address} label={trans.__('Copy address')} />}
    </span>
  );
}

interface BlocksProps {
  readonly blocks: readonly MarkdownBlock[];
}

/** Blocks in their order; a block that is the same object is not drawn again. */
function Blocks({ blocks }: BlocksProps) {
  return (
    <>
      {blocks.map((block, index) => (
        <MarkdownBlockView key={index} block={block} />
      ))}
    </>
  );
}

const MarkdownBlockView = React.memo(function MarkdownBlockView({
  block
}: {
  readonly block: MarkdownBlock;
}) {
  switch (block.kind) {
    case 'paragraph':
      return <Paragraph node={block} />;
    case 'heading':
      return <Heading node={block} />;
    case 'quote':
      return (
        <blockquote>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <List node={block} />;
    case 'table':
      return <Table node={block} />;
    case 'code_block':
      return <FencedCode node={block} />;
    case 'formula':
      return (
        <div className="cw-md-formula">
          <Formula node={block} />
        </div>
      );
    case 'rule':
      return <hr />;
    case 'plain':
      return (
        <div className="cw-md-plain">
          <Inlines nodes={block.children} />
        </div>
      );
    default:
      return block satisfies never;
  }
});

function Paragraph({ node }: { readonly node: ParagraphNode }) {
  const content = <Inlines nodes={node.children} />;
  return node.isTight ? content : <p>{content}</p>;
}

function Heading({ node }: { readonly node: HeadingNode }) {
  const name = `h${String(node.level)}`;
  return React.createElement(name, null, <Inlines nodes={node.children} />);
}

function List({ node }: { readonly node: ListNode }) {
  const items = node.items.map((item, index) => <Item key={index} node={item} />);
  return node.start === null ? <ul>{items}</ul> : <ol start={node.start}>{items}</ol>;
}

const Item = React.memo(function Item({ node }: { readonly node: ItemNode }) {
  const { trans } = useScope();
  if (node.isDone === null) {
    return (
      <li>
        <Blocks blocks={node.blocks} />
      </li>
    );
  }
  return (
    <li className="cw-md-task">
      <input
        type="checkbox"
        disabled
        checked={node.isDone}
        aria-label={node.isDone ? trans.__('done') : trans.__('to do')}
        readOnly
      />
      <Blocks blocks={node.blocks} />
    </li>
  );
});

function Table({ node }: { readonly node: TableNode }) {
  const { trans } = useScope();
  return (
    <div className="cw-md-table" tabIndex={0} role="group" aria-label={trans.__('Table')}>
      <table>
        <thead>
          <TableRow node={node.header} align={node.align} isHeader />
        </thead>
        {node.rows.length > 0 && (
          <tbody>
            {node.rows.map((row, index) => (
              <TableRow key={index} node={row} align={node.align} isHeader={false} />
            ))}
          </tbody>
        )}
      </table>
    </div>
  );
}

interface TableRowProps {
  readonly node: RowNode;
  readonly align: readonly Align[];
  readonly isHeader: boolean;
}

const TableRow = React.memo(
  function Row({ node, align, isHeader }: TableRowProps) {
    const cells = node.cells.map((cell, index) => {
      const className = `cw-md-${align[index] ?? 'start'}`;
      return isHeader ? (
        <th key={index} scope="col" className={className}>
          <Inlines nodes={cell} />
        </th>
      ) : (
        <td key={index} className={className}>
          <Inlines nodes={cell} />
        </td>
      );
    });
    return <tr>{cells}</tr>;
  },
  (before, after) =>
    before.node === after.node &&
    before.isHeader === after.isHeader &&
    before.align.join() === after.align.join()
);

/** So much is drawn at once; a longer text appears bit by bit, so that the page stays quick. */
const STEP = 5000;

/** A whole text; `nodes.ts` lists what is drawn of it. */
export default function DocumentView(props: MarkdownProps) {
  const { text, isStreaming, trans, highlight } = props;
  const inherited = React.useContext(HighlightContext);
  const [reader] = React.useState(() => new MarkdownReader());
  const length = useGrowing(text.length);
  const blocks = React.useMemo(
    () => reader.read(text.slice(0, length), isStreaming || length < text.length),
    [reader, text, length, isStreaming]
  );
  const scope = React.useMemo<MarkdownScope>(
    () => ({ trans, highlight: highlight ?? inherited }),
    [trans, highlight, inherited]
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
