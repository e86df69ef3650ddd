import * as React from 'react';

import type { ToolCard } from '../chat/types';
import { complaintOf } from '../client/problems';
import { Button } from '../ui/button';
import { CodeBlock } from '../ui/code_block';
import { formatElapsed } from '../ui/figures';
import { useSeconds, useTrans } from '../ui/hooks';
import type { Preview } from '../wire/generated';
import { codeToRun } from './asked_call';
import { Effects } from './effects';
import { useTurnActions } from './turn_actions';

type Trial =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly since: number }
  | { readonly kind: 'done'; readonly found: Preview }
  | { readonly kind: 'failed'; readonly why: string };

interface PreviewPartProps {
  readonly card: ToolCard;
  /** Called with whether there is a result now that can be kept. */
  readonly onFound: (canKeep: boolean) => void;
}

/** Tries the call that waits in a copy of the kernel, and shows what came of it. */
export function PreviewPart({ card, onFound }: PreviewPartProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const [trial, setTrial] = React.useState<Trial>({ kind: 'none' });
  const isStopped = React.useRef(false);
  if (!codeToRun(card)) {
    return null;
  }
  const look = (): void => {
    isStopped.current = false;
    setTrial({ kind: 'running', since: Date.now() / 1000 });
    onFound(false);
    actions.preview(card.callId).then(
      found => {
        setTrial({ kind: 'done', found });
        onFound(found.obstacle === '');
      },
      (error: unknown) => {
        setTrial(
          isStopped.current ? { kind: 'none' } : { kind: 'failed', why: complaintOf(error) }
        );
      }
    );
  };
  const stop = (): void => {
    isStopped.current = true;
    actions.endPreview();
  };
  return (
    <section className="cw-preview" aria-label={trans.__('Preview')}>
      <div className="cw-row">
        {trial.kind === 'running' ? (
          <>
            <span className="cw-spinner" />
            <Running since={trial.since} />
            <Button kind="quiet" icon="stop" onClick={stop}>
              {trans.__('Stop preview')}
            </Button>
          </>
        ) : (
          <Button
            kind="quiet"
            icon="eye"
            aria-disabled={!actions.canAnswer}
            title={trans.__(
              'Runs this in a copy of your kernel that cannot change files or reach the network'
            )}
            onClick={() => {
              if (actions.canAnswer) {
                look();
              }
            }}
          >
            {trial.kind === 'done' ? trans.__('Preview again') : trans.__('Preview')}
          </Button>
        )}
      </div>
      <div role="status">
        {trial.kind === 'failed' && <p className="cw-muted">{trial.why}</p>}
        {trial.kind === 'done' && <Found found={trial.found} />}
      </div>
    </section>
  );
}

function Running({ since }: { since: number }) {
  const trans = useTrans();
  const now = useSeconds(true);
  return (
    <span role="status">
      {trans.__('Trying it in a copy … %1', formatElapsed(Math.max(0, now - since)))}
    </span>
  );
}

/** What came of it, and that nothing of it has happened. */
function Found({ found }: { found: Preview }) {
  const trans = useTrans();
  const { addresses, execution, outputs } = found;
  const { changed, files, note, removed } = execution;
  const isNothing =
    note === '' && changed.length + removed.length + files.length + addresses.length === 0;
  return (
    <>
      <p className="cw-muted">{trans.__('Nothing of this has happened yet.')}</p>
      {outputs.map(({ picture, text }, index) =>
        picture === '' ? (
          <CodeBlock key={index} text={text} label={trans.__('Output of the preview')} />
        ) : (
          <img
            key={index}
            src={`data:image/png;base64,${picture}`}
            alt={trans.__('A plot of the preview')}
          />
        )
      )}
      <Effects execution={execution} />
      {addresses.length > 0 && (
        <p className="cw-effects">
          <span className="cw-muted">{trans.__('Tried to reach, in vain')}</span>
          {addresses.map(address => (
            <code key={address}>{address}</code>
          ))}
        </p>
      )}
      {isNothing && <p className="cw-muted">{trans.__('It changes nothing.')}</p>}
      {execution.status === 'ok' && found.obstacle !== '' && (
        <p className="cw-muted">{trans.__('The result cannot be kept: %1.', found.obstacle)}</p>
      )}
    </>
  );
}
