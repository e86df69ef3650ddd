import { fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { KeepingStage } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

it.each(['memory', 'library', 'usage', 'tools', 'assistants'] as const)(
  'says so where an older server does not have %s',
  async part => {
    stage.server.routes.clear();
    await stage.show(part);
    expect(await screen.findByText('This server does not have it yet.')).toBeTruthy();
  }
);

it('moves between its parts with the arrow keys, and reads each when it is shown', async () => {
  await stage.show('memory');
  await screen.findByText('Fact 1');
  fireEvent.keyDown(screen.getByRole('tab', { name: 'Memory' }), { key: 'ArrowLeft' });
  expect(await screen.findByRole('table', { name: 'Assistants' })).toBeTruthy();
  const tab = screen.getByRole('tab', { name: 'Assistants' });
  expect(document.activeElement).toBe(tab);
  fireEvent.keyDown(tab, { key: 'ArrowLeft' });
  expect(await screen.findByText('forecast')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByRole('tab', { name: 'Tools' }));
});
