import * as React from 'react';

import type { Turn } from '../models/types';
import { Button } from './button';
import { CopyButton } from './copy_button';
import { Icon } from './icon';
import type { IconName } from './icon_paths';
import { needsSetup } from './notice';
import { OpenNotebookButton } from './opening';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';
import { isTrouble, statusWords } from './words';

/** How a run ended, where it did not simply end well, and what to do about it. */
export function TurnEnding({ turn }: { turn: Turn }) {
  const trans = useTrans();
  if (turn.status === 'completed' && turn.reason === '') {
    return null;
  }
  if (isSaid(turn)) {
    return (
      <>
        {isUnanswered(turn) && <Unanswered />}
        <Remedies turn={turn} />
      </>
    );
  }
  const isBad = isTrouble(turn.status);
  const isReasonShown = turn.reason !== '' && turn.status !== 'cancelled';
  return (
    <div className={`cw-ending cw-mod-${isBad ? 'error' : 'info'}`}>
      <Icon name={iconOf(turn)} />
      <div className="cw-ending-text">
        {turn.status !== 'completed' && <strong>{statusWords(turn.status, trans)}</strong>}
        {isReasonShown && <p>{turn.reason}</p>}
        {isUnanswered(turn) && <Unanswered />}
        <Remedies turn={turn} />
      </div>
      {isBad && <CopyButton text={() => detailsOf(turn)} label={trans.__('Copy details')} />}
    </div>
  );
}

/** As the server has it: such a question stays here, and the model is not told of it. */
function isUnanswered({ isAnswered, status, supersededBy }: Turn): boolean {
  return !isAnswered && status !== 'completed' && supersededBy === '';
}

function Unanswered() {
  const trans = useTrans();
  return (
    <p className="cw-muted">{trans.__('Not answered: your next question goes without it.')}</p>
  );
}

function iconOf({ status }: Turn): IconName {
  if (isTrouble(status)) {
    return 'error';
  }
  return status === 'cancelled' ? 'stop' : 'info';
}

/** A notice in the answer has told the reason already. */
function isSaid({ blocks, cause }: Turn): boolean {
  return blocks.some(block => block.kind === 'notice' && block.code === cause && cause !== '');
}

function Remedies({ turn }: { turn: Turn }) {
  const trans = useTrans();
  const actions = useTurnActions();
  if (turn.cause === 'truncated') {
    return (
      <Button
        onClick={() => {
          actions.proceed();
        }}
      >
        {trans.__('Continue')}
      </Button>
    );
  }
  return (
    <div className="cw-row">
      {turn.status !== 'completed' && (
        <Button
          icon="retry"
          onClick={() => {
            actions.retry(turn);
          }}
        >
          {trans.__('Retry')}
        </Button>
      )}
      {needsSetup(turn.cause) && !isSaid(turn) && (
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
  );
}

/** Said where the person asked for something that the closed notebook holds up. */
export function AskWaits({ runId }: { runId: string }) {
  const { waitingAsk, cancelAsk } = useTurnActions();
  return waitingAsk?.runId === runId ? (
    <WaitingAskNote notebook={waitingAsk.notebook} onCancel={cancelAsk} />
  ) : null;
}

interface WaitingAskProps {
  /** Empty: it is open. */
  readonly notebook: string;
  readonly onCancel: () => void;
}

function WaitingAskNote({ notebook, onCancel }: WaitingAskProps) {
  const trans = useTrans();
  const place = React.useRef<HTMLDivElement>(null);
  React.useEffect(() => {
    // The button may stand at the other end of a long answer.
    place.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div ref={place} className="cw-ending cw-mod-info" role="status">
      <Icon name="warning" />
      <div className="cw-ending-text">
        <p>
          {notebook === ''
            ? trans.__('Asked as soon as the notebook has its kernel.')
            : trans.__('%1 is not open. This is asked as soon as it is.', notebook)}
        </p>
        <div className="cw-row">
          {notebook !== '' && <OpenNotebookButton path={notebook} />}
          <Button onClick={onCancel}>{trans.__('Cancel')}</Button>
        </div>
      </div>
    </div>
  );
}

/** What a person pastes into a report; for programs and people, so not translated. */
function detailsOf(turn: Turn): string {
  return [
    `run: ${turn.runId}`,
    `model: ${turn.model}`,
    `status: ${turn.status}`,
    `cause: ${turn.cause}`,
    `reason: ${turn.reason}`
  ].join('\n');
}
