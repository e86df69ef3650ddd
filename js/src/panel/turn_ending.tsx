import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Turn } from '../chat/types';
import { Button, Icon, IconButton, type IconName } from '../ui/button';
import { CopyButton } from '../ui/code_block';
import { formatFigures } from '../ui/figures';
import { useTrans } from '../ui/hooks';
import { Menu, type MenuEntry } from '../ui/menu';
import { type Opener, OpenNotebookButton, useOpener } from '../ui/opening';
import { isTrouble, statusWords } from '../ui/words';
import { needsSetup, SetUpButton } from './notice';
import { reasonHere } from './service_problems';
import { ThumbComment, Thumbs } from './thumbs';
import { useTurnActions } from './turn_actions';
import { changingCalls, marksOf, UndoChoice, UndoNote, useTurnUndo } from './turn_undo';

/** What a turn took, and what can be done with it afterwards. */
export function TurnFooter({ turn }: { turn: Turn }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const { run: openRun } = useOpener();
  const undo = useTurnUndo();
  const asksHowFar = !undo.isUndone && marksOf(turn).length > 1;
  const undoButton = React.useRef<HTMLButtonElement>(null);
  const [isCommenting, setCommenting] = React.useState(false);
  const figures = formatFigures(turn, trans);
  return (
    <footer className="cw-footer">
      <div className="cw-footer-line">
        <span className="cw-figures" title={[turn.model, figures].filter(Boolean).join('\n')}>
          {figures}
        </span>
        <span className="cw-footer-actions">
          <Thumbs runId={turn.runId} onThumb={setCommenting} />
          <CopyButton text={() => answerText(turn)} label={trans.__('Copy answer')} />
          {turn.supersededBy === '' && (
            <IconButton
              icon="retry"
              label={trans.__('Ask again: another answer in place of this one')}
              onClick={() => {
                actions.replace(turn, turn.prompt);
              }}
            />
          )}
          {changingCalls(turn).length > 0 && (
            <IconButton
              ref={undoButton}
              icon={undo.isUndone ? 'redo' : 'undo'}
              className={undo.isUndone ? '' : 'cw-undo-run'}
              label={undoLabel(undo.isUndone, asksHowFar, trans)}
              disabled={!actions.canUndo}
              aria-disabled={undo.isBusy}
              {...(asksHowFar && { 'aria-expanded': undo.marks !== null })}
              onClick={undo.begin}
            />
          )}
          <Menu
            label={trans.__('More for this answer')}
            className="cw-icon-button"
            side="above"
            end
            entries={[
              {
                key: 'branch',
                icon: 'branch',
                label: trans.__('Branch from here'),
                description: trans.__('A new chat that knows what was said until here'),
                onChoose: () => {
                  actions.branch(turn);
                }
              },
              ...(openRun === null ? [] : [runEntry(turn, openRun, trans)])
            ]}
          >
            <Icon name="more" />
          </Menu>
        </span>
      </div>
      <ThumbComment
        runId={turn.runId}
        isOpen={isCommenting}
        onClose={() => {
          setCommenting(false);
        }}
      />
      <UndoChoice
        onClose={() => {
          undoButton.current?.focus();
        }}
      />
      <UndoNote />
    </footer>
  );
}

function undoLabel(isUndone: boolean, asksHowFar: boolean, trans: TranslationBundle): string {
  if (isUndone) {
    return trans.__('Redo run');
  }
  return asksHowFar
    ? trans.__('Undo run, or from one of its cells on')
    : trans.__('Undo run: its cells and what it did to variables');
}

function runEntry(
  { runId }: Turn,
  openRun: NonNullable<Opener['run']>,
  trans: TranslationBundle
): MenuEntry {
  return {
    key: 'run',
    icon: 'list',
    label: trans.__('Show run'),
    description: trans.__('Each message and cell of it, on the page of runs'),
    onChoose: () => {
      openRun(runId);
    }
  };
}

function answerText(turn: Turn): string {
  return turn.blocks
    .flatMap(block => (block.kind === 'text' ? [block.text] : []))
    .join('\n\n')
    .trim();
}

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
        {isReasonShown && <p>{reasonHere(turn.cause, turn.reason, trans)}</p>}
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
      {needsSetup(turn.cause) && !isSaid(turn) && <SetUpButton />}
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
