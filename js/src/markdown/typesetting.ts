/** Formulas, typeset by KaTeX, which is loaded when the first one is there. */
import type { FormulaNode } from './nodes';
import type { MathElement } from './mathml';
import { readMathML } from './mathml';

type Katex = typeof import('katex').default;

const SOURCE_LIMIT = 2000;
const REMEMBERED = 300;

let katex: Katex | null = null;
let loading: Promise<void> | null = null;
const typesetBefore = new Map<string, MathElement | null>();

/** Whether formulas can be typeset now. */
export function isTypesetterLoaded(): boolean {
  return katex !== null;
}

/** Load what typesets formulas. */
export function loadTypesetter(): Promise<void> {
  loading ??= import('katex').then(
    loaded => {
      katex = loaded.default;
    },
    (error: unknown) => {
      loading = null; // the next formula tries again
      throw error;
    }
  );
  return loading;
}

/** The formula as elements; null when it is no good TeX, or the typesetter is not there. */
export function typeset({ source, isDisplay }: FormulaNode): MathElement | null {
  if (katex === null || source.length > SOURCE_LIMIT) {
    return null;
  }
  const key = `${String(isDisplay)} ${source}`;
  let result = typesetBefore.get(key);
  if (result === undefined) {
    result = newlyTypeset(katex, source, isDisplay);
    if (typesetBefore.size >= REMEMBERED) {
      typesetBefore.clear();
    }
    typesetBefore.set(key, result);
  }
  return result;
}

function newlyTypeset(typesetter: Katex, source: string, isDisplay: boolean): MathElement | null {
  try {
    return readMathML(
      typesetter.renderToString(source, {
        displayMode: isDisplay,
        output: 'mathml',
        trust: false,
        strict: 'ignore',
        throwOnError: false,
        maxSize: 20,
        maxExpand: 300,
        macros: {}
      })
    );
  } catch {
    // Whatever KaTeX trips over, the person sees the source.
    return null;
  }
}
