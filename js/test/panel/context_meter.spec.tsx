import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import { RUNNING, stage } from './composer_stage';
import { FakeChat, turn, USAGE } from './fakes';
import { settle } from './stage';

afterEach(cleanup);

it('shows how full the context is and what it is made of', async () => {
  const state = { context_tokens: 43_000, context_limit: 128_000 };
  await stage(new FakeChat(state, [turn({ usage: USAGE })]));
  const meter = screen.getByRole('button', { name: 'Context: 34% full' });
  expect(meter.textContent).toBe('');
  expect(screen.queryByRole('dialog')).toBeNull();
  fireEvent.click(meter);
  expect(screen.getByRole('dialog').textContent).toContain('43.0K');
  expect(screen.getByRole('dialog').textContent).toContain('85.0K');
  fireEvent.keyDown(meter, { key: 'Escape' });
  expect(screen.queryByRole('dialog')).toBeNull();
});

it('shows its parts while the pointer is on it, and stops no run when Esc closes them', async () => {
  const { chat } = await stage(new FakeChat({ ...RUNNING, context_tokens: 900 }));
  const meter = screen.getByRole('button', { name: 'Context: 900 tokens' });
  fireEvent.mouseEnter(meter.parentElement ?? meter);
  expect(screen.getByRole('dialog').textContent).toContain('900');
  fireEvent.keyDown(meter, { key: 'Escape' });
  expect(chat.calls).toEqual([]);
  fireEvent.mouseEnter(meter.parentElement ?? meter);
  fireEvent.mouseLeave(meter.parentElement ?? meter);
  expect(screen.queryByRole('dialog')).toBeNull();
});

it('warns when the context is three quarters full', async () => {
  await stage(new FakeChat({ context_tokens: 96_000, context_limit: 128_000 }));
  expect(screen.getByRole('button', { name: 'Context: 75% full' }).textContent).toBe('75%');
});

it('shows the tokens alone where nobody knows how many the model takes', async () => {
  await stage(new FakeChat({ context_tokens: 12_300, context_limit: 0 }));
  const meter = screen.getByRole('button', { name: 'Context: 12.3K tokens' });
  expect(meter.textContent).toBe('12.3K');
  fireEvent.click(meter);
  expect(screen.getByRole('dialog').textContent).not.toContain('Room left');
});

it('shows no meter before the first request', async () => {
  await stage(new FakeChat({ context_tokens: 0, context_limit: 128_000 }));
  expect(screen.queryByRole('button', { name: /^Context/ })).toBeNull();
});

