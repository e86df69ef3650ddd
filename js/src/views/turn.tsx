import * as React from 'react';

import type { Turn } from '../models/types';
import { BlockView } from './block';
import { ApproveAll } from './approve_all';
import { CompactionLine } from './compaction_line';
import { groupBlocks } from './grouping';
import { Icon } from './icon';
import { MadeFiles } from './made_files';
import { AskedPrompt } from './asked_prompt';
import { useTrans } from './scope';
import { ToolGroup } from './tool_group';
import { AskWaits, TurnEnding } from './turn_ending';
import { TurnFooter } from './turn_footer';

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
    <>
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
    </>
  );
});

/** Whether nothing was asked: a run that did nothing but make the conversation shorter. */
function isOnlyCompaction({ blocks, compactions, status, usage }: Turn): boolean {
  const askedModel = usage.prompt_tokens + usage.completion_tokens > 0;
  return status === 'completed' && compactions.length > 0 && blocks.length === 0 && !askedModel;
}
