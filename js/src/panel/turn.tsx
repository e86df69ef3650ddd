import * as React from 'react';

import type { Block, Compaction, ReasoningBlock, ToolCard, Turn } from '../chat/types';
import { Markdown } from '../markdown';
import { Icon } from '../ui/button';
import { formatCount, formatSeconds } from '../ui/figures';
import { useTrans } from '../ui/hooks';
import { ApproveAll } from './approval';
import { MadeFiles } from './made_files';
import { NoticeCard } from './notice';
import { AskedPrompt } from './prompt';
import { ToolCardView } from './tool_card';
import { AskWaits, TurnEnding, TurnFooter } from './turn_ending';
import { TurnUndoProvider, useTurnUndo } from './turn_undo';

/** What the model thought before it answered; closed until asked for. */
const Reasoning = React.memo(function Reasoning({ block }: { block: ReasoningBlock }) {
  const trans = useTrans();
  const [isOpen, setOpen] = React.useState(false);
  return (
    <div className="cw-reasoning">
      <button
        type="button"
        className="cw-disclosure"
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name="thought" />
        <span className={block.isStreaming ? 'cw-shimmer' : ''}>
          {block.isStreaming ? trans.__('Thinking') : trans.__('Thoughts')}
        </span>
        <Icon name="chevron_right" className="cw-chevron" />
      </button>
      {isOpen && <div className="cw-reasoning-text">{block.text}</div>}
    </div>
  );
});

interface BlockProps {
  readonly block: Block;
  readonly runId: string;
}

/** One part of an answer. */
const BlockView = React.memo(function BlockView({ block, runId }: BlockProps) {
  const trans = useTrans();
  switch (block.kind) {
    case 'text':
      return <Markdown text={block.text} isStreaming={block.isStreaming} trans={trans} />;
    case 'reasoning':
      return <Reasoning block={block} />;
    case 'tool':
      return <ToolCardView card={block} runId={runId} />;
    case 'notice':
      return <NoticeCard block={block} />;
    default:
      return block satisfies never;
  }
});

/** Where the conversation was made shorter: what is above it the model has only in part. */
function CompactionLine({ compaction }: { compaction: Compaction }) {
  const trans = useTrans();
  const before = formatCount(compaction.tokensBefore);
  const after = formatCount(compaction.tokensAfter);
  return (
    <p className="cw-compaction">
      <span>{trans.__('Compacted: about %1 → %2 tokens', before, after)}</span>
    </p>
  );
}

const LEAST_IN_GROUP = 3;
const SETTLED = new Set<ToolCard['status']>(['ok', 'error', 'refused', 'cancelled']);

/** A block on its own, or settled calls that stand together. */
type Piece =
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

interface ToolGroupProps {
  readonly cards: readonly ToolCard[];
  readonly runId: string;
}

/** Several settled calls in a row, folded into one line. */
function ToolGroup({ cards, runId }: ToolGroupProps) {
  const trans = useTrans();
  const [wasOpened, setOpened] = React.useState(false);
  const { marks, stateOf } = useTurnUndo();
  const body = React.useId();
  // Who chooses how far to go back sees which steps go.
  const isOpen = wasOpened || marks !== null;
  const undone = cards.filter(({ callId }) => stateOf(callId) === 'undone').length;
  const failed = cards.filter(card => card.status === 'error').length;
  const seconds = cards.reduce((sum, card) => sum + card.durationSeconds, 0);
  return (
    <div className="cw-group">
      <button
        type="button"
        className="cw-card-header"
        aria-expanded={isOpen}
        aria-controls={body}
        onClick={() => {
          setOpened(!wasOpened);
        }}
      >
        <Icon name="list" className="cw-card-kind" />
        <span className="cw-card-label">
          <span>{trans._n('%1 step', '%1 steps', cards.length)}</span>
          {undone > 0 && (
            <span className="cw-group-undone">{trans._n('%1 undone', '%1 undone', undone)}</span>
          )}
          {failed > 0 && (
            <span className="cw-group-failed">{trans._n('%1 failed', '%1 failed', failed)}</span>
          )}
        </span>
        <span className="cw-card-time">{formatSeconds(seconds)}</span>
        <Icon name="chevron_right" className="cw-chevron" />
      </button>
      <div id={body} className="cw-group-body" hidden={!isOpen}>
        {isOpen && cards.map(card => <ToolCardView key={card.callId} card={card} runId={runId} />)}
      </div>
    </div>
  );
}

/** A prompt and everything that came of it; drawn again only when the turn changed. */
export const TurnView = React.memo(function TurnView({ turn }: { turn: Turn }) {
  const trans = useTrans();
  const isRunning = turn.status === 'running';
  const pieces = React.useMemo(() => groupBlocks(turn.blocks, isRunning), [turn.blocks, isRunning]);
  const lines = turn.compactions.map((compaction, index) => (
    <CompactionLine key={index} compaction={compaction} />
  ));
  if (isOnlyCompaction(turn)) {
    return <>{lines}</>;
  }
  return (
    <TurnUndoProvider turn={turn}>
      {lines}
      <article className="cw-turn" aria-label={trans.__('Prompt and answer')} data-run={turn.runId}>
        <AskedPrompt turn={turn} />
        <div className="cw-answer">
          {turn.assistant !== '' && (
            <p className="cw-answerer" title={trans.__('Assistant: %1', turn.assistant)}>
              <Icon name="person" />
              <span>{turn.assistant}</span>
            </p>
          )}
          {pieces.map(piece =>
            piece.kind === 'group' ? (
              <ToolGroup key={piece.key} cards={piece.cards} runId={turn.runId} />
            ) : (
              <BlockView key={piece.key} block={piece.block} runId={turn.runId} />
            )
          )}
          {isRunning && <ApproveAll blocks={turn.blocks} />}
          {isRunning && turn.activity !== '' && <p className="cw-activity">{turn.activity}</p>}
          {!isRunning && <TurnEnding turn={turn} />}
          {!isRunning && <MadeFiles turn={turn} />}
          {!isRunning && <TurnFooter turn={turn} />}
          <AskWaits runId={turn.runId} />
        </div>
      </article>
    </TurnUndoProvider>
  );
});

/** Whether nothing was asked: a run that did nothing but make the conversation shorter. */
function isOnlyCompaction({ blocks, compactions, status, usage }: Turn): boolean {
  const askedModel = usage.prompt_tokens + usage.completion_tokens > 0;
  return status === 'completed' && compactions.length > 0 && blocks.length === 0 && !askedModel;
}