it('compacts when it is told to', async () => {
  const { chat } = await stage(new FakeChat({ context_tokens: 900 }));
  fireEvent.click(screen.getByRole('button', { name: /^Context/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Compact now' }));
  expect(chat.calls).toEqual([['compact']]);
  expect(screen.queryByRole('dialog')).toBeNull();
});

it.each([
  ['a run goes on', RUNNING],
  ['prompts wait', { queue: [{ id: 'q1', prompt: 'Then plot it' }] }]
])('does not compact while %s', async (_, state) => {
  await stage(new FakeChat({ ...state, context_tokens: 900 }));
  fireEvent.click(screen.getByRole('button', { name: /^Context/ }));
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Compact now' }).disabled).toBe(
    true
  );
});

const PARTS = [
  { name: 'instructions', pieces: 1, tokens: 305 },
  { name: 'questions', pieces: 3, tokens: 12_000 },
  { name: 'something new', pieces: 1, tokens: 7 }
];

it('shows what is in the context and what it costs', async () => {
  const { panel } = await stage(new FakeChat({ context_tokens: 900 }));
  panel.context = { ...panel.context, parts: PARTS, dollars: 0.12, cached_dollars: 0.012 };
  fireEvent.click(screen.getByRole('button', { name: /^Context/ }));
  const table = await screen.findByRole('table', { name: /What it holds/ });
  expect(table.textContent).toContain('Instructions305');
  expect(table.textContent).toContain('Questions12.0K');
  expect(table.textContent).toContain('something new7');
  expect(screen.getByText('A request costs $0.12 for it, $0.01 from the cache.')).not.toBeNull();
});

it('says no cost where nobody knows the price, and nothing where the server does not tell', async () => {
  const { panel } = await stage(new FakeChat({ context_tokens: 900 }));
  panel.context = { ...panel.context, parts: PARTS };
  const meter = screen.getByRole('button', { name: /^Context/ });
  fireEvent.click(meter);
  await screen.findByRole('table');
  expect(screen.queryByText(/A request costs/)).toBeNull();
  fireEvent.keyDown(meter, { key: 'Escape' });
  panel.refusal = new Error('404');
  fireEvent.click(meter);
  await Promise.resolve();
  expect(screen.queryByRole('table')).toBeNull();
});

it('keeps what a person writes into the summary, also when it is refused at first', async () => {
  const { panel } = await stage(new FakeChat({ context_tokens: 900 }));
  panel.context = { ...panel.context, parts: PARTS, summary: '- asked: which region?' };
  fireEvent.click(screen.getByRole('button', { name: /^Context/ }));
  expect(await screen.findByText('- asked: which region?')).not.toBeNull();
  const words = screen.getByLabelText('Your words in it; they stay');
  const save = screen.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  expect(save.disabled).toBe(true);
  fireEvent.change(words, { target: { value: 'The unit is kg.' } });
  panel.refusal = new Error('A run of this chat is going on.');
  fireEvent.click(save);
  expect((await screen.findByRole('alert')).textContent).toContain('is going on');
  expect((words as HTMLTextAreaElement).value).toBe('The unit is kg.');
  panel.refusal = null;
  const meter = screen.getByRole('button', { name: /^Context/ });
  fireEvent.keyDown(meter, { key: 'Escape' });
  fireEvent.click(meter);
  const again = await screen.findByLabelText('Your words in it; they stay');
  expect((again as HTMLTextAreaElement).value).toBe('The unit is kg.');
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(await screen.findByText('The unit is kg.', { selector: 'p' })).not.toBeNull();
  expect(panel.calls.at(-1)).toEqual(['changeSummary', 'chat-1', 'The unit is kg.']);
});

it('stays open for whoever writes in it, wherever the pointer goes', async () => {
  const { panel } = await stage(new FakeChat({ context_tokens: 900 }));
  panel.context = { ...panel.context, parts: PARTS };
  const meter = screen.getByRole('button', { name: /^Context/ });
  fireEvent.mouseEnter(meter.parentElement ?? meter);
  fireEvent.focus(await screen.findByLabelText('Your words in it; they stay'));
  fireEvent.mouseLeave(meter.parentElement ?? meter);
  expect(screen.getByRole('dialog')).not.toBeNull();
});

it('tells what undo holds once it is opened, and gives it back', async () => {
  const path = 'a.ipynb';
  const { panel } = await stage(new FakeChat({ context_tokens: 900, notebook_path: path }));
  const row = { label: '', run_id: 'a', step: 0, is_later: false, taken_at: 1, changes: {} };
  const snapshots = ['1', '2'].map(id => ({ ...row, snapshot_id: id }));
  panel.snapshots = { snapshots, held_bytes: 64_000_000 };
  act(() => {
    panel.setNotebook({ path, kernelId: 'kernel-1', outline: () => [] });
  });
  const meter = screen.getByRole('button', { name: /^Context/ });
  fireEvent.mouseEnter(meter.parentElement ?? meter);
  await settle();
  expect(panel.calls).not.toContainEqual(['snapshots', 'kernel-1', true]);
  fireEvent.click(meter);
  const words = await screen.findByText('Undo keeps 2 states, in 64 MB of memory.');
  panel.refusal = new Error('The kernel is busy.');
  fireEvent.click(screen.getByRole('button', { name: 'Forget them' }));
  expect((await screen.findByRole('alert')).textContent).toBe('The kernel is busy.');
  panel.refusal = null;
  fireEvent.click(screen.getByRole('button', { name: 'Forget them' }));
  await expect.poll(() => words.textContent).toContain('Forgotten.');
  expect(screen.queryByRole('button', { name: 'Forget them' })).toBeNull();
});

it('says nothing of undo where the kernel cannot be asked, or holds nothing', async () => {
  const path = 'a.ipynb';
  const { panel } = await stage(new FakeChat({ context_tokens: 900, notebook_path: path }));
  act(() => {
    panel.setNotebook({ path, kernelId: 'kernel-1', outline: () => [] });
  });
  panel.refusal = new Error('The kernel is busy.');
  const meter = screen.getByRole('button', { name: /^Context/ });
  for (const refusal of [panel.refusal, null]) {
    panel.refusal = refusal;
    fireEvent.click(meter);
    await settle();
    expect(screen.queryByText(/Undo keeps/)).toBeNull();
    fireEvent.click(meter);
  }
  expect(panel.calls.filter(([name]) => name === 'snapshots')).toHaveLength(2);
});
