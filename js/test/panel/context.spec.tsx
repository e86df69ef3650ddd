import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';

import { complete, findTrigger } from '../../src/panel/completion';
import { draft, field, RUNNING, stage, type } from './composer_stage';
import { FakeChat } from './fakes';
import { settle } from './stage';
import { complete as fill } from '../complete';

afterEach(cleanup);

const NO_TRIGGER = { sign: '@', query: '', isFirst: false, start: 0, end: 0 } as const;

const NAMES = [
  { name: 'paths', type: 'list', text: '' },
  { name: 'penguins', type: 'DataFrame', text: '344 rows' },
  { name: 'my_penguins', type: 'DataFrame', text: '3 rows' }
];

it('completes variables of the kernel after @, with what the one in question holds', async () => {
  const { chat, panel } = await stage();
  panel.names = NAMES;
  panel.setNotebook({ path: 'a.ipynb', kernelId: 'kernel-1', outline: () => [] });
  type('Plot @pen');
  expect(await screen.findByRole('option', { name: /^penguins/ })).toBeDefined();
  expect(screen.getAllByRole('option').map(option => option.textContent)).toEqual([
    'penguinsDataFrame · 344 rows',
    'my_penguinsDataFrame · 3 rows'
  ]);
  expect(await screen.findByText('penguins: 3 rows')).toBeDefined();
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(field().value).toBe('Plot @penguins ');
  expect(chat.composer.context).toEqual([{ kind: 'variable', name: 'penguins' }]);
  expect(chat.calls).toEqual([]);
});

it('puts the caret behind the chosen name at once, in the middle of a text too', async () => {
  const { panel } = await stage();
  panel.names = NAMES;
  panel.setNotebook({ path: 'a.ipynb', kernelId: 'kernel-1', outline: () => [] });
  fireEvent.change(field(), { target: { value: 'Plot @pen by island', selectionStart: 9 } });
  await screen.findByRole('option', { name: /^penguins/ });
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(field().value).toBe('Plot @penguins by island');
  expect(field().selectionStart).toBe('Plot @penguins '.length);
});

it.each([
  ['Plot @pen', '', 'Plot @penguins |'],
  ['Plot @pen', ' by island', 'Plot @penguins |by island'],
  ['Plot @pen', ', then stop', 'Plot @penguins|, then stop'],
  ['(@pen', ')', '(@penguins|)'],
  ['Plot @pen', 'guin', 'Plot @penguins |guin']
])('leaves one space at most between %s, completed, and "%s"', (before, after, shown) => {
  const trigger = findTrigger(before + after, before.length);
  const { text, caret } = complete(before + after, trigger ?? NO_TRIGGER, '@penguins ');
  expect(`${text.slice(0, caret)}|${text.slice(caret)}`).toBe(shown);
});

it('leaves no gap where a cell was named', () => {
  const named = (text: string, caret: number): string =>
    complete(text, findTrigger(text, caret) ?? NO_TRIGGER, '').text;
  expect(named('Fix #plot and go', 9)).toBe('Fix and go');
  expect(named('#plot is slow', 5)).toBe('is slow');
});

const ASSISTANTS = [
  { name: 'penguin-expert', description: 'Knows all birds', model: '' },
  { name: 'reviewer', description: '', model: '' }
].map(assistant => fill('AssistantSummary', assistant));

it('offers assistants before variables where a prompt begins, and only there', async () => {
  const { chat, panel } = await stage();
  panel.names = NAMES;
  panel.assistants = fill('AssistantSummaries', { assistants: ASSISTANTS, problems: [] });
  const shown = (): (string | null)[] =>
    screen.queryAllByRole('option').map(option => option.textContent);
  type(' @pen');
  await expect
    .poll(shown)
    .toEqual([
      'penguin-expertKnows all birds',
      'penguinsDataFrame · 344 rows',
      'my_penguinsDataFrame · 3 rows'
    ]);
  expect(screen.getByRole('listbox', { name: 'Assistants and variables' })).toBeDefined();
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(field().value).toBe(' @penguin-expert ');
  expect(chat.composer.context).toEqual([]);
  type('Ask @pen');
  await expect
    .poll(shown)
    .toEqual(['penguinsDataFrame · 344 rows', 'my_penguinsDataFrame · 3 rows']);
});

