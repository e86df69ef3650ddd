import { cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import { RUNNING, stage } from './composer_stage';
import { FakeChat, turn, USAGE } from './fakes';

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
