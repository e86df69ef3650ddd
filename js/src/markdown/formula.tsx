import * as React from 'react';

import type { MathElement } from './mathml';
import type { FormulaNode } from './nodes';
import { isTypesetterLoaded, loadTypesetter, typeset } from './typesetting';

/** A formula; its source until it is typeset, and when it cannot be. */
export const Formula = React.memo(function Formula({ node }: { readonly node: FormulaNode }) {
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
