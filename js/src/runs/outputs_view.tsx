import * as React from 'react';

import type { IDisposable } from '@lumino/disposable';

import type { JsonObject } from '../events';
import { isObject } from '../server/shapes';
import { CodeBlock } from '../views/code_block';
import { useTrans } from '../views/scope';

/** Draws outputs, as nbformat has them, into an element of the page. */
export type DrawOutputs = (host: HTMLElement, outputs: readonly JsonObject[]) => IDisposable;

const DrawingContext = React.createContext<DrawOutputs | null>(null);

export const OutputsProvider = DrawingContext.Provider;

/** What a cell showed; as plain text where nothing can draw it. */
export function Outputs({ outputs }: { readonly outputs: readonly JsonObject[] }) {
  const trans = useTrans();
  const draw = React.useContext(DrawingContext);
  const host = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    if (draw === null || host.current === null || outputs.length === 0) {
      return;
    }
    const names = new MutationObserver(() => {
      namePictures(host.current, trans.__('A picture that the cell showed'));
    });
    names.observe(host.current, { childList: true, subtree: true });
    const drawn = draw(host.current, outputs);
    return () => {
      names.disconnect();
      drawn.dispose();
    };
  }, [draw, outputs, trans]);
  if (outputs.length === 0) {
    return null;
  }
  if (draw === null) {
    return <CodeBlock text={plainText(outputs)} label={trans.__('Outputs')} />;
  }
  return <div ref={host} className="cw-outputs" />;
}

/** JupyterLab draws pictures without words for people who cannot see them. */
function namePictures(host: HTMLElement | null, name: string): void {
  for (const picture of host?.querySelectorAll('img:not([alt])') ?? []) {
    picture.setAttribute('alt', name);
  }
}

function plainText(outputs: readonly JsonObject[]): string {
  return outputs
    .map(({ text, data, ename, evalue }) => {
      const shown = isObject(data)
        ? data['text/plain']
        : (text ?? `${join(ename)}: ${join(evalue)}`);
      return join(shown);
    })
    .join('\n');
}

function join(text: unknown): string {
  return Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : '';
}
