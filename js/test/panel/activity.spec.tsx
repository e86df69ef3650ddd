import { cleanup, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import { Activity } from '../../src/panel/chat_view';
import { chatState } from '../fake_socket';
import { turn } from './fakes';
import { showPart } from './stage';

afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

it.each([
  ['an approval has waited', 'approval', { waitedSeconds: 20, waitingSince: 1090 }, '10s'],
  ['the run has worked', 'model', { waitedSeconds: 20, waitingSince: null }, '1m 20s']
] as const)('tells for how long %s', (_, phase, waited, words) => {
  vi.useFakeTimers({ now: 1_100_000 });
  const running = turn({ status: 'running', startedAt: 1000, ...waited });
  const state = chatState('c1', { run: 'run-1', phase });
  showPart(<Activity state={state} turn={running} onExtend={null} />);
  expect(screen.getByText(words)).toBeDefined();
});
