import type { Block, ToolCard } from '../models/types';

const LEAST_IN_GROUP = 3;
const SETTLED = new Set<ToolCard['status']>(['ok', 'error', 'refused', 'cancelled']);

/** A block on its own, or settled calls that stand together. */
export type Piece =
  | { readonly kind: 'block'; readonly key: string; readonly block: Block }
  | { readonly kind: 'group'; readonly key: string; readonly cards: readonly ToolCard[] };

/**
 * Fold rows of settled calls into groups.
 *
 * The last row of a turn that still runs stays open: it is what the person watches. So does a
 * call that says something to the person.
 */
export function groupBlocks(blocks: readonly Block[], isRunning: boolean): readonly Piece[] {
  const pieces: Piece[] = [];
  let row: ToolCard[] = [];
  const flush = (mayFold: boolean): void => {
    const first = row[0];
    if (first !== undefined && mayFold && row.length >= LEAST_IN_GROUP) {
      pieces.push({ kind: 'group', key: `group:${first.callId}`, cards: row });
    } else {
      pieces.push(...row.map(asPiece));
    }
    row = [];
  };
  blocks.forEach((block, index) => {
    if (block.kind === 'tool' && SETTLED.has(block.status) && block.contents.length === 0) {
      row.push(block);
      return;
    }
    flush(true);
    pieces.push(block.kind === 'tool' ? asPiece(block) : alone(block, index));
  });
  flush(!isRunning);
  return pieces;
}

function asPiece(card: ToolCard): Piece {
  return { kind: 'block', key: `call:${card.callId}`, block: card };
}

function alone(block: Block, index: number): Piece {
  return { kind: 'block', key: `${block.kind}:${String(index)}`, block };
}
