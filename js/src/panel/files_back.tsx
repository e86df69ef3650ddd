import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { FilesOutcome, VariablesOutcome } from '../chat/notebooks';
import { Button } from '../ui/button';
import { useTrans } from '../ui/hooks';
import type { ChangedFile, ChangedFiles } from '../wire/generated';
import { useTurnActions } from './turn_actions';

/** So many files are named. */
const NAMED = 5;

interface FilesBackProps {
  readonly runId: string;
  /** Before which of the run's cells, counted from 1; 0: before the run. */
  readonly step: number;
  /** What the undo, or the redo, has come to. */
  readonly variables: VariablesOutcome;
}

/**
 * After an undo, offers to put back the files that the run changed; after a redo, forth.
 *
 * Where the variables could not be brought back, the files still can.
 */
export function FilesBack({ runId, step, variables }: FilesBackProps) {
  if (variables.kind === 'waiting' || variables.kind === 'restarted') {
    return null;
  }
  const { files = null, kind } = variables;
  return files === null ? null : (
    <Offer runId={runId} step={step} files={files} isForth={kind === 'redone'} />
  );
}

interface OfferProps {
  readonly runId: string;
  readonly step: number;
  readonly files: ChangedFiles;
  readonly isForth: boolean;
}

function Offer({ runId, step, files, isForth }: OfferProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [done, setDone] = React.useState<{ of: ChangedFiles; outcome: FilesOutcome } | null>(null);
  const [isBusy, setBusy] = React.useState(false);
  const outcome = done?.of === files ? done.outcome : null;
  const { back, stays } = outcome?.kind === 'put' ? outcome.files : files;
  const count = back.length;
  const put = (): void => {
    setBusy(true);
    void actions.putFilesBack(runId, isForth, step).then(result => {
      setDone({ of: files, outcome: result });
      setBusy(false);
    });
  };
  return (
    <>
      {count > 0 && outcome?.kind !== 'put' && (
        <div className="cw-row">
          <Button
            icon={isForth ? 'redo' : 'undo'}
            title={names(back)}
            disabled={isBusy || !actions.canUndo}
            onClick={put}
          >
            {isForth
              ? trans._n('Redo %1 file', 'Redo %1 files', count)
              : trans._n('Put back %1 file', 'Put back %1 files', count)}
          </Button>
        </div>
      )}
      {outcome !== null && (
        <p className="cw-muted" role="status">
          {outcomeWords(outcome, isForth, trans)}
        </p>
      )}
      {stays.length > 0 && (
        <p className="cw-muted">{trans.__('Files that stay as they are: %1', names(stays))}</p>
      )}
    </>
  );
}

function outcomeWords(outcome: FilesOutcome, isForth: boolean, trans: TranslationBundle): string {
  if (outcome.kind === 'kept') {
    return trans.__('Files stay as they are: %1', outcome.why);
  }
  const { back } = outcome.files;
  if (back.length === 0) {
    return '';
  }
  return isForth
    ? trans.__('Files are as the run had left them: %1', names(back))
    : trans.__('Files are as they were before it: %1', names(back));
}

function names(files: readonly ChangedFile[]): string {
  const named = files.slice(0, NAMED);
  const said = named.map(({ path, why }) => (why === '' ? path : `${path} (${why})`));
  return [...said, ...(files.length > NAMED ? ['…'] : [])].join(', ');
}
