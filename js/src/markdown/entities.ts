/** Character references; those with other names stay as they were written. */

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  trade: '™',
  deg: '°',
  plusmn: '±',
  micro: 'µ',
  middot: '·',
  times: '×',
  divide: '÷',
  frac12: '½',
  laquo: '«',
  raquo: '»',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  bull: '•',
  hellip: '…',
  euro: '€',
  larr: '←',
  uarr: '↑',
  rarr: '→',
  darr: '↓',
  harr: '↔',
  rArr: '⇒',
  hArr: '⇔',
  sum: '∑',
  minus: '−',
  radic: '√',
  infin: '∞',
  asymp: '≈',
  ne: '≠',
  le: '≤',
  ge: '≥',
  alpha: 'α',
  beta: 'β',
  gamma: 'γ',
  delta: 'δ',
  epsilon: 'ε',
  theta: 'θ',
  lambda: 'λ',
  mu: 'μ',
  pi: 'π',
  rho: 'ρ',
  sigma: 'σ',
  tau: 'τ',
  phi: 'φ',
  chi: 'χ',
  omega: 'ω',
  Delta: 'Δ',
  Sigma: 'Σ',
  Omega: 'Ω',
  colon: ':',
  Tab: '\t',
  NewLine: '\n'
};
const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));/g;
const LAST_CODE_POINT = 0x10ffff;

/** The text with the signs that its references stand for. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) {
    return text;
  }
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) {
      return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    }
    return character(decimal === undefined ? parseInt(hex ?? '', 16) : parseInt(decimal, 10));
  });
}

function character(code: number): string {
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || code > LAST_CODE_POINT || isHalf ? '\ufffd' : String.fromCodePoint(code);
}
