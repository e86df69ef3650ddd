import { fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { expect, it } from 'vitest';

import type { Execution } from '../../src/wire/generated';
import { MadeFiles, OpenMadeProvider } from '../../src/panel/made_files';
import { TranslationProvider } from '../../src/ui/hooks';
import { card, FakeChat, FakePanel, TRANS, turn } from './fakes';
import { PATH, Stage } from './stage';
import { complete } from '../complete';

function ran(paths: readonly string[], cwd = ''): Execution {
  const files = paths.map(path => ({ path, change: 'created', size_bytes: 2048 }) as const);
  return complete('Execution', { status: 'ok', duration_seconds: 0.1, files, cwd });
}

it('offers the files that a run made, and opens one', async () => {
  const chat = new FakeChat({ notebook_path: PATH }, [
    turn({ blocks: [card({ execution: ran(['out/best.csv'], '/home/me/notes') })] })
  ]);
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  const button = screen.getByRole('button', { name: 'Made: best.csv' });
  expect(button.title).toBe('out/best.csv · 2.0 kB');
  fireEvent.click(button);
  expect(stage.opened).toEqual(['/home/me/notes/out/best.csv']);
});

it('names who answers, from the first word on', async () => {
  const chat = new FakeChat({ notebook_path: PATH, run: 'run-1' }, [
    turn({ status: 'running', assistant: 'reviewer', blocks: [] })
  ]);
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByTitle('Assistant: reviewer').textContent).toBe('reviewer');
});

it('says what cannot be opened from here, and shows many only when asked to', () => {
  const names = Array.from({ length: 8 }, (_, place) => `f${String(place)}.csv`);
  render(
    <TranslationProvider value={TRANS}>
      <OpenMadeProvider value={() => null}>
        <MadeFiles turn={{ blocks: [card({ execution: ran(names) })] }} />
      </OpenMadeProvider>
    </TranslationProvider>
  );
  expect(screen.getAllByRole('listitem')).toHaveLength(7);
  fireEvent.click(screen.getByRole('button', { name: '2 more' }));
  expect(screen.getAllByRole('listitem').map(item => item.textContent)).toEqual(
    names.map(name => `Made: ${name}`)
  );
  expect(screen.queryByRole('button')).toBeNull();
});
