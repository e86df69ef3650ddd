import * as React from 'react';

import type {
  ComparedRow,
  ComparedSide,
  Comparison,
  OutcomeChange,
  Sample
} from '../../client/runs_rest';
import { Button, LinkButton } from '../../ui/button';
import { useSignal, useTrans } from '../../ui/hooks';
import { Tabs } from '../controls';
import { Complaint, Head, Reading, ShowMore } from '../table';
import type { ComparisonModel, RunsPage, SampleModel } from './runs_page';
import { SampleFacts, StepView } from './sample_view';
import { pairSteps, type StepPair, stepsOf } from './trajectory';
import { changeWords, Interval, points, runStatusWords } from './words';

interface PairViewProps {
  readonly first: SampleModel;
  readonly second: SampleModel;
}

/** Two samples side by side, with the place where they part. */
export function PairView({ first, second }: PairViewProps) {
  const one = useSignal(first.changed, () => first.state);
  const other = useSignal(second.changed, () => second.state);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={one.problem} />
      <Complaint text={other.problem} />
      {one.sample !== null && other.sample !== null ? (
        <Pairs first={one.sample} second={other.sample} />
      ) : (
        one.problem + other.problem === '' && <Reading />
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

interface CompareViewProps {
  readonly page: RunsPage;
  readonly model: ComparisonModel;
}

/** Two results, sample by sample, what became worse first. */
export function CompareView({ page, model }: CompareViewProps) {
  const { comparison, problem } = useSignal(model.changed, () => model.state);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={problem} />
      {comparison !== null && (
        <>
          <ComparisonSum comparison={comparison} model={model} />
          <Rows page={page} comparison={comparison} model={model} />
        </>
      )}
      {comparison === null && problem === '' && <Reading />}
    </div>
  );
}

interface ComparisonSumProps {
  readonly comparison: Comparison;
  readonly model: ComparisonModel;
}

function ComparisonSum({ comparison, model }: ComparisonSumProps) {
  const trans = useTrans();
  const { difference, shared, only_first: first, only_second: second } = comparison;
  return (
    <dl className="cw-facts">
      <div>
        <dt>{trans.__('Baseline')}</dt>
        <dd>{model.first}</dd>
      </div>
      <div>
        <dt>{trans.__('Against it')}</dt>
        <dd>{model.second}</dd>
      </div>
      <div>
        <dt>{trans.__('Difference')}</dt>
        <dd>
          <Interval estimate={difference} format={points} />
          <span className="cw-muted">
            {trans.__('p = %1', comparison.p_value.toPrecision(2))}
            {' · '}
            {trans.__('smallest difference to be seen: %1', points(comparison.detectable))}
          </span>
        </dd>
      </div>
      <div>
        <dt>{trans.__('Samples in both')}</dt>
        <dd>
          {shared}
          {first + second > 0 && (
            <span className="cw-muted">
              {trans.__('%1 only in the first, %2 only in the second', first, second)}
            </span>
          )}
        </dd>
      </div>
    </dl>
  );
}

interface RowsProps extends ComparisonSumProps {
  readonly page: RunsPage;
}

function Rows({ page, comparison, model }: RowsProps) {
  const trans = useTrans();
  const { rows, shown, hasMore } = useSignal(model.changed, () => model.state);
  const id = React.useId();
  const counts: Record<OutcomeChange, number> = {
    worse: comparison.worse,
    better: comparison.better,
    same: comparison.equal
  };
  const tabs = [
    { key: 'all' as const, label: trans.__('All (%1)', comparison.shared) },
    ...(['worse', 'better', 'same'] as const).map(key => ({
      key,
      label: `${changeWords(key, trans)} (${String(counts[key])})`
    }))
  ];
  return (
    <>
      <Tabs
        label={trans.__('What became of the samples')}
        tabs={tabs}
        chosen={shown === '' ? 'all' : shown}
        panel={id}
        onChoose={key => {
          model.show(key === 'all' ? '' : key);
        }}
      />
      <div id={id} role="tabpanel">
        <table className="cw-table">
          <Head
            columns={[
              { key: 'sample', label: trans.__('Sample') },
              { key: 'change', label: trans.__('Change') },
              { key: 'first', label: trans.__('Baseline') },
              { key: 'second', label: trans.__('Against it') }
            ]}
          />
          <tbody>
            {rows
              .filter(({ change }) => shown === '' || change === shown)
              .map(row => (
                <ComparedRowView key={row.index} page={page} row={row} model={model} />
              ))}
          </tbody>
        </table>
        <ShowMore isThere={hasMore} onMore={() => model.more()} />
      </div>
    </>
  );
}

interface ComparedRowViewProps {
  readonly page: RunsPage;
  readonly row: ComparedRow;
  readonly model: ComparisonModel;
}

const ComparedRowView = React.memo(function ComparedRowView({
  page,
  row,
  model
}: ComparedRowViewProps) {
  const trans = useTrans();
  return (
    <tr>
      <th scope="row">
        <LinkButton
          onClick={() => {
            page.go({
              kind: 'pair',
              first: { result: model.first, id: row.first.id },
              second: { result: model.second, id: row.second.id }
            });
          }}
        >
          {row.index}
        </LinkButton>
      </th>
      <td>
        <span className={`cw-change cw-mod-${row.change}`}>{changeWords(row.change, trans)}</span>
      </td>
      <Side side={row.first} />
      <Side side={row.second} />
    </tr>
  );
});

/** With several tries how many of them passed, else whether the one did. */
function Side({ side }: { readonly side: ComparedSide }) {
  const trans = useTrans();
  const { value, tries, status, why } = side;
  return (
    <td className="cw-why">
      {tries > 1
        ? trans.__('%1 of %2 tries passed', Math.round(value * tries), tries)
        : value === 1
          ? trans.__('Passed')
          : trans.__('Not passed')}
      {status !== 'completed' && ` · ${runStatusWords(status, trans)}`}
      {why !== '' && <span className="cw-muted cw-path">{why}</span>}
    </td>
  );
}
