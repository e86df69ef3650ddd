import * as React from 'react';

import { Markdown } from '../markdown';
import type { Block } from '../models/types';
import { NoticeCard } from './notice';
import { Reasoning } from './reasoning';
import { useTrans } from './scope';
import { ToolCardView } from './tool_card';

interface BlockProps {
  readonly block: Block;
  readonly runId: string;
}

/** One part of an answer. */
export const BlockView = React.memo(function BlockView({ block, runId }: BlockProps) {
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
