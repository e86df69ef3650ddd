import { screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { row } from './kept';
import { findings, KeepingStage, press, write } from './keeping_stage';
import { complete } from '../../complete';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

it('shows a table and a plot of the cost, or of the tokens', async () => {
  const { container } = await stage.show('usage');
  expect(
    await screen.findByRole('row', { name: '2026-10 2 5 12.0K 8.0K (67%) 900 $1.50' })
  ).toBeTruthy();
  expect(screen.getByRole('img', { name: 'Cost: 2026-11 $0.25, 2026-10 $1.50' })).toBeTruthy();
  const lengths = [...container.querySelectorAll('rect')].map(bar => bar.getAttribute('width'));
  expect(Number(lengths[0]) * 6).toBeCloseTo(Number(lengths[1]));
  write(screen.getByRole('combobox', { name: 'Plot' }), 'tokens');
  expect(screen.getByRole('img', { name: /^Tokens: 2026-11 12.9K/ })).toBeTruthy();
  expect(await findings(container)).toEqual([]);
});

it('plots tokens where no price is known', async () => {
  stage.kept.rows = [row('2026-11', { cost_dollars: null })];
  await stage.show('usage');
  expect(await screen.findByRole('img', { name: 'Tokens: 2026-11 12.9K' })).toBeTruthy();
  expect(screen.queryByRole('combobox', { name: 'Plot' })).toBeNull();
});

it('adds up by something else, and leads to a run', async () => {
  await stage.show('usage');
  await screen.findByRole('img');
  stage.kept.rows = [row('run-1', { label: 'What is in it?' }), row('', { label: '' })];
  write(screen.getByRole('combobox', { name: 'Add up by' }), 'run');
  await press('What is in it?');
  expect(stage.opened).toEqual(['run run-1']);
  write(screen.getByRole('combobox', { name: 'Add up by' }), 'assistant');
  expect(await screen.findByRole('rowheader', { name: 'No assistant' })).toBeTruthy();
  expect(stage.server.requests.at(-1)?.query.get('by')).toBe('assistant');
});

it('sets and lifts budgets, and shows how far they are used', async () => {
  stage.kept.budgets = [
    { name: 'month_dollars', limit_dollars: 10, used: 8.5, month: '2026-11', unpriced_calls: 3 },
    { name: 'month_tokens', limit_tokens: 1000, used: 2000, month: '2026-11' }
  ].map(budget => complete('Budget', budget));
  const { container } = await stage.show('usage');
  expect(await screen.findByText('$8.50 of $10.00 in 2026-11')).toBeTruthy();
  expect(screen.getByText('Used up')).toBeTruthy();
  expect(screen.getByText('3 calls have no known price and do not count.')).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  write(screen.getByRole('textbox', { name: 'Dollars a month' }), 'ten');
  expect(screen.getByRole('alert').textContent).toBe('A limit is a number, or nothing');
  write(screen.getByRole('textbox', { name: 'Dollars a month' }), '12.5');
  write(screen.getByRole('textbox', { name: 'Tokens a month' }), '');
  await press('Set');
  await expect
    .poll(() => stage.sent('PUT', 'budgets'))
    .toEqual({ month_dollars: 12.5, month_tokens: 0 });
});