it('offers assistants also while the kernel cannot tell its variables', async () => {
  const { panel } = await stage();
  panel.assistants = fill('AssistantSummaries', { assistants: ASSISTANTS, problems: [] });
  panel.variables = () => Promise.reject(new Error('The kernel is busy.'));
  type('@');
  expect(await screen.findByRole('option', { name: 'reviewer' })).toBeDefined();
  type('@none');
  expect(await screen.findByText('The kernel is busy.')).toBeDefined();
});

it('walks through the names and closes them with Esc before it stops a run', async () => {
  const { chat, panel } = await stage(new FakeChat(RUNNING));
  panel.names = NAMES;
  type('@');
  await screen.findAllByRole('option');
  const chosen = (): string | null => screen.getByRole('option', { selected: true }).textContent;
  fireEvent.keyDown(field(), { key: 'ArrowUp' });
  expect(chosen()).toContain('my_penguins');
  fireEvent.keyDown(field(), { key: 'ArrowDown' });
  expect(chosen()).toContain('paths');
  expect(field().getAttribute('aria-activedescendant')).toBe(
    screen.getByRole('option', { selected: true }).id
  );
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(screen.queryByRole('option')).toBeNull();
  expect(chat.calls).toEqual([]);
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(chat.calls).toEqual([['stop']]);
});

it('says why there are no variables to choose from', async () => {
  const { panel } = await stage();
  panel.refusal = new Error('The kernel is busy.');
  type('@');
  expect(await screen.findByText('The kernel is busy.')).toBeDefined();
});

it('says when no name fits and then sends with Enter', async () => {
  const { chat } = await stage();
  type('@nobody');
  expect(await screen.findByText('No variable fits')).toBeDefined();
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toHaveLength(1);
});

it('takes an address for what it is and not for a variable', async () => {
  await stage();
  type('write to me@example');
  expect(screen.queryByText('No variable fits')).toBeNull();
});

it('completes cells after # and names them in a chip', async () => {
  const { chat, panel } = await stage();
  act(() => {
    panel.setNotebook({
      path: 'a.ipynb',
      kernelId: '',
      outline: () => [
        { id: 'c0', label: '', hasError: false, count: null },
        { id: 'c1', label: 'import pandas', hasError: false, count: 3 },
        { id: 'c2', label: 'penguins.plot()', hasError: true, count: null }
      ]
    });
  });
  type('See #');
  expect(screen.getAllByRole('option').map(option => option.textContent)).toEqual([
    'import pandas[3]',
    'penguins.plot()'
  ]);
  type('Fix #plot');
  fireEvent.mouseMove(screen.getByRole('option', { name: 'penguins.plot()' }));
  fireEvent.mouseDown(screen.getByRole('option', { name: 'penguins.plot()' }));
  expect(field().value).toBe('Fix ');
  expect(chat.composer.context).toEqual([{ kind: 'cell', cell_id: 'c2', text: 'penguins.plot()' }]);
  const chips = screen.getByRole('list', { name: 'Sent with the prompt' });
  fireEvent.click(within(chips).getByRole('button', { name: 'Remove penguins.plot()' }));
  expect(chat.composer.context).toEqual([]);
});

