import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount, formatDollars } from '../models/figures';
import { Chooser } from '../pages/fields';
import { Head } from '../pages/head';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { type Grouping, GROUPINGS, type UsageRow } from './answers';
import { type Bar, BarPlot } from './bar_plot';
import { BudgetsView } from './budgets_view';
import { useOpener } from '../views/opening';
import { Empty, PartView } from './part_view';
import type { UsageList } from './usage_list';
import { groupingWords, namelessWords } from './words';

const MOST_BARS = 12;

type Measure = 'cost' | 'tokens';

/** What runs have used and cost: a table, a plot and budgets. */
export function UsageView({ list }: { readonly list: UsageList }) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { rows, by } = state;
  const [wanted, setMeasure] = React.useState<Measure>('cost');
  const hasCosts = rows.some(({ cost_dollars: cost }) => cost !== null);
  const measure = hasCosts ? wanted : 'tokens';
  return (
    <PartView
      state={state}
      lead={trans.__('What the runs on this machine have used. Prices are those of the settings.')}
    >
      <BudgetsView list={list} />
      <div className="cw-filters">
        <Chooser
          label={trans.__('Add up by')}
          value={by}
          choices={GROUPINGS.map(value => ({ value, label: groupingWords(value, trans) }))}
          hasAll={false}
          onChoose={value => {
            void list.group(GROUPINGS.find(known => known === value) ?? 'month');
          }}
        />
        {hasCosts && (
          <Chooser
            label={trans.__('Plot')}
            value={measure}
            choices={[
              { value: 'cost', label: trans.__('Cost') },
              { value: 'tokens', label: trans.__('Tokens') }
            ]}
            hasAll={false}
            onChoose={value => {
              setMeasure(value === 'tokens' ? 'tokens' : 'cost');
            }}
          />
        )}
      </div>
      {rows.length > 0 && (
        <>
          <BarPlot
            label={measure === 'cost' ? trans.__('Cost') : trans.__('Tokens')}
            bars={barsOf(rows, measure, row => rowName(row, by, trans))}
          />
          <UsageTable rows={rows} by={by} />
        </>
      )}
      {rows.length === 0 && <Empty state={state}>{trans.__('Nothing has been used yet.')}</Empty>}
    </PartView>
  );
}

interface UsageTableProps {
  readonly rows: readonly UsageRow[];
  readonly by: Grouping;
}

function UsageTable({ rows, by }: UsageTableProps) {
  const trans = useTrans();
  const isNumber = true;
  return (
    <table className="cw-table" aria-label={trans.__('Usage')}>
      <Head
        columns={[
          { key: 'name', label: groupingWords(by, trans) },
          { key: 'runs', label: trans.__('Runs'), isNumber },
          { key: 'calls', label: trans.__('Requests'), isNumber },
          { key: 'input', label: trans.__('Tokens in'), isNumber },
          { key: 'cached', label: trans.__('Cached'), isNumber },
          { key: 'output', label: trans.__('Tokens out'), isNumber },
          { key: 'cost', label: trans.__('Cost'), isNumber }
        ]}
      />
      <tbody>
        {rows.map(row => (
          <UsageRowView key={row.key} row={row} by={by} />
        ))}
      </tbody>
    </table>
  );
}

function UsageRowView({ row, by }: { readonly row: UsageRow; readonly by: Grouping }) {
  const trans = useTrans();
  const { run: open } = useOpener();
  const name = rowName(row, by, trans);
  return (
    <tr>
      <th scope="row" {...(by === 'month' && { className: 'cw-when' })}>
        {by === 'run' && open !== null ? (
          <button
            type="button"
            className="cw-row-link cw-one-line"
            onClick={() => {
              open(row.key);
            }}
          >
            {name}
          </button>
        ) : (
          name
        )}
      </th>
      <td className="cw-number">{row.runs}</td>
      <td className="cw-number">{row.calls}</td>
      <td className="cw-number">{formatCount(row.input_tokens)}</td>
      <td className="cw-number">{formatCount(row.cached_tokens)}</td>
      <td className="cw-number">{formatCount(row.output_tokens)}</td>
      <td className="cw-number">
        {row.cost_dollars === null ? '–' : formatDollars(row.cost_dollars)}
      </td>
    </tr>
  );
}

function rowName({ label, key }: UsageRow, by: Grouping, trans: TranslationBundle): string {
  return label || key || namelessWords(by, trans);
}

/** The largest rows; months stay in their order. */
function barsOf(
  rows: readonly UsageRow[],
  measure: Measure,
  nameOf: (row: UsageRow) => string
): readonly Bar[] {
  const isCost = measure === 'cost';
  return rows
    .filter(({ cost_dollars: cost }) => !isCost || cost !== null)
    .slice(0, MOST_BARS)
    .map(row => {
      const value = isCost ? (row.cost_dollars ?? 0) : row.input_tokens + row.output_tokens;
      const words = isCost ? formatDollars(value) : formatCount(value);
      return { key: row.key, label: nameOf(row), value, words };
    });
}
