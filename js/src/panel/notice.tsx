import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { NoticeBlock } from '../chat/types';
import { Button, Icon } from '../ui/button';
import { CopyButton } from '../ui/code_block';
import { useTrans } from '../ui/hooks';
import { ProjectTexts } from './project_texts';
import { nextStep, ownAction } from './service_problems';
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

/** The project has texts for agents that no model is sent before the person allows it. */
const PROJECT_ASKED = 'project_asked';

export function needsSetup(code: string): boolean {
  return SETUP_CODES.has(code);
}

/** Something the person should know: what happened and what to do about it. */
export const NoticeCard = React.memo(function NoticeCard({ block }: { block: NoticeBlock }) {
  const trans = useTrans();
  const action = actionOf(block, trans);
  return (
    <div className={`cw-notice cw-mod-${block.level}`}>
      <Icon name={block.level} />
      <div className="cw-notice-text">
        {block.code === PROJECT_ASKED ? (
          <ProjectTexts told={block.text} />
        ) : (
          <NoticeText block={block} />
        )}
        {action !== '' && <p className="cw-muted">{action}</p>}
        {needsSetup(block.code) && <SetUpButton />}
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

/** Leads to where a model is set up. */
export function SetUpButton() {
  const trans = useTrans();
  const actions = useTurnActions();
  return (
    <Button
      icon="key"
      onClick={() => {
        actions.setUp();
      }}
    >
      {trans.__('Model settings')}
    </Button>
  );
}

/** What to do about it; where the record names a command of a notebook, the panel's own way. */
export function actionOf(
  { code, action }: Pick<NoticeBlock, 'code' | 'action'>,
  trans: TranslationBundle
): string {
  switch (code) {
    case 'summed_up':
      return trans.__('The ring beside the send button shows the summary that stands for them.');
    case 'memory_proposed':
      return trans.__('Accept or reject it on the page Memory, Library and Usage.');
    case PROJECT_ASKED:
      return '';
    case 'service':
      return action === '' ? '' : trans.__('Another one can be chosen in Model settings.');
    case 'LMAccessError':
    case 'LMNotFoundError':
      return nextStep(code, true, trans);
    default:
      return ownAction({ code, hint: action }, true, trans);
  }
}

/** What happened; what it is about, such as quoted sources, unfolds below. */
function NoticeText({ block }: { block: NoticeBlock }) {
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
