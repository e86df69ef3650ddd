/** What stands in a line, from marked's tokens. */
import type { Token, Tokens } from 'marked';

import { decodeEntities } from './entities';
import type { FormulaToken } from './formulas';
import type { InlineLexer } from './lexer';
import { EMBEDDED, hostOf, PICTURE, safeLink, saysHost } from './links';
import type { Inline, PictureNode, TextNode } from './nodes';

/** A longer one is not looked into; pictures in it are kept. */
const RUN_LIMIT = 20_000;
/** Nothing that is so short takes long. */
const SHORT_RUN = 500;
const EFFORT_LIMIT = 500_000;
const SIGNS = /[\\<![\]`*~_$@]/g;
const LINE_BREAK = /<br\s*\/?>/i;
const SHOWN_ADDRESS = 2000;

/** The lines as nodes. */
export function readInlines(text: string, lexer: InlineLexer): Inline[] {
  return isTooMuch(text) ? textAndPictures(text) : merged(lexer.lex(text).flatMap(inline));
}

/** Whether reading it would take long: for each sign the rest of its word is looked through. */
function isTooMuch(text: string): boolean {
  if (text.length > RUN_LIMIT) {
    return true;
  }
  let effort = 0;
  for (const word of text.length > SHORT_RUN ? text.split(/\s+/) : []) {
    effort += word.length * (word.match(SIGNS)?.length ?? 0);
  }
  return effort > EFFORT_LIMIT;
}

/** Long text as it is, with the pictures that it holds. */
export function textAndPictures(text: string): (TextNode | PictureNode)[] {
  return text
    .split(EMBEDDED)
    .map((part, index): TextNode | PictureNode =>
      index % 2 === 0 ? { kind: 'text', text: part } : { kind: 'picture', source: part, alt: '' }
    )
    .filter(node => node.kind === 'picture' || node.text !== '');
}

/** The words in some nodes. */
export function wordsOf(nodes: readonly Inline[]): string {
  return nodes.map(words).join('');
}

function words(node: Inline): string {
  switch (node.kind) {
    case 'text':
    case 'code':
      return node.text;
    case 'formula':
      return node.source;
    case 'break':
      return '\n';
    case 'picture':
    case 'blocked_picture':
      return node.alt;
    case 'marked':
    case 'link':
      return wordsOf(node.children);
    default:
      return node satisfies never;
  }
}

function inline(token: Token): Inline[] {
  switch (token.type) {
    case 'escape':
      return [{ kind: 'text', text: (token as Tokens.Escape).text }];
    case 'strong':
    case 'em':
    case 'del':
      return [{ kind: 'marked', mark: token.type, children: children(token) }];
    case 'codespan':
      return [{ kind: 'code', text: (token as Tokens.Codespan).text }];
    case 'br':
      return [{ kind: 'break' }];
    case 'link':
      return link(token as Tokens.Link);
    case 'image':
      return [picture(token as Tokens.Image)];
    case 'formula':
      return [formulaNode(token as FormulaToken)];
    default:
      return textWithBreaks(token.raw);
  }
}

export function formulaNode({ source, isDisplay }: FormulaToken): Inline & { kind: 'formula' } {
  return { kind: 'formula', source, isDisplay };
}

function children(token: { readonly tokens?: Token[] }): Inline[] {
  return merged((token.tokens ?? []).flatMap(inline));
}

function textWithBreaks(raw: string): Inline[] {
  if (!raw.includes('<')) {
    return [{ kind: 'text', text: decodeEntities(raw) }];
  }
  return raw
    .split(LINE_BREAK)
    .flatMap((part, index): Inline[] => [
      ...(index > 0 ? [{ kind: 'break' } as const] : []),
      { kind: 'text', text: decodeEntities(part) }
    ]);
}

function link(token: Tokens.Link): Inline[] {
  const inside = children(token);
  const safe = safeLink(token.href);
  if (safe === null) {
    return inside;
  }
  const shown = wordsOf(inside).trim() === '' && !inside.some(isPicture);
  const nodes: Inline[] = shown ? [{ kind: 'text', text: safe.host }] : inside;
  const host = saysHost(wordsOf(nodes), safe.host) ? '' : safe.host;
  return [{ kind: 'link', href: safe.href, host, children: nodes }];
}

function isPicture(node: Inline): boolean {
  return node.kind === 'picture' || node.kind === 'blocked_picture';
}

function picture(token: Tokens.Image): Inline {
  const alt = decodeEntities(token.text).trim();
  if (PICTURE.test(token.href)) {
    return { kind: 'picture', source: token.href, alt };
  }
  const address = decodeEntities(token.href).slice(0, SHOWN_ADDRESS);
  return { kind: 'blocked_picture', address, host: hostOf(token.href), alt };
}

/** Neighbouring texts as one. */
function merged(nodes: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const node of nodes) {
    const last = result.at(-1);
    if (node.kind === 'text' && last?.kind === 'text') {
      result[result.length - 1] = { kind: 'text', text: last.text + node.text };
    } else if (node.kind !== 'text' || node.text !== '') {
      result.push(node);
    }
  }
  return result;
}
