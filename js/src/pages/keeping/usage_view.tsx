import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import {
  type BudgetChange,
  type Grouping,
  GROUPINGS,
  type MonthBudget,
  type UsageRow
} from '../../client/keeping_rest';
import { Button, LinkButton } from '../../ui/button';
import { formatCount, formatDollars, formatShare } from '../../ui/figures';
import { useSignal, useTrans } from '../../ui/hooks';
import { useOpener } from '../../ui/opening';
import { linear, shortened } from '../axes';
import { Chooser } from '../controls';
import { Empty, Head } from '../table';
import { groupingWords, namelessWords } from './keeping_page';
import type { UsageList } from './kept_lists';
import { PartView } from './part_view';

/** Limits of a month, how far they are used, and a form to set them. */
function BudgetsView({ list }: { readonly list: UsageList }) {
  const trans = useTrans();
  const { budgets } = useSignal(list.changed, () => list.state);
  const title = React.useId();
  return (
    <section className="cw-budgets" aria-labelledby={title}>
      <h3 id={title}>{trans.__('Budgets')}</h3>
      <p className="cw-muted">{trans.__('What a month may take. Runs stop when it is used up.')}</p>
      {budgets.length > 0 && (
        <ul>
          {budgets.map(budget => (
            <BudgetLine key={budget.name} budget={budget} />
          ))}
        </ul>
      )}
      <BudgetForm key={limitsOf(budgets).join()} list={list} limits={limitsOf(budgets)} />
    </section>
  );
}

function BudgetLine({ budget }: { readonly budget: MonthBudget }) {
  const trans = useTrans();
  const { limit_dollars: dollars, limit_tokens: tokens, used, month } = budget;
  const limit = dollars ?? tokens ?? null;
  if (limit === null) {
    return null;
  }
  const format = typeof dollars === 'number' ? formatDollars : formatCount;
  const share = limit > 0 ? used / limit : 1;
  const state = share >= 1 ? 'spent' : share >= 0.8 ? 'near' : 'free';
  const words = trans.__('%1 of %2 in %3', format(used), format(limit), month);
  return (
    <li className={`cw-budget cw-mod-${state}`}>
      <span>{budgetWords(budget, trans)}</span>
      <progress aria-label={budgetWords(budget, trans)} value={Math.min(share, 1)} max={1} />
      <span className="cw-number">{words}</span>
      {state === 'spent' && <strong>{trans.__('Used up')}</strong>}
      <Unpriced calls={budget.unpriced_calls} />
    </li>
  );
}

/** Why a limit in dollars may see less than was used. */
function Unpriced({ calls }: { readonly calls: number }) {
  const trans = useTrans();
  if (calls === 0) {
    return null;
  }
  return (
    <span className="cw-muted">
      {trans._n(
        '%1 call has no known price and does not count.',
        '%1 calls have no known price and do not count.',
        calls
      )}
    </span>
  );
}

interface BudgetFormProps {
  readonly list: UsageList;
  /** Dollars and tokens, as the fields show them; empty: no limit. */
  readonly limits: readonly [string, string];
}

function BudgetForm({ list, limits }: BudgetFormProps) {
  const trans = useTrans();
  const [dollars, setDollars] = React.useState(limits[0]);
  const [tokens, setTokens] = React.useState(limits[1]);
  const change = changeOf(dollars, tokens);
  const isChanged = dollars.trim() !== limits[0] || tokens.trim() !== limits[1];
  const save = (): void => {
    if (change !== null && isChanged) {
      void list.setBudgets(change);
    }
  };
  return (
    <div
      className="cw-adding"
      role="group"
      aria-label={trans.__('Budget of a month')}
      onKeyDown={event => {
        if (event.key === 'Enter' && event.target instanceof HTMLInputElement) {
          save();
        }
      }}
    >
      <LimitField label={trans.__('Dollars a month')} value={dollars} onValue={setDollars} />
      <LimitField label={trans.__('Tokens a month')} value={tokens} onValue={setTokens} />
      <Button aria-disabled={change === null || !isChanged} onClick={save}>
        {trans.__('Set')}
      </Button>
      {change === null && (
        <span className="cw-problem" role="alert">
          {trans.__('A limit is a number, or nothing')}
        </span>
      )}
    </div>
  );
}

