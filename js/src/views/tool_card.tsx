import * as React from 'react';

import { formatSeconds } from '../models/figures';
import type { Progress, ToolCard } from '../models/types';
import { Approval } from './approval';
import { useAskedCell } from './asked_call';
import { useSeconds } from './clock';
import { formatElapsed } from './figures';
import { Icon } from './icon';
import type { IconName } from './icon_paths';
import { useTrans } from './scope';
import { ToolBody } from './tool_body';
import { ToolContents } from './tool_contents';
import { cardWords } from './words';

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
  const isAsking = card.status === 'asking';
  const isOpen = chosen ?? isAsking;
  const onAnswered = React.useCallback(() => {
    setAnswered(true);
    header.current?.focus();
  }, []);
  return (
    <div
      className={`cw-card cw-mod-${card.status}`}
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
        <Elapsed card={card} />
        <Status status={card.status} words={cardWords(card.status, trans)} />
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
