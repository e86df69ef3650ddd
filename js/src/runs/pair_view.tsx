import * as React from 'react';

import { Complaint, Nothing } from '../pages/notes';
import { Button } from '../views/button';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { Sample } from './answers';
import type { SampleModel } from './sample_model';
import { SampleFacts } from './sample_view';
import { StepView } from './step_view';
import { pairSteps, type StepPair, stepsOf } from './trajectory';

interface PairViewProps {
  readonly first: SampleModel;
  readonly second: SampleModel;
}

/** Two samples side by side, with the place where they part. */
export function PairView({ first, second }: PairViewProps) {
  const trans = useTrans();
  const one = useSignal(first.changed, () => first.state);
  const other = useSignal(second.changed, () => second.state);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={one.problem} />
      <Complaint text={other.problem} />
      {one.sample !== null && other.sample !== null ? (
        <Pairs first={one.sample} second={other.sample} />
      ) : (
        one.problem + other.problem === '' && <Nothing>{trans.__('Reading …')}</Nothing>
      )}
    </div>
  );
}

interface PairsProps {
  readonly first: Sample;
  readonly second: Sample;
}

function Pairs({ first, second }: PairsProps) {
  const trans = useTrans();
  const pairs = React.useMemo(
    () => pairSteps(stepsOf(first.messages), stepsOf(second.messages)),
    [first.messages, second.messages]
  );
  const parting = React.useRef<HTMLLIElement>(null);
  const place = pairs.findIndex(({ isDivergence }) => isDivergence);
  return (
    <>
      <div className="cw-pair cw-pair-heads">
        {[first, second].map((sample, side) => (
          <div key={side}>
            <h3>{sample.agent === '' ? sample.id : sample.agent}</h3>
            <SampleFacts sample={sample} />
            {sample.scores
              .filter(({ passed }) => !passed)
              .map((score, number) => (
                <p key={number} className="cw-muted">
                  {`${score.name}: ${score.error || score.explanation}`}
                </p>
              ))}
          </div>
        ))}
      </div>
      <p className="cw-row cw-page-count" role="status">
        {place < 0 ? (
          trans.__('Both did the same.')
        ) : (
          <>
            <span>{trans.__('They part at step %1 of %2.', place + 1, pairs.length)}</span>
            <Button
              kind="quiet"
              onClick={() => {
                parting.current?.scrollIntoView({ block: 'start' });
                parting.current?.focus();
              }}
            >
              {trans.__('Go there')}
            </Button>
          </>
        )}
      </p>
      <ol className="cw-steps">
        {pairs.map((pair, number) => (
          <li
            key={number}
            ref={pair.isDivergence ? parting : null}
            tabIndex={pair.isDivergence ? -1 : undefined}
            className={pair.isDivergence ? 'cw-mod-parting' : ''}
          >
            <PairRow pair={pair} />
          </li>
        ))}
      </ol>
    </>
  );
}

function PairRow({ pair }: { readonly pair: StepPair }) {
  const trans = useTrans();
  return (
    <>
      {pair.isDivergence && <p className="cw-parting">{trans.__('Here they part')}</p>}
      <div className="cw-pair">
        {[pair.first, pair.second].map((step, side) => (
          <div key={side}>
            {step === null ? (
              <p className="cw-muted">{trans.__('Nothing more')}</p>
            ) : (
              <StepView step={step} />
            )}
          </div>
        ))}
      </div>
    </>
  );
}
