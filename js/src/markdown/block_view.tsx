import * as React from 'react';

import { FencedCode } from './code_block';
import { Formula } from './formula';
import { Inlines } from './inline_view';
import type {
  Align,
  MarkdownBlock,
  HeadingNode,
  ItemNode,
  ListNode,
  ParagraphNode,
  RowNode,
  TableNode
} from './nodes';
import { useScope } from './scope';

interface BlocksProps {
  readonly blocks: readonly MarkdownBlock[];
}

/** Blocks in their order; a block that is the same object is not drawn again. */
export function Blocks({ blocks }: BlocksProps) {
  return (
    <>
      {blocks.map((block, index) => (
        <MarkdownBlockView key={index} block={block} />
      ))}
    </>
  );
}

const MarkdownBlockView = React.memo(function BlockView({
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