it('shows what goes along and sends it', async () => {
  const { chat, panel } = await stage();
  panel.setNotebook({ path: 'a.ipynb', kernelId: 'kernel-1', outline: () => [] });
  const context = [
    { kind: 'variable', name: 'penguins' },
    { kind: 'selection', cell_id: 'c1', text: 'x = 1' },
    { kind: 'error', cell_id: 'c1', text: 'NameError: x' },
    { kind: 'file', file: '0a1b', name: 'data.csv' }
  ] as const;
  act(() => {
    context.forEach(item => {
      chat.composer.addContext(item);
    });
  });
  const chips = screen.getAllByRole('listitem').filter(item => item.className.includes('cw-chip'));
  expect(chips.map(chip => chip.textContent)).toEqual([
    'penguins',
    'Selection',
    'NameError: x',
    'data.csv'
  ]);
  const [variable] = chips;
  fireEvent.mouseEnter(variable ?? document.body);
  expect(await screen.findByText('penguins: 3 rows')).toBeDefined();
  fireEvent.mouseLeave(variable ?? document.body);
  expect(screen.queryByText('penguins: 3 rows')).toBeNull();
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft({ context: [...context] }), { instead: false }]]);
});

const FILE = new File(['a,b'], 'data.csv', { type: 'text/csv' });
const UPLOADED = [{ kind: 'file', file: '0a1b-data.csv', name: 'data.csv' }];

it('uploads files that are dropped anywhere on the chat', async () => {
  const { chat, panel } = await stage();
  const log = screen.getByRole('log');
  fireEvent.dragOver(log, { dataTransfer: { types: ['Files'], files: [] } });
  expect(screen.getByText('Drop files to attach them')).toBeDefined();
  fireEvent.drop(log, { dataTransfer: { types: ['Files'], files: [FILE] } });
  expect(screen.queryByText('Drop files to attach them')).toBeNull();
  await settle();
  expect(panel.calls).toContainEqual(['uploadFile', 'data.csv', { notebook: '', assistant: '' }]);
  expect(chat.composer.context).toEqual(UPLOADED);
});

it('lets go of the drop when it leaves, and of what is no file', async () => {
  await stage();
  const log = screen.getByRole('log');
  fireEvent.dragOver(log, { dataTransfer: { types: ['text/plain'], files: [] } });
  expect(screen.queryByText('Drop files to attach them')).toBeNull();
  fireEvent.dragOver(log, { dataTransfer: { types: ['Files'], files: [] } });
  fireEvent.dragLeave(log, { relatedTarget: document.body });
  expect(screen.queryByText('Drop files to attach them')).toBeNull();
});

it('uploads a picture that is pasted, and leaves pasted text to the field', async () => {
  const { chat } = await stage();
  const picture = new File(['x'], '', { type: 'image/png' });
  fireEvent.paste(field(), { clipboardData: { files: [picture], types: ['Files'] } });
  await settle();
  expect(chat.composer.context).toHaveLength(1);
  const both = { files: [picture], types: ['Files', 'text/plain'] };
  expect(fireEvent.paste(field(), { clipboardData: both })).toBe(true);
  await settle();
  expect(chat.composer.context).toHaveLength(1);
});

it('uploads files that are chosen', async () => {
  const { chat } = await stage();
  const chooser = document.querySelector<HTMLInputElement>('input[type=file]');
  const click = vi.spyOn(chooser ?? new HTMLInputElement(), 'click');
  fireEvent.click(screen.getByRole('button', { name: 'Attach files' }));
  expect(click).toHaveBeenCalledOnce();
  fireEvent.change(chooser ?? document.body, { target: { files: [FILE] } });
  await settle();
  expect(chat.composer.context).toEqual(UPLOADED);
});

it('says why a file was not taken', async () => {
  const { panel } = await stage();
  panel.refusal = new Error('The disk is full.');
  const drop = (file: File): void => {
    fireEvent.drop(screen.getByRole('log'), { dataTransfer: { types: ['Files'], files: [file] } });
  };
  drop(FILE);
  await settle();
  expect(screen.getByRole('alert').textContent).toBe(
    'data.csv could not be uploaded: The disk is full.'
  );
  const large = new File([], 'large.csv');
  Object.defineProperty(large, 'size', { value: 20_000_001 });
  drop(large);
  expect(screen.getByRole('alert').textContent).toContain('larger than 20 MB');
});
