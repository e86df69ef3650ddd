/** Formulas, typeset by KaTeX, which is loaded when the first one is there. */
import type { FormulaNode } from './nodes';

// MathML as it may be drawn: text of a typesetter, rebuilt from what is listed here.

/** An element of a formula. */
export interface MathElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (MathElement | string)[];
}

const LENGTH = /^[+-]?\d*\.?\d+(?:em|ex|px|pt|mu|%)?$/;
const LENGTHS = /^(?:[+-]?\d*\.?\d+(?:em|ex|px|pt|%)? ?)+$/;
const WORDS = /^[a-z-]+(?: [a-z-]+)*$/;
const TRUTH = /^(?:true|false)$/;
const COLOUR = /^(?:#[0-9a-fA-F]{3,8}|[a-z]{3,20})$/;
const NUMBER = /^[+-]?\d$/;

/** The attributes that stay, and what they may say. */
export const MATH_ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  accent: TRUTH,
  accentunder: TRUTH,
  columnalign: WORDS,
  columnlines: WORDS,
  columnspacing: LENGTHS,
  depth: LENGTH,
  display: WORDS,
  displaystyle: TRUTH,
  fence: TRUTH,
  height: LENGTH,
  largeop: TRUTH,
  linethickness: LENGTH,
  lspace: LENGTH,
  mathbackground: COLOUR,
  mathcolor: COLOUR,
  mathvariant: /^normal$/,
  maxsize: LENGTH,
  minsize: LENGTH,
  movablelimits: TRUTH,
  notation: WORDS,
  rowlines: WORDS,
  rowspacing: LENGTHS,
  rspace: LENGTH,
  scriptlevel: NUMBER,
  separator: TRUTH,
  stretchy: TRUTH,
  symmetric: TRUTH,
  voffset: LENGTH,
  width: LENGTH
};

export const MATH_ELEMENTS: ReadonlySet<string> = new Set(
  (
    'math mrow mi mn mo mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover ' +
    'munderover mmultiscripts mprescripts mtable mtr mtd mpadded mphantom menclose mstyle'
  ).split(' ')
);
/** Elements that only hold others. */
const TRANSPARENT = new Set(['semantics', 'merror']);
const DEPTH_LIMIT = 100;
/** How far, in em, a space may reach back over what stands before it. */
const BACKWARDS_LIMIT = 2;

/** What of some typesetter's HTML may be drawn; null when there is no formula in it. */
function readMathML(html: string): MathElement | null {
  // A document without a window: nothing in it runs or loads.
  const math = new DOMParser().parseFromString(html, 'text/html').querySelector('math');
  const [root] = math === null ? [] : rebuilt(math, 0);
  return root === undefined || typeof root === 'string' ? null : root;
}

function rebuilt(node: Node, depth: number): (MathElement | string)[] {
  if (node.nodeType === Node.TEXT_NODE) {
    return [node.nodeValue ?? ''];
  }
  if (!(node instanceof Element) || depth > DEPTH_LIMIT) {
    return [];
  }
  const children = (): (MathElement | string)[] =>
    Array.from(node.childNodes).flatMap(child => rebuilt(child, depth + 1));
  const name = node.localName;
  if (TRANSPARENT.has(name)) {
    return children();
  }
  return MATH_ELEMENTS.has(name) ? [element(node, name, children())] : [];
}

function element(
  source: Element,
  name: string,
  children: readonly (MathElement | string)[]
): MathElement {
  const attributes: Record<string, string> = {};
  for (const { name: attribute, value } of Array.from(source.attributes)) {
    if (Object.hasOwn(MATH_ATTRIBUTES, attribute) && isAllowed(attribute, value)) {
      attributes[attribute] = value;
    }
  }
  const variant = source.getAttribute('mathvariant') ?? '';
  const drawn = children.map(child =>
    typeof child === 'string' ? inAlphabet(child, variant) : child
  );
  return { name, attributes, children: drawn };
}

function isAllowed(attribute: string, value: string): boolean {
  const isKnown = MATH_ATTRIBUTES[attribute]?.test(value) === true;
  return isKnown && !(LENGTH.test(value) && parseFloat(value) < -BACKWARDS_LIMIT);
}

/** Where the letters of an alphabet begin: capital A, small a, nought; 0: it has none. */
const ALPHABETS: Readonly<Record<string, readonly [number, number, number]>> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e, 0],
  'bold-italic': [0x1d468, 0x1d482, 0],
  script: [0x1d49c, 0x1d4b6, 0],
  'bold-script': [0x1d4d0, 0x1d4ea, 0],
  fraktur: [0x1d504, 0x1d51e, 0],
  'bold-fraktur': [0x1d56c, 0x1d586, 0],
  'double-struck': [0x1d538, 0x1d552, 0x1d7d8],
  'sans-serif': [0x1d5a0, 0x1d5ba, 0x1d7e2],
  'bold-sans-serif': [0x1d5d4, 0x1d5ee, 0x1d7ec],
  'sans-serif-italic': [0x1d608, 0x1d622, 0],
  'sans-serif-bold-italic': [0x1d63c, 0x1d656, 0],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6]
};
/** Letters that Unicode had before it had the alphabets. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'italic h': 'ℎ',
  'script B': 'ℬ',
  'script E': 'ℰ',
  'script F': 'ℱ',
  'script H': 'ℋ',
  'script I': 'ℐ',
  'script L': 'ℒ',
  'script M': 'ℳ',
  'script R': 'ℛ',
  'script e': 'ℯ',
  'script g': 'ℊ',
  'script o': 'ℴ',
  'fraktur C': 'ℭ',
  'fraktur H': 'ℌ',
  'fraktur I': 'ℑ',
  'fraktur R': 'ℜ',
  'fraktur Z': 'ℨ',
  'double-struck C': 'ℂ',
  'double-struck H': 'ℍ',
  'double-struck N': 'ℕ',
  'double-struck P': 'ℙ',
  'double-struck Q': 'ℚ',
  'double-struck R': 'ℝ',
  'double-struck Z': 'ℤ'
};

/** The text in the letters of an alphabet: browsers know no other way to draw them. */
function inAlphabet(text: string, variant: string): string {
  const starts = ALPHABETS[variant];
  if (starts === undefined) {
    return text;
  }
  return text.replace(/[A-Za-z0-9]/g, sign => {
    const known = ELSEWHERE[`${variant} ${sign}`];
    const [kind, first] = /[A-Z]/.test(sign) ? [0, 'A'] : /[a-z]/.test(sign) ? [1, 'a'] : [2, '0'];
    const start = starts[kind] ?? 0;
    const code = start + sign.charCodeAt(0) - first.charCodeAt(0);
    return known ?? (start === 0 ? sign : String.fromCodePoint(code));
  });
}

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
