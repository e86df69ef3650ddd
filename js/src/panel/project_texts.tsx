import * as React from 'react';

import type { ProjectTextRow } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { Button } from '../ui/button';
import { CodeBlock } from '../ui/code_block';
import { formatSize } from '../ui/figures';
import { takeAnswer, useTrans } from '../ui/hooks';
import { useTurnActions } from './turn_actions';

interface ProjectTextsProps {
  /** What is said where there is nothing to answer any more. */
  readonly told: string;
}

/** Asks of each text that the project has for agents whether models may read it. */
export function ProjectTexts({ told }: ProjectTextsProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [rows, setRows] = React.useState<readonly ProjectTextRow[]>([]);
  const asked = React.useRef(actions);
  React.useEffect(
    () =>
      // An older server does not tell.
      takeAnswer(asked.current.projectTexts(), found => {
        setRows(found.filter(row => row.state === 'asked' && row.place === 'project'));
      }),
    []
  );
  if (rows.length === 0) {
    return <p>{told}</p>;
  }
  return (
    <>
      <p>
        {trans.__(
          'This project has instructions for agents. No model is sent them before you allow it: read them, and allow what you trust.'
        )}
      </p>
      <ul className="cw-project-texts">
        {rows.map(row => (
          <li key={row.id}>
            <AskedText row={row} />
          </li>
        ))}
      </ul>
    </>
  );
}

type Decision = 'none' | 'busy' | 'allowed' | 'later';

function AskedText({ row }: { readonly row: ProjectTextRow }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [decision, setDecision] = React.useState<Decision>('none');
  const [problem, setProblem] = React.useState('');
  const allow = (): void => {
    setDecision('busy');
    setProblem('');
    actions.allowProjectText(row.id, true).then(
      () => {
        setDecision('allowed');
      },
      (error: unknown) => {
        setDecision('none');
        setProblem(complaintOf(error));
      }
    );
  };
  return (
    <>
      <details>
        <summary>
          <strong>{row.name}</strong> <span className="cw-muted">{formatSize(row.size_bytes)}</span>
        </summary>
        <p className="cw-muted cw-project-path">{row.path}</p>
        {row.about !== '' && <p className="cw-project-about">{row.about}</p>}
        <CodeBlock text={row.text} label={row.name} isWhole />
      </details>
      <div role="status">
        {decision === 'allowed' && (
          <p className="cw-muted">{trans.__('Models read it from your next question on.')}</p>
        )}
        {decision === 'later' && (
          <p className="cw-muted">{trans.__('No model is sent it before you allow it.')}</p>
        )}
      </div>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
      {(decision === 'none' || decision === 'busy') && (
        <div className="cw-row cw-project-answers">
          <Button
            aria-label={trans.__('Allow %1', row.name)}
            aria-disabled={decision === 'busy'}
            onClick={decision === 'busy' ? undefined : allow}
          >
            {trans.__('Allow')}
          </Button>
          <Button
            kind="quiet"
            aria-label={trans.__('Not now: %1', row.name)}
            onClick={() => {
              setDecision('later');
            }}
          >
            {trans.__('Not now')}
          </Button>
        </div>
      )}
    </>
  );
}
