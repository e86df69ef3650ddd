import * as React from 'react';

import type { UndoResult } from '../chat/notebooks';
import type { Progress, ToolCard } from '../chat/types';
import { Button, Icon, type IconName } from '../ui/button';
import { CodeBlock } from '../ui/code_block';
import { formatElapsed, formatSeconds } from '../ui/figures';
import { useSeconds, useTrans } from '../ui/hooks';
import { cardWords, undoWords } from '../ui/words';
import { Approval } from './approval';
import { AskedCall, useAskedCell } from './asked_call';
import { Effects } from './effects';
import { ToolContents } from './tool_contents';
import { useTurnActions } from './turn_actions';
import { useTurnUndo, withLeft } from './turn_undo';

interface ToolBodyProps {
  readonly card: ToolCard;
  readonly runId: string;
}

/** What a call was given and what came of it. */
function ToolBody({ card, runId }: ToolBodyProps) {
  const trans = useTrans();
  // What is drawn above is not said twice; then only what the model read is left.
  const isDrawn = card.contents.length > 0;
  const result = card.shown === '' || isDrawn ? card.result : card.shown;
  if (card.status === 'asking') {
    return <AskedCall card={card} />;
  }
  return (
    <>
      {card.code !== '' && (
        <CodeBlock
          text={card.code}
          language={card.language}
          label={trans.__('Code of this call')}
        />
      )}
      {card.code === '' && card.argumentsText !== '' && (
        <CodeBlock text={card.argumentsText} label={trans.__('Arguments of this call')} />
      )}
      {card.reason !== '' && <p className="cw-muted">{card.reason}</p>}
      {result !== '' && (
        <>
          <h4 className="cw-card-heading">
            {isDrawn ? trans.__('What the model read') : trans.__('Result')}
          </h4>
          <CodeBlock text={result} label={trans.__('Result of this call')} />
        </>
      )}
      {card.execution !== null && <Effects execution={card.execution} />}
      <CellActions card={card} runId={runId} />
    </>
  );
}

function CellActions({ card, runId }: ToolBodyProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [outcome, setOutcome] = React.useState<UndoResult | null>(null);
  const [isUndone, setUndone] = React.useState(false);
  const ofTurn = useTurnUndo().stateOf(card.callId);
  const cell = card.cellIds.at(-1);
  if (cell === undefined) {
    return null;
  }
  const isSettled = card.status !== 'running';
  const undo = (): void => {
    const done = isUndone ? actions.redo(runId, card.callId) : actions.undo(runId, card.callId);
    const cells = done && withLeft(done, [card], id => actions.findCell(id) !== null);
    setOutcome(cells);
    setUndone(cells !== null && !isUndone && (cells.left ?? []).length === 0);
  };
  return (
    <>
      <div className="cw-row">
        <Button
          kind="quiet"
          icon="target"
          disabled={!actions.canReveal}
          onClick={() => {
            actions.reveal(cell);
          }}
        >
          {trans.__('Go to cell')}
        </Button>
        {isSettled && ofTurn === '' && (
          <Button
            kind="quiet"
            icon={isUndone ? 'redo' : 'undo'}
            disabled={!actions.canUndo}
            onClick={undo}
          >
            {isUndone ? trans.__('Redo') : trans.__('Undo step')}
          </Button>
        )}
      </div>
      {outcome !== null && ofTurn === '' && (
        <p className="cw-muted" role="status">
          {undoWords(outcome, isUndone, trans)}
        </p>
      )}
    </>
  );
}

const TOOL_ICONS: Partial<Record<string, IconName>> = {
  run_cell: 'code',
  add_cell: 'plus',
  edit_cell: 'edit',
  arrange_cell: 'cell',
  read_notebook: 'eye',
  read_output: 'eye',
  list_variables: 'variable',
  inspect_variable: 'variable',
  install_package: 'package',
  submit: 'check'
};

const STATUS_ICONS: Partial<Record<ToolCard['status'], IconName>> = {
  waiting: 'clock',
  asking: 'warning',
  ok: 'check',
  error: 'error',
  refused: 'close',
  cancelled: 'stop'
};

interface ToolCardProps {
  readonly card: ToolCard;
  readonly runId: string;
}

/** One call of a tool: what it does, how it stands, and all about it on demand. */
export const ToolCardView = React.memo(function ToolCardView({ card, runId }: ToolCardProps) {
  const trans = useTrans();
  const [chosen, setChosen] = React.useState<boolean | null>(null);
  const [isAnswered, setAnswered] = React.useState(false);
  const header = React.useRef<HTMLButtonElement>(null);
  const body = React.useId();
  const { title } = useAskedCell(card);
  const ofTurn = useTurnUndo().stateOf(card.callId);
  const isAsking = card.status === 'asking';
  const isOpen = chosen ?? isAsking;
  const onAnswered = React.useCallback(() => {
    setAnswered(true);
    header.current?.focus();
  }, []);
  return (
    <div
      className={`cw-card cw-mod-${card.status} ${ofTurn === '' ? '' : 'cw-mod-undone'}`}
      data-call={card.callId}
      {...(isAnswered && { 'data-answered': '' })}
    >
      <button
        ref={header}
        type="button"
        className="cw-card-header"
        aria-expanded={isOpen}
        aria-controls={body}
        onClick={() => {
          setChosen(!isOpen);
        }}
      >
        <Icon name={TOOL_ICONS[card.name] ?? 'spark'} className="cw-card-kind" />
        <span className="cw-card-label">{title}</span>
        {ofTurn === 'undone' ? (
          <span className="cw-card-time">{trans.__('undone')}</span>
        ) : (
          <>
            <Elapsed card={card} />
            <Status status={card.status} words={cardWords(card.status, trans)} />
          </>
        )}
        <Icon name="chevron_right" className="cw-chevron" />
      </button>
      {card.progress !== null && <CallProgress progress={card.progress} />}
      <ToolContents card={card} />
      <div id={body} className="cw-card-body" hidden={!isOpen}>
        {isOpen && <ToolBody card={card} runId={runId} />}
      </div>
      {isAsking && <Approval card={card} onAnswered={onAnswered} />}
    </div>
  );
});

/** What the call says of itself while it runs. */
function CallProgress({ progress }: { progress: Progress }) {
  const trans = useTrans();
  const { text, fraction } = progress;
  return (
    <p className="cw-card-progress">
      <span>{text}</span>
      {fraction !== null && (
        <progress value={fraction} max={1} aria-label={text || trans.__('Progress')} />
      )}
    </p>
  );
}

function Status({ status, words }: { status: ToolCard['status']; words: string }) {
  const icon = STATUS_ICONS[status];
  return (
    <span className="cw-card-status" title={words}>
      {icon === undefined ? <span className="cw-spinner" /> : <Icon name={icon} />}
      <span className="cw-hidden">{words}</span>
    </span>
  );
}

function Elapsed({ card }: { card: ToolCard }) {
  const isRunning = card.status === 'running';
  const now = useSeconds(isRunning);
  if (isRunning) {
    const seconds = card.startedAt === null ? 0 : now - card.startedAt;
    return <span className="cw-card-time">{formatElapsed(seconds)}</span>;
  }
  // A call that never ran only waited.
  const hasRun = card.durationSeconds > 0 && card.status !== 'refused';
  return hasRun ? (
    <span className="cw-card-time">{formatSeconds(card.durationSeconds)}</span>
  ) : null;
}
