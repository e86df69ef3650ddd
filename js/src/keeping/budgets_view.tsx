import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount, formatDollars } from '../models/figures';
import { Button } from '../views/button';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { BudgetChange, MonthBudget } from './answers';
import type { UsageList } from './usage_list';

/** Limits of a month, how far they are used, and a form to set them. */
export function BudgetsView({ list }: { readonly list: UsageList }) {
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
      <Unpriced calls={budget.unpriced_calls ?? 0} />
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
