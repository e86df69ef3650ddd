import { cleanup, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it } from 'vitest';

import type { Turn } from '../../src/models/types';
import { BlockView } from '../../src/views/block';
import { TurnView } from '../../src/views/turn';
import { turn } from './fakes';
import { showPart } from './stage';

afterEach(cleanup);

const COMPACTION: Turn['blocks'][number] = {
  kind: 'compaction',
  tokensBefore: 45_200,
  tokensAfter: 3_100
};
const WORDS = 'Compacted: about 45.2K → 3.1K tokens';

it('stands alone as a line in place of a prompt and an answer', () => {
  showPart(<TurnView turn={turn({ prompt: '/compact', blocks: [COMPACTION] })} />);
  expect(screen.getByText(WORDS)).toBeDefined();
  expect(screen.queryByText('/compact')).toBeNull();
  expect(screen.queryByRole('button')).toBeNull();
});

it('can stand among other blocks', () => {
  showPart(<BlockView block={COMPACTION} runId="run-1" />);
  expect(screen.getByText(WORDS)).toBeDefined();
});

it('names the assistant above the answer', () => {
  showPart(<TurnView turn={turn({ assistant: 'careful', durationSeconds: 2 })} />);
  expect(screen.getByTitle('Assistant: careful').textContent).toBe('careful');
  expect(screen.getByText(/^2.0s/)).toBeDefined();
});
