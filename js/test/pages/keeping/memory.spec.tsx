import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { memory, proposal } from './kept';
import { findings, KeepingStage, press, write } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

it('lists facts, where they hold and which run they come from', async () => {
  const { container } = await stage.show('memory');
  const line = (await screen.findByRole('row', { name: /Fact 2/ })).closest('tr');
  expect(within(line as HTMLElement).getByText('This project')).toBeTruthy();
  fireEvent.click(within(line as HTMLElement).getByRole('button', { name: 'A run' }));
  expect(stage.opened).toEqual(['run run-7']);
  expect(await findings(container)).toEqual([]);
});

it('adds a fact for all projects or for this one', async () => {
  await stage.show('memory');
  const field = await screen.findByRole('textbox', { name: 'New fact' });
  await press('Add');
  expect(stage.sent('POST', 'memories')).toBeUndefined();
  write(field, ' Prices are in euros ');
  write(screen.getByRole('combobox', { name: 'Holds for' }), 'project');
  fireEvent.submit(field);
  expect(await screen.findByText('Prices are in euros')).toBeTruthy();
  expect(stage.sent('POST', 'memories')).toEqual({
    text: 'Prices are in euros',
    scope: 'project',
    notebook: 'work/a.ipynb'
  });
  await expect.poll(() => (field as HTMLInputElement).value).toBe('');
});

it('changes a fact with Enter, and not with Escape', async () => {
  await stage.show('memory');
  await press('Change "Fact 1"');
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Fact' }), { key: 'Escape' });
  expect(screen.queryByRole('textbox', { name: 'Fact' })).toBeNull();
  await press('Change "Fact 1"');
  const field = screen.getByRole('textbox', { name: 'Fact' });
  expect(document.activeElement).toBe(field);
  write(field, 'Another');
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(await screen.findByRole('button', { name: 'Change "Another"' })).toBeTruthy();
  expect(stage.sent('PATCH', 'memories/1')).toEqual({ text: 'Another' });
});

it('forgets a fact only after a second yes', async () => {
  const { container } = await stage.show('memory');
  await press('Forget "Fact 1"');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep' }));
  expect(await findings(container)).toEqual([]);
  await press('Keep');
  expect(screen.getByText('Fact 1')).toBeTruthy();
  await press('Forget "Fact 1"');
  await press('Forget');
  await expect.poll(() => screen.queryByText('Fact 1')).toBeNull();
});

it('shows what the agent proposes beside what it would change', async () => {
  stage.kept.proposals = [
    proposal('p', { action: 'update', memory_id: '1', text: 'Newer', reason: 'You said so.' }),
    proposal('q', { action: 'delete', memory_id: '2', text: '' })
  ];
  const { container } = await stage.show('memory');
  const list = await screen.findByRole('region', { name: 'The agent proposes 2 changes' });
  const [first, second] = within(list).getAllByRole('listitem');
  expect(first?.textContent).toContain('ChangeFact 1NewerYou said so.');
  expect(second?.textContent).toContain('ForgetFact 2');
  expect(await findings(container)).toEqual([]);
  await press('Accept "Newer"');
  await expect.poll(() => stage.sent('POST', 'proposals/p')).toEqual({ accept: true });
  await expect.poll(() => screen.queryByRole('region')).toBeNull();
});

it('rejects a proposal', async () => {
  stage.kept.proposals = [proposal('p')];
  await stage.show('memory');
  await press('Reject "Proposed p"');
  await expect.poll(() => stage.sent('POST', 'proposals/p')).toEqual({ accept: false });
});

it('looks for facts, and says when none fits', async () => {
  await stage.show('memory');
  write(await screen.findByRole('searchbox', { name: 'Search memories' }), 'nothing');
  expect(await screen.findByText('No memory fits')).toBeTruthy();
});

it('draws a fact as text, whatever it holds', async () => {
  stage.kept.memories = [memory('1', { text: '<img src=x onerror=alert(1)> **bold**' })];
  const { container } = await stage.show('memory');
  expect(await screen.findByText('<img src=x onerror=alert(1)> **bold**')).toBeTruthy();
  expect(container.querySelector('img, strong')).toBeNull();
});

it('says why something could not be kept, and keeps what was written', async () => {
  stage.server.routes.set('POST memories', () =>
    Response.json({ message: 'Memory is full.', hint: 'Forget something.' }, { status: 409 })
  );
  await stage.show('memory');
  const field = await screen.findByRole('textbox', { name: 'New fact' });
  write(field, 'More');
  await press('Add');
  expect((await screen.findByRole('alert')).textContent).toBe('Memory is full. Forget something.');
  expect((field as HTMLInputElement).value).toBe('More');
});

it('switches remembering off and on again', async () => {
  const { container } = await stage.show('memory');
  const box = await screen.findByRole<HTMLInputElement>('switch', { name: 'Remember things' });
  expect(box.checked).toBe(true);
  fireEvent.click(box);
  await expect.poll(() => box.checked).toBe(false);
  expect(stage.sent('PUT', 'memory-setting')).toEqual({ is_on: false });
  expect(screen.getByText(/What is here stays/)).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  fireEvent.click(box);
  await expect.poll(() => stage.kept.isOn && box.checked).toBe(true);
});
