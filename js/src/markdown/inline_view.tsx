import * as React from 'react';

import { CopyCode } from './copy_button';
import { Formula } from './formula';
import type { BlockedPictureNode, Inline, LinkNode } from './nodes';
import { useScope } from './scope';

interface InlinesProps {
  readonly nodes: readonly Inline[];
}

/** What stands in a line. */
export function Inlines({ nodes }: InlinesProps) {
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
