import { cleanup, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it } from 'vitest';

import type { Turn } from '../../src/chat/types';
import { TurnView } from '../../src/panel/turn';
import { card, turn, USAGE } from './fakes';
import { showPart } from './stage';

afterEach(cleanup);

const COMPACTIONS = [{ tokensBefore: 45_200, tokensAfter: 3_100 }];
const WORDS = 'Compacted: about 45.2K → 3.1K tokens';
const NO_USAGE = { ...USAGE, prompt_tokens: 0, completion_tokens: 0 };

it('stands alone as a line in place of a prompt and an answer', () => {
  const compacted = turn({ prompt: '/compact', compactions: COMPACTIONS, usage: NO_USAGE });
  showPart(<TurnView turn={compacted} />);
  expect(screen.getByText(WORDS)).toBeDefined();
  expect(screen.queryByText('/compact')).toBeNull();
  expect(screen.queryByRole('button')).toBeNull();
});

it.each<[string, Partial<Turn>]>([
  ['running', { status: 'running', blocks: [card({ status: 'asking' })], usage: NO_USAGE }],
  ['answered', { blocks: [{ kind: 'text', text: 'It is 42.', isStreaming: false }] }],
  ['stopped before any answer', { status: 'cancelled', cause: 'stopped', usage: NO_USAGE }]
])('stands above a prompt that is %s and hides nothing of it', (_, change) => {
  showPart(<TurnView turn={turn({ compactions: COMPACTIONS, ...change })} />);
  const line = screen.getByText(WORDS);
  const prompt = screen.getByText('What is in this data?');
  expect(line.compareDocumentPosition(prompt)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(screen.getByRole('article').textContent).not.toContain(WORDS);
  const isAsked = change.status === 'running';
  expect(screen.queryAllByRole('button', { name: 'Approve' })).toHaveLength(isAsked ? 1 : 0);
});

it('names the assistant above the answer', () => {
  showPart(<TurnView turn={turn({ assistant: 'careful', durationSeconds: 2 })} />);
  expect(screen.getByTitle('Assistant: careful').textContent).toBe('careful');
  expect(screen.getByText(/^2.0s/)).toBeDefined();
});
