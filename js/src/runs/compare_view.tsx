import * as React from 'react';

import { Complaint, Nothing } from '../pages/notes';
import { ShowMore } from '../pages/show_more';
import { Tabs } from '../pages/tabs';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { OutcomeChange, ComparedRow, ComparedSide, Comparison } from './answers';
import type { ComparisonModel } from './comparison_model';
import { Interval } from './interval';
import type { RunsPage } from './runs_page';
import { changeWords, points, runStatusWords } from './words';

interface CompareViewProps {
  readonly page: RunsPage;
  readonly model: ComparisonModel;
}

/** Two results, sample by sample, what became worse first. */
export function CompareView({ page, model }: CompareViewProps) {
  const trans = useTrans();
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
      {comparison === null && problem === '' && <Nothing>{trans.__('Reading …')}</Nothing>}
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
            {trans.__('p = %1 (sign test)', comparison.p_value.toPrecision(2))}
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
          <thead>
            <tr>
              <th scope="col">{trans.__('Sample')}</th>
              <th scope="col">{trans.__('Change')}</th>
              <th scope="col">{trans.__('Baseline')}</th>
              <th scope="col">{trans.__('Against it')}</th>
            </tr>
          </thead>
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

const ComparedRowView = React.memo(function Row({ page, row, model }: ComparedRowViewProps) {
  const trans = useTrans();
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          className="cw-row-link"
          onClick={() => {
            page.go({
              kind: 'pair',
              first: { result: model.first, id: row.first.id },
              second: { result: model.second, id: row.second.id }
            });
          }}
        >
          {row.index}
        </button>
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
