/** Text that grows, read so that what is settled is not looked at again. */
import type { Token, Tokens } from 'marked';

import { type FormulaToken, InlineLexer, isPart, lexBlocks } from './lexer';
import { decodeEntities, EMBEDDED, hostOf, PICTURE, safeLink, saysHost } from './links';
import type {
  Inline,
  ItemNode,
  MarkdownBlock,
  ParagraphNode,
  PictureNode,
  RowNode,
  TextNode
} from './nodes';
import { isSuspect, plainText } from './plain_text';
import { finished } from './unfinished';

// What stands in a line, from marked's tokens.

/** A longer one is not looked into; pictures in it are kept. */
const RUN_LIMIT = 20_000;
/** Nothing that is so short takes long. */
const SHORT_RUN = 500;
const EFFORT_LIMIT = 500_000;
const SIGNS = /[\\<![\]`*~_$@]/g;
const LINE_BREAK = /<br\s*\/?>/i;
const SHOWN_ADDRESS = 2000;

/** The lines as nodes. */
function readInlines(text: string, lexer: InlineLexer): Inline[] {
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
function textAndPictures(text: string): (TextNode | PictureNode)[] {
  return text
    .split(EMBEDDED)
    .map((part, index): TextNode | PictureNode =>
      index % 2 === 0 ? { kind: 'text', text: part } : { kind: 'picture', source: part, alt: '' }
    )
    .filter(node => node.kind === 'picture' || node.text !== '');
}

/** The words in some nodes. */
function wordsOf(nodes: readonly Inline[]): string {
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

function formulaNode({ source, isDisplay }: FormulaToken): Inline & { kind: 'formula' } {
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

// Blocks from marked's tokens; what has not changed keeps its identity.

/** A longer block is plain text, and code as long as that is not coloured. */
const BLOCK_LIMIT = 50_000;
const HEADING_OFFSET = 2;
const LOWEST_HEADING = 6;
const LANGUAGE = /^[\w+#.-]{1,20}$/;
const CLOSED_FENCE = /\n[ \t]*(?:`{3,}|~{3,})[ \t]*\n*$/;

/** Turns tokens into nodes and remembers those of the last two times. */
class BlockReader {
  /** The nodes of some tokens; `isOpen` says that the last one may go on. */
  read(tokens: readonly Token[], isOpen: boolean): MarkdownBlock[] {
    this._older = this._newer;
    this._newer = new Map();
    const drawn = tokens.filter(isDrawn);
    const last = drawn.at(-1);
    return drawn.map(token => this._top(token, isOpen && token === last));
  }

  /** Let go of what was read. */
  forget(): void {
    this._newer = new Map();
    this._older = this._newer;
  }

  private _top(token: Token, isOpen: boolean): MarkdownBlock {
    this._lexer = new InlineLexer();
    const isCode = token.type === 'code';
    if (token.raw.length > BLOCK_LIMIT && !isCode) {
      return this._kept(`plain ${token.raw}`, () => ({
        kind: 'plain',
        children: textAndPictures(token.raw)
      }));
    }
    return this._block(token, isOpen);
  }

  private _block(token: Token, isOpen: boolean): MarkdownBlock {
    // marked makes paragraphs of the same lines in two ways, which differ in blanks
    const { type, raw } = token;
    const source = type === 'paragraph' ? (token as Tokens.Paragraph).text : raw;
    return this._kept(`${type} ${String(isOpen)} ${source}`, () => this._newBlock(token, isOpen));
  }

  private _newBlock(token: Token, isOpen: boolean): MarkdownBlock {
    switch (token.type) {
      case 'heading':
        return this._heading(token as Tokens.Heading);
      case 'code':
        return codeBlock(token as Tokens.Code, isOpen);
      case 'hr':
        return { kind: 'rule' };
      case 'blockquote':
        return {
          kind: 'quote',
          blocks: this._inside(token.tokens ?? [], isOpen)
        };
      case 'list':
        return this._list(token as Tokens.List, isOpen);
      case 'table':
        return this._table(token as Tokens.Table);
      case 'formula':
        return formulaNode(token as FormulaToken);
      default:
        return this._paragraph(token);
    }
  }

  private _inside(tokens: readonly Token[], isOpen: boolean): MarkdownBlock[] {
    const drawn = tokens.filter(isDrawn);
    const last = drawn.at(-1);
    return drawn.map(token => this._block(token, isOpen && token === last));
  }

  private _heading(token: Tokens.Heading): MarkdownBlock {
    const level = Math.min(LOWEST_HEADING, token.depth + HEADING_OFFSET);
    return { kind: 'heading', level, children: this._inlines(token.text) };
  }

  private _paragraph(token: { type: string; text?: string; raw: string }): ParagraphNode {
    return {
      kind: 'paragraph',
      isTight: token.type !== 'paragraph',
      children: this._inlines(token.text ?? token.raw)
    };
  }

  private _list(token: Tokens.List, isOpen: boolean): MarkdownBlock {
    const last = token.items.at(-1);
    const items = token.items.map(item => this._item(item, isOpen && item === last));
    return { kind: 'list', start: token.ordered ? Number(token.start) : null, items };
  }

  private _item(item: Tokens.ListItem, isOpen: boolean): ItemNode {
    const key = `item ${String(item.loose)} ${String(isOpen)} ${item.raw}`;
    return this._kept(key, () => ({
      kind: 'item',
      isDone: item.task ? item.checked === true : null,
      blocks: this._inside(item.task ? withoutBox(item.tokens) : item.tokens, isOpen)
    }));
  }

