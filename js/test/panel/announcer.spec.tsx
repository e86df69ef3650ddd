import { cleanup, render } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import type { Turn } from '../../src/chat/types';
import type { ChatState } from '../../src/wire/generated';
import { Announcer } from '../../src/panel/chat_view';
import { chatState } from '../fake_socket';
import { card, turn } from './fakes';

afterEach(cleanup);

/** Go through these moments and list what was said anew at each. */
function said(...moments: readonly [turns: Turn[], state?: Partial<ChatState>][]): string[] {
  const words: string[] = [];
  const draw = ([turns, state]: (typeof moments)[number]): React.ReactElement => (
    <Announcer turns={turns} state={chatState('chat-1', state)} />
  );
  const [first, ...others] = moments;
  const { container, rerender } = render(draw(first ?? [[]]));
  const region = container.querySelector('[aria-live=polite]');
  words.push(region?.textContent ?? 'no region');
  for (const moment of others) {
    rerender(draw(moment));
    words.push(region?.textContent ?? 'no region');
  }
  return words;
}

const running = (change: Partial<Turn> = {}): Turn => turn({ status: 'running', ...change });

it('says that a run starts and how it ends', () => {
  expect(
    said([[]], [[running()]], [[turn({ status: 'task error', reason: 'The kernel died.' })]])
  ).toEqual(['', 'The agent started working.', 'Failed. The kernel died.']);
});

it('says nothing of what was there before', () => {
  expect(said([[turn()]], [[turn()]])).toEqual(['', '']);
});

it('says nothing of the text as it comes', () => {
  const text = (words: string): Turn =>
    running({ blocks: [{ kind: 'text', text: words, isStreaming: true }] });
  expect(said([[text('It')]], [[text('It has')]], [[text('It has rows')]])).toEqual(['', '', '']);
});

it('says what needs approval, and once', () => {
  const asking = running({ blocks: [card({ status: 'asking' })] });
  const state = { approval: 'call-1' };
  expect(said([[running()]], [[asking], state], [[asking], state])).toEqual([
    '',
    'Approval needed: load the penguins',
    'Approval needed: load the penguins'
  ]);
});

it('says the same anew when another call of the same name needs approval', async () => {
  const asking = (callId: string): React.ReactElement => (
    <Announcer
      turns={[running({ blocks: [card({ callId, status: 'asking' })] })]}
      state={chatState('chat-1', { approval: callId })}
    />
  );
  const { container, rerender } = render(<Announcer turns={[]} state={chatState('chat-1')} />);
  rerender(asking('call-1'));
  const changes = vi.fn();
  const region = container.querySelector('[aria-live=polite]');
  new MutationObserver(changes).observe(container, { childList: true, subtree: true });
  rerender(asking('call-2'));
  expect(region?.textContent).toBe('Approval needed: load the penguins');
  await vi.waitFor(() => {
    expect(changes).toHaveBeenCalled();
  });
});

it('says that a cell asks for input', () => {
  const input = { request: 'r', prompt: 'Name?', password: false, form: null };
  expect(said([[running()]], [[running()], { input }])).toEqual([
    '',
    'The running cell asks for input: Name?'
  ]);
});
