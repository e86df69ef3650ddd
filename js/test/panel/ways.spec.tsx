import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { BranchList, BranchSummary } from '../../src/wire/generated';
import { complete } from '../complete';
import { FakeChat, FakePanel } from './fakes';
import { PATH, Stage } from './stage';

afterEach(() => {
  cleanup();
});

const way = (number: number, more: Partial<BranchSummary> = {}): BranchSummary =>
  complete('BranchSummary', {
    number,
    label: '',
    model: 'fake-model',
    status: 'completed',
    doing: '',
    run: `run-${String(number)}`,
    answer: `Answer **${String(number)}**`,
    problem: '',
    variables: ['total'],
    files: [],
    cells: 2,
    seconds: 12.3,
    tokens: 1234,
    cost_dollars: 0.08,
    picture: '',
    ...more
  });

async function open(list: BranchList): Promise<Stage> {
  const chat = new FakeChat({ notebook_path: PATH, branches: list.phase });
  const panel = new FakePanel(chat);
  panel.branchList = list;
  const stage = new Stage(panel);
  await stage.show();
  return stage;
}

const OVER: BranchList = {
  phase: 'over',
  prompt: 'add them up',
  branches: [
    way(1, { label: 'small', picture: 'iVBORw0KGgo=' }),
    way(2, { variables: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] }),
    way(3, { status: 'task error', answer: '', run: '', problem: 'No key is set.', cells: 0 })
  ]
};

it('shows side by side what each way came to', async () => {
  await open(OVER);
  const first = await screen.findByRole('listitem', { name: 'Way 1 · small' });
  expect(within(first).getByText('2 cells · 12.3s · 1.2K tokens · $0.08')).toBeDefined();
  expect((await within(first).findByText('1')).tagName).toBe('STRONG');
  expect(within(first).getByText('Done')).toBeDefined();
  expect(within(first).getByRole('img').getAttribute('alt')).toBe('The last plot of way 1');
  const second = screen.getByRole('listitem', { name: 'Way 2' });
  const changed = within(second).getByRole('list', { name: 'Changed' });
  expect(within(changed).getAllByRole('listitem')).toHaveLength(7);
  expect(within(changed).getByText('2 more')).toBeDefined();
  const third = screen.getByRole('listitem', { name: 'Way 3' });
  expect(within(third).getByText('No key is set.')).toBeDefined();
  expect(within(third).queryByRole('button')).toBeNull();
  expect(screen.getByText('add them up')).toBeDefined();
});

it('keeps a way once, and says what speaks against it', async () => {
  const { panel } = await open(OVER);
  panel.refusal = new Error('The kernel is busy.');
  fireEvent.click(await screen.findByRole('button', { name: 'Keep way 2' }));
  const keep = screen.getByRole<HTMLButtonElement>('button', { name: 'Keep way 1' });
  expect(keep.disabled).toBe(true);
  expect((await screen.findByRole('alert')).textContent).toContain('The kernel is busy.');
  await waitFor(() => {
    expect(keep.disabled).toBe(false);
  });
  expect(panel.calls.filter(([name]) => name === 'keepBranch')).toEqual([
    ['keepBranch', 'chat-1', 2]
  ]);
});

it('is gone when the chat has no ways any more', async () => {
  const { panel } = await open(OVER);
  fireEvent.click(await screen.findByRole('button', { name: 'Drop all' }));
  expect(panel.calls.at(-1)).toEqual(['dropBranches', 'chat-1']);
  act(() => {
    panel.chat.set({ state: { branches: '' } });
  });
  expect(screen.queryByRole('region', { name: 'Ways to choose from' })).toBeNull();
});

it('looks again while they work, and can be stopped', async () => {
  const working = way(1, { status: 'running', doing: 'Running a cell', answer: '', cells: 1 });
  const { panel } = await open({ ...OVER, phase: 'running', branches: [working, way(2)] });
  expect(await screen.findByText('Running a cell')).toBeDefined();
  expect(screen.getByText('1 of 2 ways have ended')).toBeDefined();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Keep way 2' }).disabled).toBe(true);
  panel.branchList = OVER;
  await waitFor(() => {
    expect(screen.queryByText('Running a cell')).toBeNull();
  });
  fireEvent.click(screen.getByRole('button', { name: /^Stop/ }));
  expect(panel.chat.calls).toContainEqual(['stop']);
});

it('asks how many ways and which models, in turn', async () => {
  const { panel } = await open({ phase: '', prompt: '', branches: [] });
  panel.models = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  const opener = screen.getByRole('button', { name: 'Try several ways' });
  fireEvent.click(opener);
  const count = screen.getByRole<HTMLSelectElement>('combobox', { name: 'How many ways' });
  expect([document.activeElement, count.value]).toEqual([count, '3']);
  const boxes = await screen.findAllByRole<HTMLInputElement>('checkbox');
  const submit = () => screen.getByRole<HTMLButtonElement>('button', { name: /^Try \d ways/ });
  expect([submit().disabled, boxes.length]).toEqual([true, 9]); // nothing is written
  fireEvent.keyDown(count, { key: 'Escape' });
  expect(screen.queryByRole('combobox', { name: 'How many ways' })).toBeNull();
  expect(document.activeElement).toBe(opener);

  act(() => {
    panel.chat.composer.setText('add them up');
  });
  fireEvent.click(opener);
  const field = () => screen.getByRole<HTMLSelectElement>('combobox', { name: 'How many ways' });
  fireEvent.change(field(), { target: { value: '2' } });
  for (const name of ['a', 'c', 'd']) {
    fireEvent.click(await screen.findByRole('checkbox', { name }));
  }
  expect([field().value, submit().textContent]).toEqual(['3', 'Try 3 ways']);
  fireEvent.click(screen.getByRole('checkbox', { name: 'c' }));
  for (const name of ['b', 'e', 'f', 'g', 'h', 'i']) {
    fireEvent.click(screen.getByRole('checkbox', { name }));
  }
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'c' }).disabled).toBe(true);
  fireEvent.click(submit());
  const [name, , ...wanted] = panel.chat.calls.at(-1) ?? [];
  expect([name, ...wanted]).toEqual(['tryWays', 8, ['a', 'd', 'b', 'e', 'f', 'g', 'h', 'i']]);
});

it('tries what is written in three ways, and nothing else until one is kept', async () => {
  const { panel } = await open({ phase: '', prompt: '', branches: [] });
  act(() => {
    panel.chat.composer.setText('add them up');
  });
  fireEvent.click(screen.getByRole('button', { name: 'Try several ways' }));
  fireEvent.click(screen.getByRole('button', { name: 'Try 3 ways' }));
  const [name, draft, count, models] = panel.chat.calls.at(-1) ?? [];
  expect([name, count, models]).toEqual(['tryWays', 3, []]);
  expect(draft).toMatchObject({ text: 'add them up' });
  act(() => {
    panel.chat.composer.setText('and then?');
    panel.chat.set({ state: { branches: 'over' } });
  });
  fireEvent.click(screen.getByRole('button', { name: 'Keep one of the ways or drop all' }));
  expect(panel.chat.calls.filter(([called]) => called === 'ask')).toEqual([]);
});