interface LimitFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
}

function LimitField({ label, value, onValue }: LimitFieldProps) {
  const trans = useTrans();
  return (
    <label className="cw-chooser">
      <span className="cw-muted">{label}</span>
      <input
        className="cw-field"
        inputMode="decimal"
        value={value}
        placeholder={trans.__('No limit')}
        onChange={event => {
          onValue(event.target.value);
        }}
      />
    </label>
  );
}

/** The limits in force for everything, as texts. */
function limitsOf(budgets: readonly MonthBudget[]): readonly [string, string] {
  const dollars = budgets.find(({ name }) => name === 'month_dollars')?.limit_dollars;
  const tokens = budgets.find(({ name }) => name === 'month_tokens')?.limit_tokens;
  return [
    typeof dollars === 'number' ? String(dollars) : '',
    typeof tokens === 'number' ? String(tokens) : ''
  ];
}

/** Null: one of the texts is no limit. */
function changeOf(dollars: string, tokens: string): BudgetChange | null {
  const money = limitIn(dollars);
  const count = limitIn(tokens);
  if (Number.isNaN(money) || Number.isNaN(count)) {
    return null;
  }
  return { month_dollars: money, month_tokens: Math.round(count) };
}

/** Nothing is no limit, as 0 is. */
function limitIn(text: string): number {
  const value = Number(text.trim());
  return Number.isFinite(value) && value >= 0 ? value : NaN;
}

function budgetWords({ name }: MonthBudget, trans: TranslationBundle): string {
  const words: Partial<Record<string, string>> = {
    month_dollars: trans.__('Dollars a month'),
    month_tokens: trans.__('Tokens a month')
  };
  return words[name] ?? name;
}

const WIDTH = 760;
const VALUE = 80;
const LINE = 26;
const BAR = 14;
const CHARACTER = 8;

/** An amount with its name. */
interface Bar {
  readonly key: string;
  readonly label: string;
  readonly value: number;
  /** The amount as people read it. */
  readonly words: string;
}

interface BarPlotProps {
  /** What the bars are of. */
  readonly label: string;
  readonly bars: readonly Bar[];
}

/** Amounts as bars, one below the other. */
function BarPlot({ label, bars }: BarPlotProps) {
  const highest = Math.max(...bars.map(({ value }) => value), 0);
  const axis = linear(0, highest === 0 ? 1 : highest, []);
  const left = Math.max(...bars.map(bar => shortened(bar.label).length), 0) * CHARACTER + 10;
  const width = WIDTH - left - VALUE;
  return (
    <figure className="cw-plot">
      <svg
        viewBox={`0 0 ${String(WIDTH)} ${String(bars.length * LINE + 4)}`}
        role="img"
        aria-label={`${label}: ${bars.map(bar => `${bar.label} ${bar.words}`).join(', ')}`}
      >
        {bars.map((bar, place) => {
          const middle = place * LINE + LINE / 2 + 2;
          const length = Math.max(axis.at(bar.value) * width, bar.value > 0 ? 2 : 0);
          return (
            <g key={bar.key}>
              <title>{`${bar.label}: ${bar.words}`}</title>
              <text x={left - 10} y={middle + 4} textAnchor="end">
                {shortened(bar.label)}
              </text>
              <rect
                className="cw-plot-bar"
                x={left}
                y={middle - BAR / 2}
                width={length}
                height={BAR}
                rx={2}
              />
              <text x={left + length + 8} y={middle + 4}>
                {bar.words}
              </text>
            </g>
          );
        })}
        <line className="cw-plot-axis" x1={left} x2={left} y1={0} y2={bars.length * LINE + 4} />
      </svg>
    </figure>
  );
}

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
          <LinkButton
            className="cw-one-line"
            onClick={() => {
              open(row.key);
            }}
          >
            {name}
          </LinkButton>
        ) : (
          name
        )}
      </th>
      <td className="cw-number">{row.runs}</td>
      <td className="cw-number">{row.calls}</td>
      <td className="cw-number">{formatCount(row.input_tokens)}</td>
      <td className="cw-number">
        {formatCount(row.cached_tokens)}
        {row.cached_tokens > 0 && ` (${formatShare(row.cached_tokens, row.input_tokens)})`}
      </td>
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
