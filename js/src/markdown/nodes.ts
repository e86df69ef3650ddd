/** Model text as a tree: nothing but this can be drawn. */

export type Align = 'left' | 'center' | 'right' | null;

export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
}

/** A line break. */
interface BreakNode {
  readonly kind: 'break';
}

interface MarkedNode {
  readonly kind: 'marked';
  readonly mark: 'strong' | 'em' | 'del';
  readonly children: readonly Inline[];
}

interface CodeNode {
  readonly kind: 'code';
  readonly text: string;
}

export interface LinkNode {
  readonly kind: 'link';
  readonly href: string;
  /** The host in ASCII; empty when the text says it already. */
  readonly host: string;
  readonly children: readonly Inline[];
}

/** A picture that holds its own bytes. */
export interface PictureNode {
  readonly kind: 'picture';
  readonly source: string;
  readonly alt: string;
}

/** A picture that is not loaded. */
export interface BlockedPictureNode {
  readonly kind: 'blocked_picture';
  readonly address: string;
  /** Where it would have come from; empty: a file. */
  readonly host: string;
  readonly alt: string;
}

export interface FormulaNode {
  readonly kind: 'formula';
  /** TeX without macros that act. */
  readonly source: string;
  /** On lines of its own. */
  readonly isDisplay: boolean;
}

export type Inline =
  | TextNode
  | BreakNode
  | MarkedNode
  | CodeNode
  | LinkNode
  | PictureNode
  | BlockedPictureNode
  | FormulaNode;

export interface ParagraphNode {
  readonly kind: 'paragraph';
  /** In a list whose items are not set apart. */
  readonly isTight: boolean;
  readonly children: readonly Inline[];
}

export interface HeadingNode {
  readonly kind: 'heading';
  readonly level: number;
  readonly children: readonly Inline[];
}

interface QuoteNode {
  readonly kind: 'quote';
  readonly blocks: readonly MarkdownBlock[];
}

export interface ItemNode {
  readonly kind: 'item';
  /** Whether a task is done; null: no task. */
  readonly isDone: boolean | null;
  readonly blocks: readonly MarkdownBlock[];
}

export interface ListNode {
  readonly kind: 'list';
  /** The first number; null: bullets. */
  readonly start: number | null;
  readonly items: readonly ItemNode[];
}

export interface RowNode {
  readonly kind: 'row';
  readonly cells: readonly (readonly Inline[])[];
}

export interface TableNode {
  readonly kind: 'table';
  readonly align: readonly Align[];
  readonly header: RowNode;
  readonly rows: readonly RowNode[];
}

export interface CodeBlockNode {
  readonly kind: 'code_block';
  /** What the text calls it; empty: nothing. */
  readonly language: string;
  readonly code: string;
  /** More of it may come. */
  readonly isOpen: boolean;
}

interface RuleNode {
  readonly kind: 'rule';
}

/** Text shown as it is, because it is too long to look into. */
interface PlainNode {
  readonly kind: 'plain';
  readonly children: readonly (TextNode | PictureNode)[];
}

export type MarkdownBlock =
  | ParagraphNode
  | HeadingNode
  | QuoteNode
  | ListNode
  | TableNode
  | CodeBlockNode
  | FormulaNode
  | RuleNode
  | PlainNode;
