/**
 * Whether a browser would load something, unasked, to draw a Markdown cell: the mirror of
 * `cellwright/text/browser_loads.py`, which has the reasons and asks the person with the addresses.
 */

/** At the start of a line, between empty ones; in no language that an extension draws (mermaid). */
const FENCED_CODE =
  /(?:^|(?<=\n\n))(```|~~~)(?:bash|c|console|cpp|css|diff|go|html|ini|java|javascript|js|json|julia|markdown|md|py|python|r|ruby|rust|sh|shell|sql|text|toml|ts|txt|typescript|xml|yaml)? *\n(?:(?!```|~~~)[^])*(?<=\n)\1 *(?=\n\n|\n?$)/g;
/** Begins what goes on over empty lines, for one renderer or another, and may take in a fence. */
const SPANS_LINES =
  /^(?:---|\+\+\+)|```|~~~|:::|\$\$|@@|<[A-Za-z!?/]|\\begin|\\\\?[[(]|\[(?![^[\]\n]*\](?:[( \n]|$))|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]/;
/** A path below the notebook's own server, or a picture that came along. */
const LOCAL = /^(?:attachment:|(?!\/\/))[\p{L}\p{N}_.~%+@,()'=#?/ -]*$/u;
const PICTURE_DATA = /^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/=]*$/;
/** A link that no renderer can take for a picture. */
const PLAIN_LINK = /(?<![!\\\]])\[[^[\]\\`$<>!]*\]\([^()\s<>\\]*\)/g;
const DESTINATION = /\]\(\s*(?:<([^<>\n]*)>|([^\s<>]*))/g;
const DEFINITION = /\]:\s*(?:<([^<>\n]*)>|([^\s<>]+))/g;
const TAG_START = /<(?=[A-Za-z])/g;
const TAG_NAME = /^<([^\s/>]{1,20})/;
const TAG_CHARACTERS = 2_000;
/** These count even without attributes. */
const ACTIVE_TAGS =
  /^(?:applet|audio|base|bgsound|body|button|embed|form|frame|frameset|head|html|iframe|image|input|link|math|meta|noscript|object|picture|portal|script|source|style|svg|template|track|video|xml)$/;
const LOADING_TAGS = /^(?:img|table|tbody|td|tfoot|th|thead|tr)$/;
const LOADING_ATTRIBUTE =
  /[\s"'/](src|srcset|lowsrc|background|poster|data|action|formaction|ping|xlink:href|style|on\w+|data-[\w-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]*)/gi;
const STYLE = /^(?![^]*(?:url|image|src))[\p{L}\p{N}_\s:;#%.,()!-]*$/iu;
const STYLE_ADDRESS = /url\s*\(\s*["']?([^"')]*)|@import\s*["']([^"']*)/gi;
const WEB_ADDRESS = /(?:https?:)?\/\/[^\s<>"'`)\]}]+/i;
/** Formulas that may carry pictures and styles. */
export const ACTIVE_MATH = /\\(?:style|includegraphics|require|mmlToken|html[A-Z]\w*)\b/;

/** Whether drawing this Markdown would fetch something from elsewhere, or may. */
export function loadsFromElsewhere(markdown: string): boolean {
  const text = withoutCode(markdown);
  return hasFarPicture(text) || hasLoadingTag(text) || hasFarDrawing(text);
}

/** The text without its fenced code; all of it where a renderer may see the fences otherwise. */
function withoutCode(markdown: string): string {
  const text = markdown.replace(FENCED_CODE, '');
  return SPANS_LINES.test(text) ? markdown : text;
}

function isLocal(address: string): boolean {
  const plain = address.trim();
  return plain.startsWith('data:') ? PICTURE_DATA.test(plain) : LOCAL.test(plain);
}

function hasFarPicture(text: string): boolean {
  if (!text.includes('![')) {
    return false;
  }
  const rest = text.replace(PLAIN_LINK, '');
  const inline = [...rest.matchAll(DESTINATION)].map(found => found[1] ?? closed(found[2] ?? ''));
  const defined = [...rest.matchAll(DEFINITION)].map(found => found[1] ?? found[2] ?? '');
  return [...inline, ...defined].some(address => !isLocal(address));
}

/** An address up to the bracket that ends it. */
function closed(address: string): string {
  let depth = 0;
  for (let at = 0; at < address.length; at++) {
    depth += address[at] === '(' ? 1 : address[at] === ')' ? -1 : 0;
    if (depth < 0) {
      return address.slice(0, at);
    }
  }
  return address;
}

function hasLoadingTag(text: string): boolean {
  const starts = [...text.matchAll(TAG_START)].map(found => found.index);
  if (starts.some(at => loads(text.slice(at, at + TAG_CHARACTERS)))) {
    return true;
  }
  return (starts.length > 0 || ACTIVE_MATH.test(text)) && hasFarStyle(text);
}

/** A tag without the sign that ends it; all of the piece where its end is not clear. */
function wholeTag(piece: string): string {
  const [tag = ''] = piece.split('>', 1);
  const isOpen = ['"', "'"].some(quote => tag.split(quote).length % 2 === 0);
  return isOpen ? piece : tag;
}

function loads(piece: string): boolean {
  const tag = wholeTag(piece);
  const name = (TAG_NAME.exec(tag)?.[1] ?? '').toLowerCase();
  if (ACTIVE_TAGS.test(name)) {
    return true;
  }
  if (tag.length === TAG_CHARACTERS) {
    return LOADING_TAGS.test(name); // its end is not known
  }
  return [...tag.matchAll(LOADING_ATTRIBUTE)].some(
    ([, attribute = '', quoted = '']) => !isHarmless(attribute.toLowerCase(), quoted)
  );
}

function isHarmless(attribute: string, quoted: string): boolean {
  const value = quoted.replace(/^["']+|["']+$/g, '');
  return attribute === 'src' ? isLocal(value) : attribute === 'style' && STYLE.test(value);
}

function hasFarStyle(text: string): boolean {
  return [...text.matchAll(STYLE_ADDRESS)].some(found => !isLocal(found[1] ?? found[2] ?? ''));
}

/** Drawings and formulas may have pictures and styles of their own. */
function hasFarDrawing(text: string): boolean {
  const mayDraw = text.toLowerCase().includes('mermaid') || ACTIVE_MATH.test(text);
  return mayDraw && WEB_ADDRESS.test(text);
}
