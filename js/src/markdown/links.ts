/**
 * Addresses that model text may show: only schemes that open on a click, spelled in plain ASCII.
 * The same verdicts as `cellwright/text/cleaning.py`.
 */
// Character references; those with names that HTML does not know stay as they were written.

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,31}));/g;
const REMEMBERED = 500;
const namedBefore = new Map<string, string>();
const LAST_CODE_POINT = 0x10ffff;

/** The text with the signs that its references stand for. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) {
    return text;
  }
  return text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) {
      return named(whole);
    }
    return character(decimal === undefined ? parseInt(hex ?? '', 16) : parseInt(decimal, 10));
  });
}

/** The browser knows all names; it is given nothing but one reference, after a letter. */
function named(reference: string): string {
  let signs = namedBefore.get(reference);
  if (signs === undefined) {
    const page = new DOMParser().parseFromString(`a${reference}`, 'text/html');
    const read = page.body.textContent.slice(1);
    // "&copyright;" begins with a name that needs no semicolon
    signs = read.length > 2 && read.endsWith(';') ? reference : read;
    if (namedBefore.size >= REMEMBERED) {
      namedBefore.clear();
    }
    namedBefore.set(reference, signs);
  }
  return signs;
}

function character(code: number): string {
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || code > LAST_CODE_POINT || isHalf ? '\ufffd' : String.fromCodePoint(code);
}

/** An address that can be shown and clicked. */
interface SafeLink {
  /** Only ASCII. */
  readonly href: string;
  /** The host as it is looked up, so that a look-alike letter shows. */
  readonly host: string;
}

const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.?$/;
const MAIL = /^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+$/;
const INVISIBLE =
  /[\x00-\x20\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;
const WEB = /^https?:\/\//i;
const URL_LIMIT = 2000;
const NAMED_SCHEMES = ['data', 'javascript', 'file'];

export const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
/** The same inside a line, as a Markdown picture. */
export const EMBEDDED =
  /!\[\w*\]\((data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2})\)/g;

/**
 * The address made plain, or null when it must not be a link.
 *
 * Web addresses and plain mail addresses pass. Everything else (`javascript:`, `data:`, `file:`,
 * paths) does not: a path would open something on the person's own server.
 */
export function safeLink(address: string): SafeLink | null {
  const cleaned = visible(decodeEntities(address));
  if (cleaned.length > URL_LIMIT) {
    return null;
  }
  if (/^mailto:/i.test(cleaned)) {
    const mailbox = cleaned.slice('mailto:'.length);
    return MAIL.test(mailbox) ? { href: `mailto:${mailbox}`, host: mailbox } : null;
  }
  return WEB.test(cleaned) ? webLink(cleaned) : null;
}

/** Where an address leads, in ASCII letters; empty for a path. */
export function hostOf(address: string): string {
  const link = safeLink(address);
  if (link !== null) {
    return link.host;
  }
  const scheme = visible(decodeEntities(address)).split(':', 1)[0]?.toLowerCase() ?? '';
  return NAMED_SCHEMES.includes(scheme) ? scheme : '';
}

/** Whether a text shows by itself where the link leads. */
export function saysHost(text: string, host: string): boolean {
  const shown = text.trim().replace(/^(?:https?:\/\/|mailto:)/i, '');
  const following = shown.charAt(host.length);
  return shown.startsWith(host) && (following === '' || '/?#:'.includes(following));
}

/** The text without signs that nobody sees. */
function visible(text: string): string {
  return text.replace(INVISIBLE, '');
}

function webLink(address: string): SafeLink | null {
  let url: URL;
  try {
    url = new URL(address);
    // A name or password before the host only serves to mislead.
    url.username = '';
    url.password = '';
  } catch {
    return null;
  }
  const host = url.hostname;
  return HOST.test(host) && !host.includes('..') ? { href: url.href, host } : null;
}
