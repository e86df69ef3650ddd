import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import * as React from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';

import type { ToolCard } from '../../src/chat/types';
import { RequestError } from '../../src/client/request';
import { ToolCardView } from '../../src/panel/tool_card';
import type { TurnActions } from '../../src/panel/turn_actions';
import type { Preview } from '../../src/wire/generated';
import { complete } from '../complete';
import { card } from './fakes';
import { showPart } from './stage';

afterEach(() => {
  cleanup();
});

const FOUND: Preview = complete('Preview', {
  outputs: [
    { text: 'total 6', picture: '' },
    { text: 'a figure', picture: 'iVBORw0KGgo=' }
  ],
  execution: complete('Execution', {
    status: 'ok',
    duration_seconds: 0.2,
    changed: [{ name: 'total', type: 'int', text: '6' }],
    removed: ['old'],
    files: [
      { path: 'out.csv', change: 'created', size_bytes: 12 },
      { path: 'in.csv', change: 'deleted', size_bytes: 0 }
    ]
  }),
  addresses: ['data.example:443']
});

function ask(change: Partial<ToolCard>, actions: Partial<TurnActions> = {}): void {
  const asking = { status: 'asking', reason: 'It runs code.', result: '' } as const;
  showPart(<ToolCardView card={card({ ...asking, ...change })} runId="run-1" />, {
    canAnswer: true,
    ...actions
  });
}

const press = async (name: string): Promise<void> => {
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name }));
    await Promise.resolve();
  });
};

it('shows what the call does, that it has not happened, and asks as before', async () => {
  const tried: string[] = [];
  ask(
    {},
    {
      preview: call => {
        tried.push(call);
        return Promise.resolve(FOUND);
      }
    }
  );
  await press('Preview');
  expect(tried).toEqual(['call-1']);
  const part = within(screen.getByRole('region', { name: 'Preview' }));
  expect(part.getByText('Nothing of this has happened yet.')).toBeDefined();
  expect(part.getByRole('group', { name: 'Output of the preview' }).textContent).toBe('total 6');
  expect(part.getByRole('img').getAttribute('src')).toBe('data:image/png;base64,iVBORw0KGgo=');
  for (const name of ['total', 'old', 'out.csv', 'in.csv', 'data.example:443']) {
    expect(part.getByText(name)).toBeDefined();
  }
  expect(part.getByText('in.csv').tagName).toBe('DEL');
  expect(screen.getByRole('button', { name: 'Approve' })).toBeDefined();
  await press('Preview again');
  expect(tried).toHaveLength(2);
});

it('says that nothing changes where nothing does', async () => {
  const execution = complete('Execution', { status: 'ok', duration_seconds: 0 });
  const nothing = complete('Preview', { outputs: [], execution, addresses: [] });
  ask({}, { preview: () => Promise.resolve(nothing) });
  await press('Preview');
  expect(screen.getByText('It changes nothing.')).toBeDefined();
});

it('says why there is none, and the call can be answered all the same', async () => {
  ask(
    {},
    {
      preview: () => Promise.reject(new RequestError(409, '', 'This kernel cannot be copied.', ''))
    }
  );
  await press('Preview');
  expect(screen.getByText('This kernel cannot be copied.')).toBeDefined();
  expect(screen.getByRole('button', { name: 'Preview' })).toBeDefined();
});

it('is stopped, and then says nothing', async () => {
  const stopped: string[] = [];
  let end: (error: Error) => void = () => undefined;
  ask(
    {},
    {
      preview: () =>
        new Promise((_, reject) => {
          end = reject;
        }),
      endPreview: () => {
        stopped.push('stopped');
        end(new RequestError(409, '', 'The preview was ended.', ''));
      }
    }
  );
  await press('Preview');
  expect(screen.getByText(/^Trying it in a copy/)).toBeDefined();
  await press('Stop preview');
  expect(stopped).toEqual(['stopped']);
  expect(screen.queryByText('The preview was ended.')).toBeNull();
  expect(screen.getByRole('button', { name: 'Preview' })).toBeDefined();
});

it.each([
  ['add_cell', {}],
  ['install_package', { name: 'polars' }],
  ['edit_cell', { run: false }]
])('is not offered where no code runs: %s', (name, given) => {
  ask({ name, given });
  expect(screen.queryByRole('button', { name: 'Preview' })).toBeNull();
});

it('is for the page that may answer', async () => {
  const tried: string[] = [];
  ask(
    {},
    {
      canAnswer: false,
      preview: call => {
        tried.push(call);
        return Promise.resolve(FOUND);
      }
    }
  );
  await press('Preview');
  expect(tried).toEqual([]);
});

describe('the result of a preview', () => {
  const answers: unknown[] = [];
  const found = (obstacle: string): Partial<TurnActions> => ({
    preview: () => Promise.resolve(complete('Preview', { ...FOUND, obstacle })),
    answer: (_, answer) => answers.push(answer)
  });

  it('can be kept in place of running the call', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true });
    ask({}, found(''));
    expect(screen.queryByRole('button', { name: 'Keep result' })).toBeNull();
    await press('Preview');
    await act(() => vi.advanceTimersByTimeAsync(1000));
    await press('Keep result');
    expect(answers).toEqual([{ allowed: true, reason: '', forSession: false, adopt: true }]);
    vi.useRealTimers();
  });

  it('is not offered where something stands in the way, which is named', async () => {
    ask({}, found('it changed the working directory'));
    await press('Preview');
    expect(
      screen.getByText('The result cannot be kept: it changed the working directory.')
    ).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Keep result' })).toBeNull();
  });

  it('is no longer offered once it could not be kept', async () => {
    ask({}, { ...found(''), approvalProblem: 'Something has run since.' });
    await press('Preview');
    expect(screen.getByText('Something has run since.')).toBeDefined();
    expect(screen.queryByRole('button', { name: 'Keep result' })).toBeNull();
  });
});
