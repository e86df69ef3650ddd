import { screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { tool } from './kept';
import { findings, KeepingStage } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

it('lists those that were added, and what is wrong with one', async () => {
  stage.kept.tools = [
    tool('forecast'),
    tool('odd', { problem: 'It does not start.', kind: 'new' })
  ];
  const { container } = await stage.show('tools');
  expect(await screen.findByRole('row', { name: /forecast.*MCP weather On/ })).toBeTruthy();
  const asked = stage.server.requests.find(({ path }) => path === 'tools');
  expect(asked?.query.get('notebook')).toBe('work/a.ipynb');
  expect(screen.getByRole('row', { name: /odd.*new weather It does not start./ })).toBeTruthy();
  expect(await findings(container)).toEqual([]);
});

it('says where they come from when there are none', async () => {
  stage.kept.tools = [];
  await stage.show('tools');
  expect(await screen.findByText(/No tool was added/)).toBeTruthy();
});
