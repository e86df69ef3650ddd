import * as React from 'react';

import type { NoticeBlock } from '../models/types';
import { Button } from './button';
import { CopyButton } from './copy_button';
import { Icon } from './icon';
import { useTrans } from './scope';
import { Contents } from './tool_contents';
import { useTurnActions } from './turn_actions';

/** Errors whose remedy is a different model, endpoint or key. */
const SETUP_CODES = new Set([
  'SetupError',
  'LMAccessError',
  'LMConnectionError',
  'LMNotFoundError',
  'LMQuotaError',
  'LMToolsUnsupportedError',
  'setup',
  'tool_call_as_text'
]);

/** Older turns are summed up for the model. */
const SUMMED_UP = 'summed_up';

export function needsSetup(code: string): boolean {
  return SETUP_CODES.has(code);
}

/** Something the person should know: what happened and what to do about it. */
export const NoticeCard = React.memo(function NoticeCard({ block }: { block: NoticeBlock }) {
  const trans = useTrans();
  const actions = useTurnActions();
  // The record names the command of a notebook cell; here the ring shows the summary.
  const action =
    block.code === SUMMED_UP
      ? trans.__('The ring beside the send button shows what stands for them.')
      : block.action;
  return (
    <div className={`cw-notice cw-mod-${block.level}`}>
      <Icon name={block.level} />
      <div className="cw-notice-text">
        <Told block={block} />
        {action !== '' && <p className="cw-muted">{action}</p>}
        {needsSetup(block.code) && (
          <Button
            icon="key"
            onClick={() => {
              actions.setUp();
            }}
          >
            {trans.__('Model settings')}
          </Button>
        )}
      </div>
      {block.level !== 'info' && (
        <CopyButton
          text={() => [block.text, action, block.code].filter(Boolean).join('\n')}
          label={trans.__('Copy details')}
        />
      )}
    </div>
  );
});

/** What happened; what it is about, such as quoted sources, unfolds below. */
function Told({ block }: { block: NoticeBlock }) {
  const contents = block.contents ?? [];
  if (contents.length === 0) {
    return <p>{block.text}</p>;
  }
  return (
    <details>
      <summary>{block.text}</summary>
      <Contents contents={contents} />
    </details>
  );
}
