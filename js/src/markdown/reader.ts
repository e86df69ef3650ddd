/** Text that grows, read so that what is settled is not looked at again. */
import type { Token } from 'marked';

import { BlockReader } from './blocks';
import { textAndPictures } from './inlines';
import { isPart, lexBlocks } from './lexer';
import type { MarkdownBlock } from './nodes';
import { isSuspect, plainText } from './plain_text';
import { finished } from './unfinished';

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
