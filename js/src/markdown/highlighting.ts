/** Colours for code, taken from JupyterLab's editor, drawn by React. */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import * as React from 'react';

/** Writes coloured code into an element. */
export type Highlight = (code: string, language: string, element: HTMLElement) => Promise<void>;

/** How code is coloured below here, unless `Markdown` is told otherwise. */
export const HighlightContext = React.createContext<Highlight | null>(null);

/** A piece of code and the classes that colour it. */
export interface CodePiece {
  readonly text: string;
  readonly className: string;
}

const CLASSES = /^[\w\u0370-\u03ff -]{1,200}$/;
const LENGTH_LIMIT = 30_000;

/** Colours from JupyterLab's languages. */
export function highlightWith(languages: IEditorLanguageRegistry): Highlight {
  return (code, language, element) =>
    languages.highlight(code, languages.findBest(language), element);
}

let last: Promise<unknown> = Promise.resolve();

/** The code in coloured pieces, when it is its turn; null when it stays plain. */
function highlighted(
  code: string,
  language: string,
  highlight: Highlight
): Promise<readonly CodePiece[] | null> {
  if (language === '' || code.length > LENGTH_LIMIT) {
    return Promise.resolve(null);
  }
  // One block at a time, with room between them for the page to answer the person.
  const result = last.then(nextTask).then(() => pieces(code, language, highlight));
  last = result;
  return result;
}

function nextTask(): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve);
  });
}

async function pieces(
  code: string,
  language: string,
  highlight: Highlight
): Promise<readonly CodePiece[] | null> {
  const element = document.createElement('code');
  try {
    await highlight(code, language, element);
  } catch {
    return null; // a language that cannot be loaded
  }
  const found = Array.from(element.childNodes, node => ({
    text: node.textContent ?? '',
    className: node instanceof Element && CLASSES.test(node.className) ? node.className : ''
  }));
  return found.map(piece => piece.text).join('') === code ? found : null;
}

/** Code in coloured pieces; null while there are none, or without a `highlight`. */
export function useHighlighted(
  code: string,
  language: string,
  highlight: Highlight | null
): readonly CodePiece[] | null {
  const [found, setFound] = React.useState<readonly CodePiece[] | null>(null);
  React.useEffect(() => {
    setFound(null);
    if (highlight === null || language === '') {
      return;
    }
    let isOver = false;
    void highlighted(code, language, highlight).then(coloured => {
      if (!isOver) {
        setFound(coloured);
      }
    });
    return () => {
      isOver = true;
    };
  }, [code, language, highlight]);
  return found;
}
