import * as React from 'react';

import type { Block, ToolCard } from '../chat/types';
import { loadsFromElsewhere } from '../markdown/loads';
import { Button } from '../ui/button';
import { useDelay, useTrans } from '../ui/hooks';
import { OpenNotebookButton } from '../ui/opening';
import { TextEdit } from '../ui/text_edit';
import { cardTitle } from '../ui/words';
import { approveWords, AskedCall, useAskedCell } from './asked_call';
import { PreviewPart } from './preview';
import { type ApprovalAnswer, useTurnActions } from './turn_actions';

/** Tools that change cells; how risky a call is comes only when its turn comes. */
const EDITING = new Set(['add_cell', 'edit_cell', 'arrange_cell']);
/** What is asked about by itself, in every case. */
const ALONE = ({ code, given, language }: ToolCard): boolean =>
  given.run === true ||
  given.action === 'delete' ||
  (language !== 'python' && loadsFromElsewhere(code));

/** Edits that wait for an answer, now or soon. */
function waitingEdits(blocks: readonly Block[]): readonly ToolCard[] {
  return blocks.filter((block): block is ToolCard => block.kind === 'tool' && isWaitingEdit(block));
}

function isWaitingEdit(card: ToolCard): boolean {
  return card.status === 'asking'
    ? card.risk === 'edit'
    : card.status === 'waiting' && EDITING.has(card.name) && !ALONE(card);
}

/** Where several edits wait, one button for all of them. */
export function ApproveAll({ blocks }: { blocks: readonly Block[] }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const edits = waitingEdits(blocks);
  const isAsked = edits.some(card => card.status === 'asking');
  const isArmed = useDelay(edits.map(card => card.callId).join(), ARMED_AFTER_MILLISECONDS);
  if (edits.length < 2 || !isAsked || !actions.canAnswer) {
    return null;
  }
  const others = edits.filter(card => card.status === 'waiting');
  return (
    <div className="cw-approve-all" role="group" aria-label={trans.__('All edits that wait')}>
      {others.map(card => (
        <div key={card.callId} className="cw-approve-also">
          <p className="cw-muted">{cardTitle(card, trans)}</p>
          <AskedCall card={card} />
        </div>
      ))}
      <Button
        kind="primary"
        icon="check"
        aria-disabled={!isArmed}
        onClick={() => {
          if (isArmed) {
            actions.acceptAll(edits.map(card => card.callId));
          }
        }}
      >
        {trans._n('Accept %1 edit', 'Accept all %1 edits', edits.length)}
      </Button>
    </div>
  );
}

/** A card that appears under a hand that types or clicks must not take that for an answer. */
const ARMED_AFTER_MILLISECONDS = 400;
/** An answer that follows another one sooner belongs to a double click. */
const TWICE_MILLISECONDS = 1000;
/** Calls of these are asked about every time. */
const ALWAYS_ASKED = new Set(['install', 'destroy']);

/** What a key says to an approval that has the focus; null: nothing. */
function answerOfKey(event: React.KeyboardEvent): boolean | null {
  if (event.nativeEvent.isComposing || event.shiftKey || event.altKey) {
    return null;
  }
  const withAccel = event.ctrlKey || event.metaKey;
  if (event.key === 'Enter' && withAccel) {
    return true;
  }
  const isReject = withAccel ? event.key === 'Backspace' : event.key === 'Escape';
  return isReject ? false : null;
}

interface ApprovalProps {
  readonly card: ToolCard;
  /** Called before an answer takes this away, so that the focus finds a place. */
  readonly onAnswered: () => void;
}

