import * as React from 'react';

import type { Execution } from '../events';
import type { UndoResult } from '../models/notebooks';
import type { ToolCard } from '../models/types';
import { AskedCall } from './asked_call';
import { Button } from './button';
import { CodeBlock } from './code_block';
import { formatSize } from './figures';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';
import { undoWords } from './undo_words';

interface ToolBodyProps {
  readonly card: ToolCard;
  readonly runId: string;
}

/** What a call was given and what came of it. */
export function ToolBody({ card, runId }: ToolBodyProps) {
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

/** Variables and files that running it changed. */
function Effects({ execution }: { execution: Execution }) {
  const trans = useTrans();
  const { changed, removed, files, note } = execution;
  return (
    <>
      {note !== '' && <p className="cw-muted">{note}</p>}
      {changed.length + removed.length > 0 && (
        <p className="cw-effects">
          <span className="cw-muted">{trans.__('Variables')}</span>
          {changed.map(variable => (
            <code key={variable.name} title={variable.text}>
              {variable.name}
            </code>
          ))}
          {removed.map(name => (
            <code key={name}>
              <del>{name}</del>
            </code>
          ))}
        </p>
      )}
      {files.length > 0 && (
        <p className="cw-effects">
          <span className="cw-muted">{trans.__('Files')}</span>
          {files.map(file => (
            <code key={file.path} title={formatSize(file.size_bytes)}>
              {file.change === 'deleted' ? <del>{file.path}</del> : file.path}
            </code>
          ))}
        </p>
      )}
    </>
  );
}

function CellActions({ card, runId }: ToolBodyProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [outcome, setOutcome] = React.useState<UndoResult | null>(null);
  const [isUndone, setUndone] = React.useState(false);
  const cell = card.cellIds.at(-1);
  if (cell === undefined) {
    return null;
  }
  const isSettled = card.status !== 'running';
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
        {isSettled && (
          <Button
            kind="quiet"
            icon={isUndone ? 'redo' : 'undo'}
            disabled={!actions.canUndo}
            onClick={() => {
              const done = isUndone
                ? actions.redo(runId, card.callId)
                : actions.undo(runId, card.callId);
              setOutcome(done);
              setUndone(done !== null && !isUndone);
            }}
          >
            {isUndone ? trans.__('Redo') : trans.__('Undo step')}
          </Button>
        )}
      </div>
      {outcome !== null && (
        <p className="cw-muted" role="status">
          {undoWords(outcome, isUndone, trans)}
        </p>
      )}
    </>
  );
}
