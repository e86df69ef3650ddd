import { act, fireEvent, screen } from '@testing-library/react';
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

it('signs in with two clicks, the second on a link that names the host, and out again', async () => {
  const desk = { name: 'desk', host: 'mcp.example', page: '', problem: 'Nobody came back.' };
  stage.kept.signIns = [{ ...desk, state: 'wanted' }];
  const { container } = await stage.show('tools');
  expect(await screen.findByText(/wants you to sign in/)).toBeTruthy();
  expect(screen.getByText('Nobody came back.')).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  await act(async () => {
    fireEvent.click(screen.getByRole('button', { name: 'Sign in' }));
    await Promise.resolve();
  });
  const link = await screen.findByRole('link', { name: 'Open id.example to sign in' });
  expect(link.getAttribute('href')).toBe('https://id.example/a?state=s');
  expect(link.getAttribute('rel')).toBe('noopener noreferrer');
  const sent = stage.sent('POST', 'tools/sign-in');
  expect(sent).toMatchObject({ name: 'desk', notebook: 'work/a.ipynb' });
  expect(new URL((sent as { origin: string }).origin).protocol).toMatch(/^http/);

  stage.kept.signIns = [{ ...desk, problem: '', state: 'done' }];
  stage.reopen();
  await stage.show('tools');
  const out = await screen.findByRole('button', { name: 'Sign out' });
  await act(async () => {
    fireEvent.click(out);
    await Promise.resolve();
  });
  expect(await screen.findByRole('button', { name: 'Sign in' })).toBeTruthy();
});