/** Asks whether a call may run. Its keys act only while the focus is inside. */
export function Approval({ card, onAnswered }: ApprovalProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const isArmed = useDelay(card.callId, ARMED_AFTER_MILLISECONDS);
  const [isExplaining, setExplaining] = React.useState(false);
  const [canKeep, setCanKeep] = React.useState(false);
  const first = React.useRef<HTMLButtonElement>(null);
  React.useEffect(() => {
    // Who has just answered one call by keyboard goes on to the next.
    if (document.activeElement?.closest('.cw-card[data-answered]')) {
      first.current?.focus();
    }
  }, []);

  const answeredAt = React.useRef(-TWICE_MILLISECONDS);

  const { isGone, title } = useAskedCell(card);
  const isOff = !isArmed || !actions.canAnswer;

  const answer = (reply: ApprovalAnswer): void => {
    // The second click of a double click would be told that the call waits for nothing.
    const isAgain = performance.now() - answeredAt.current < TWICE_MILLISECONDS;
    const isPossible = !isOff && !(isGone && reply.allowed);
    if (isPossible && !isAgain) {
      answeredAt.current = performance.now();
      onAnswered();
      actions.answer(card.callId, reply);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const allowed = answerOfKey(event);
    if (allowed !== null) {
      event.preventDefault();
      event.stopPropagation();
      answer({ allowed, reason: '', forSession: false });
    }
  };
  const verb = approveWords(card, trans);
  const choice = (reply: Omit<ApprovalAnswer, 'reason'>) => ({
    'aria-disabled': isOff || (isGone && reply.allowed),
    onClick: () => {
      answer({ ...reply, reason: '' });
    }
  });

  return (
    <div
      className="cw-approval"
      role="group"
      aria-label={trans.__('Approval: %1', title)}
      onKeyDown={onKeyDown}
    >
      {card.reason !== '' && <p className="cw-approval-reason">{card.reason}</p>}
      <PreviewPart card={card} onFound={setCanKeep} />
      {actions.approvalProblem !== '' && (
        <p className="cw-muted" role="status">
          {actions.approvalProblem}
        </p>
      )}
      <WhyNoAnswer />
      {isExplaining ? (
        <TextEdit
          text=""
          label={trans.__('What to do instead')}
          placeholder={trans.__('What to do instead')}
          rows={() => 2}
          action={trans.__('Reject and send')}
          isOff={() => isOff}
          onCancel={() => {
            setExplaining(false);
            first.current?.focus();
          }}
          onSave={reason => {
            answer({ allowed: false, reason, forSession: false });
          }}
        />
      ) : (
        <>
          <div className="cw-row">
            <Button
              ref={first}
              kind="primary"
              icon="check"
              title={trans.__('%1 (Ctrl+Enter or ⌘+Enter)', verb)}
              {...choice({ allowed: true, forSession: false })}
            >
              {verb}
            </Button>
            {canKeep && actions.approvalProblem === '' && (
              <Button
                icon="download"
                title={trans.__(
                  'Takes over what the preview came to, without running the code again'
                )}
                {...choice({ allowed: true, forSession: false, adopt: true })}
              >
                {trans.__('Keep result')}
              </Button>
            )}
            <Button
              icon="close"
              title={trans.__('Reject (Esc)')}
              {...choice({ allowed: false, forSession: false })}
            >
              {trans.__('Reject')}
            </Button>
          </div>
          <div className="cw-row">
            <Button
              kind="quiet"
              aria-disabled={!actions.canAnswer}
              onClick={() => {
                setExplaining(actions.canAnswer);
              }}
            >
              {trans.__('Reject and say what to do instead')}
            </Button>
            {!ALWAYS_ASKED.has(card.risk) && (
              <Button kind="quiet" {...choice({ allowed: true, forSession: true })}>
                {trans.__('Allow for this session')}
              </Button>
            )}
          </div>
        </>
      )}
    </div>
  );
}

/** Why this page cannot answer, and what makes it so that it can; nothing where it can. */
export function WhyNoAnswer() {
  const trans = useTrans();
  const { canAnswer, notebookToOpen } = useTurnActions();
  if (canAnswer) {
    return null;
  }
  return notebookToOpen === '' ? (
    <p className="cw-muted">{trans.__('Only the tab that asked can answer this.')}</p>
  ) : (
    <div className="cw-row" role="status">
      <p className="cw-muted">
        {trans.__('The tab that asked is gone. Open %1 to answer here.', notebookToOpen)}
      </p>
      <OpenNotebookButton path={notebookToOpen} />
    </div>
  );
}
