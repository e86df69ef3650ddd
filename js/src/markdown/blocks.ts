/** Blocks from marked's tokens; what has not changed keeps its identity. */
import type { Token, Tokens } from 'marked';

import type { FormulaToken } from './formulas';
import { formulaNode, readInlines, textAndPictures } from './inlines';
import { InlineLexer } from './lexer';
import type { MarkdownBlock, Inline, ItemNode, ParagraphNode, RowNode } from './nodes';

/** A longer block is plain text, and code as long as that is not coloured. */
export const BLOCK_LIMIT = 50_000;
const HEADING_OFFSET = 2;
const LOWEST_HEADING = 6;
const LANGUAGE = /^[\w+#.-]{1,20}$/;
const CLOSED_FENCE = /\n[ \t]*(?:`{3,}|~{3,})[ \t]*\n*$/;

/** Turns tokens into nodes and remembers those of the last two times. */
export class BlockReader {
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