  private _table(token: Tokens.Table): MarkdownBlock {
    return {
      kind: 'table',
      align: token.align,
      header: this._row(token.header),
      rows: token.rows.map(row => this._row(row))
    };
  }

  private _row(cells: readonly Tokens.TableCell[]): RowNode {
    const key = `row ${cells.map(cell => cell.text).join('\n')}`;
    return this._kept(key, () => ({
      kind: 'row',
      cells: cells.map(cell => this._inlines(cell.text))
    }));
  }

  private _inlines(text: string): readonly Inline[] {
    return readInlines(text, this._lexer);
  }

  /** The node of last time for the same text, or a new one. */
  private _kept<T extends object>(key: string, make: () => T): T {
    const known = (this._newer.get(key) ?? this._older.get(key)) as T | undefined;
    const node = known ?? make();
    this._newer.set(key, node);
    return node;
  }

  private _lexer = new InlineLexer();
  private _newer = new Map<string, object>();
  private _older = new Map<string, object>();
}

function isDrawn(token: Token): boolean {
  return token.type !== 'space' && token.type !== 'checkbox';
}

/** marked puts the box of a task into the text of its first paragraph, when items are set apart. */
function withoutBox(tokens: readonly Token[]): readonly Token[] {
  const [first, ...rest] = tokens;
  if (first?.type !== 'paragraph') {
    return tokens;
  }
  const text = (first as Tokens.Paragraph).text.replace(/^\[[ xX]\] */, '');
  return text === '' ? rest : [{ ...first, raw: text, text }, ...rest];
}

function codeBlock(token: Tokens.Code, isOpen: boolean): MarkdownBlock {
  const isFenced = token.codeBlockStyle !== 'indented';
  const named = (token.lang ?? '').replace(/[{}]/g, ' ').trim().split(/\s+/, 1)[0] ?? '';
  const language = named.replace(/^\./, '');
  return {
    kind: 'code_block',
    language: LANGUAGE.test(language) ? language : '',
    code: token.text,
    isOpen: isOpen && !(isFenced && CLOSED_FENCE.test(token.raw))
  };
}

/**
 * How many blocks at the end may still change: a list goes on after a paragraph that turns out to
 * be its next item.
 */
const OPEN_BLOCKS = 2;
const BLANK_LINE = /\n[ \t]*\n$/;

/** Reads one text as it grows; another text may come at any time. */
export class MarkdownReader {
  /** The blocks of the text; those that did not change are the same objects as last time. */
  read(text: string, isStreaming: boolean): readonly MarkdownBlock[] {
    const plain = this._plain(text);
    if (!plain.startsWith(this._settledText)) {
      this._settledText = '';
      this._settled = [];
    }
    const rest = plain.slice(this._settledText.length);
    const tokens = lexed(isStreaming ? finished(rest) : rest);
    if (tokens === null) {
      return [...this._settled, { kind: 'plain', children: textAndPictures(rest) }];
    }
    return this._joined(plain, tokens, isStreaming);
  }

  private _joined(plain: string, tokens: readonly Token[], isStreaming: boolean): MarkdownBlock[] {
    const blocks = this._reader.read(tokens, isStreaming);
    const all = [...this._settled, ...blocks];
    if (!isStreaming) {
      this._reader.forget();
      return all;
    }
    const boundary = settledBefore(tokens);
    const settledText = this._settledText + rawOf(tokens.slice(0, boundary));
    // marked joins some lines with a line end that is not in the text
    if (boundary > 0 && plain.startsWith(settledText)) {
      this._settledText = settledText;
      this._settled = all.slice(0, all.length - tokens.slice(boundary).filter(isBlock).length);
    }
    return all;
  }

  /** The text without what must not be shown; only new text is looked through. */
  private _plain(text: string): string {
    const isContinued = this._clean !== '' && text.startsWith(this._clean);
    if (isSuspect(text, isContinued ? this._clean.length : 0)) {
      return plainText(text);
    }
    this._clean = text;
    return text;
  }

  private readonly _reader = new BlockReader();
  private _clean = '';
  private _settledText = '';
  private _settled: readonly MarkdownBlock[] = [];
}

/** How many of the tokens nothing that follows can change. */
function settledBefore(tokens: readonly Token[]): number {
  const blocks = tokens.flatMap((token, index) => (isBlock(token) ? [index] : []));
  const boundaries = blocks.slice(0, 1 - OPEN_BLOCKS).filter(index => isEnded(tokens[index - 1]));
  return boundaries.at(-1) ?? 0;
}

/** Whether a block is one of its own: without a blank line after it, two may become one. */
function isEnded(token: Token | undefined): boolean {
  if (token === undefined) {
    return false;
  }
  const isHeading = token.type === 'heading' && /^ {0,3}#.*\n$/.test(token.raw);
  return BLANK_LINE.test(token.raw) || isHeading || isPart(token);
}

function isBlock(token: Token): boolean {
  return token.type !== 'space';
}

function rawOf(tokens: readonly Token[]): string {
  return tokens.map(token => token.raw).join('');
}

/** The tokens; null when the text is made to exhaust the lexer. */
function lexed(text: string): Token[] | null {
  try {
    return lexBlocks(text);
  } catch (error) {
    if (error instanceof RangeError) {
      return null;
    }
    throw error;
  }
}
