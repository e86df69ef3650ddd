import { fireEvent, screen, waitFor } from '@testing-library/react';
import * as React from 'react';
import { expect, it, vi } from 'vitest';

import type { FilesOutcome, VariablesOutcome } from '../../src/chat/notebooks';
import { FilesBack } from '../../src/panel/files_back';
import type { TurnActions } from '../../src/panel/turn_actions';
import { TurnView } from '../../src/panel/turn';
import type { ChangedFiles } from '../../src/wire/generated';
import { card, turn } from './fakes';
import { showPart } from './stage';

const file = (path: string, was = 'changed', why = '') => ({ path, was, why });

function changed(change: Partial<ChangedFiles> = {}): ChangedFiles {
  return { back: [], stays: [], run_id: 'run-1', step: 0, ...change };
}

function show(variables: VariablesOutcome, outcomes: FilesOutcome[] = []) {
  const putFilesBack = vi.fn<TurnActions['putFilesBack']>(() =>
    Promise.resolve(outcomes.shift() ?? { kind: 'kept' as const, why: 'The kernel is busy.' })
  );
  const part = <FilesBack runId="run-1" step={2} variables={variables} />;
  return { putFilesBack, ...showPart(part, { putFilesBack, canUndo: true }) };
}

it('offers to put back the files that a run changed, and says which were', async () => {
  const back = [file('rows.csv'), file('new.txt', 'made')];
  const stays = [file('big.bin', '', 'it is larger than 50 MB')];
  const files = changed({ back, stays });
  const { putFilesBack } = show({ kind: 'undone', files }, [{ kind: 'put', files }]);
  expect(screen.getByText(/stay as they are: big.bin \(it is larger than 50 MB\)/)).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Put back 2 files' }));
  await waitFor(() => {
    expect(screen.getByRole('status').textContent).toBe(
      'Files are as they were before it: rows.csv, new.txt'
    );
  });
  expect(screen.queryByRole('button')).toBeNull();
  expect(putFilesBack.mock.calls).toEqual([['run-1', false, 2]]);
});

it('offers to bring them forth again after a redo', async () => {
  const files = changed({ back: [file('rows.csv')] });
  const { putFilesBack } = show({ kind: 'redone', files }, [{ kind: 'put', files }]);
  fireEvent.click(screen.getByRole('button', { name: 'Redo 1 file' }));
  await waitFor(() => {
    expect(screen.getByRole('status').textContent).toContain('as the run had left them: rows.csv');
  });
  expect(putFilesBack.mock.calls).toEqual([['run-1', true, 2]]);
});

it('names the first few of many', () => {
  const back = ['a', 'b', 'c', 'd', 'e', 'f'].map(path => file(path));
  show({ kind: 'undone', files: changed({ back }) });
  expect(screen.getByRole('button', { name: 'Put back 6 files' }).title).toBe('a, b, c, d, e, …');
});

it('says why they were not put back, and goes on offering', async () => {
  show({ kind: 'undone', files: changed({ back: [file('rows.csv')] }) });
  fireEvent.click(screen.getByRole('button', { name: 'Put back 1 file' }));
  await waitFor(() => {
    expect(screen.getByRole('status').textContent).toBe(
      'Files stay as they are: The kernel is busy.'
    );
  });
  expect(screen.getByRole<HTMLButtonElement>('button').disabled).toBe(false);
});

it.each<VariablesOutcome>([
  { kind: 'waiting' },
  { kind: 'kept', why: '' },
  { kind: 'undone' },
  { kind: 'undone', files: changed() }
])('offers nothing where there is nothing to put back', variables => {
  const { container } = show(variables);
  expect(container.textContent).toBe('');
});

it('stands below an undone turn, and puts files back from the cell where the undo began', async () => {
  const files = changed({ back: [file('rows.csv')] });
  const asked: number[] = [];
  const blocks = [card({ step: 1 }), card({ callId: 'b', step: 2 })];
  showPart(<TurnView turn={turn({ blocks })} />, {
    canUndo: true,
    keptSteps: () => Promise.resolve([0, 2]),
    undo: () => ({ changed: ['a'], kept: [] }),
    undoVariables: () => Promise.resolve({ kind: 'undone', files }),
    putFilesBack: (_, __, step) => {
      asked.push(step);
      return Promise.resolve({ kind: 'put', files });
    }
  });
  fireEvent.click(screen.getByRole('button', { name: /Undo run/ }));
  fireEvent.change(await screen.findByRole('slider'), { target: { value: '1' } });
  fireEvent.click(screen.getByRole('button', { name: 'Undo from cell 2' }));
  fireEvent.click(await screen.findByRole('button', { name: 'Put back 1 file' }));
  await screen.findByText('Files are as they were before it: rows.csv');
  expect(asked).toEqual([2]);
});
