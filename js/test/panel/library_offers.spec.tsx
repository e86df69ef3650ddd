import { cleanup, fireEvent, screen } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, expect, it } from 'vitest';

import { field, stage, type } from './composer_stage';
import { FakeChat, FakePanel } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(cleanup);

async function asked() {
  const panel = new FakePanel(new FakeChat({ notebook_path: 'work/a.ipynb' }));
  panel.library = 'default';
  const { container } = await new Stage(panel).show();
  return { panel, chat: panel.chat, container };
}

async function drop(...names: string[]): Promise<void> {
  const files = names.map(name => new File(['# Rules'], name));
  fireEvent.drop(screen.getByRole('log'), { dataTransfer: { types: ['Files'], files } });
  await settle();
}

const names = (chat: FakeChat): string[] =>
  chat.composer.context.map(item => (item.kind === 'file' ? item.name : item.kind));

it('asks once whether a document is attached or goes into the library', async () => {
  const { panel, chat, container } = await asked();
  await drop('rules.md');
  expect(names(chat)).toEqual(['rules.md']);
  const question = 'Attach rules.md, or add it to the library?';
  expect(screen.getByRole('group', { name: question })).toBeDefined();
  expect((await axe.run(container, { runOnly: ['wcag2a'] })).violations).toEqual([]);
  press('Add to library');
  await settle();
  expect(names(chat)).toEqual([]);
  expect(document.activeElement).toBe(field());
  expect(screen.getByText('rules.md went into the library.')).toBeDefined();
  await drop('more.md', 'last.md');
  expect(screen.queryByRole('group', { name: /library/ })).toBeNull();
  expect(screen.getByText('3 files went into the library.')).toBeDefined();
  expect(panel.calls.filter(([name]) => name === 'addDocument')).toEqual(
    ['rules.md', 'more.md', 'last.md'].map(name => [
      'addDocument',
      { place: `0a1b-${name}`, name, library: 'default', notebook: 'work/a.ipynb' }
    ])
  );
});

it('attaches what the person wants attached, and asks no more', async () => {
  const { panel, chat } = await asked();
  await drop('a.md', 'b.md');
  expect(screen.getAllByRole('button', { name: 'Attach' })).toHaveLength(2);
  fireEvent.click(screen.getAllByRole('button', { name: 'Attach' })[0] ?? document.body);
  await drop('c.md');
  expect(screen.queryByRole('button', { name: 'Attach' })).toBeNull();
  expect(names(chat)).toEqual(['a.md', 'b.md', 'c.md']);
  expect(panel.calls.some(([name]) => name === 'addDocument')).toBe(false);
});

it('sends what it was not answered about', async () => {
  const { chat } = await asked();
  await drop('a.md');
  type('Sum it up');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toMatchObject([['ask', { context: [{ name: 'a.md' }] }, {}]]);
  await drop('b.md');
  expect(screen.queryByRole('button', { name: 'Attach' })).toBeNull();
});

it('attaches a document too that went into the library, and asks again', async () => {
  const { chat } = await asked();
  await drop('a.md');
  press('Add to library');
  await settle();
  press('Attach too');
  expect(names(chat)).toEqual(['a.md']);
  await drop('b.md');
  expect(screen.getAllByRole('button', { name: 'Add to library' })).toHaveLength(1);
});

it('attaches what the library does not take, and says why', async () => {
  const { panel, chat } = await asked();
  await drop('a.md');
  panel.refusal = new Error('The disk is full.');
  press('Add to library');
  await settle();
  expect(names(chat)).toEqual(['a.md']);
  expect(screen.getByRole('alert').textContent).toContain('The disk is full.');
});

it('asks nothing where no library would take it', async () => {
  const { chat } = await stage();
  await drop('a.csv');
  expect(names(chat)).toEqual(['a.csv']);
  expect(screen.queryByRole('button', { name: 'Add to library' })).toBeNull();
});
