import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it, vi } from 'vitest';

import type { Draft } from '../../src/models/types';
import { FakeChat, FakePanel, SERVICE, turn, USAGE } from './fakes';
import { settle, Stage } from './stage';

afterEach(cleanup);

function field(): HTMLTextAreaElement {
  return screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
}

function type(text: string): void {
  fireEvent.change(field(), { target: { value: text, selectionStart: text.length } });
}

function draft(change: Partial<Draft> = {}): Draft {
  return { text: 'Plot it', context: [], mode: 'ask', model: '', ...change };
}

const RUNNING = { run: 'run-1', phase: 'model' } as const;

async function stage(chat = new FakeChat(), ...rest: [ConstructorParameters<typeof Stage>[1]?]) {
  const shown = new Stage(new FakePanel(chat), ...rest);
  await shown.show();
  return { chat, panel: shown.panel, shown };
}

it('sends with Enter and empties the field', async () => {
  const { chat } = await stage();
  type(' Plot it ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft(), { instead: false }]]);
  expect(field().value).toBe('');
});

it('leaves Shift+Enter to the field, for a new line', async () => {
  const { chat } = await stage();
  type('Plot it');
  expect(fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true })).toBe(true);
  expect(chat.calls).toEqual([]);
});

it('swaps the two where the person set it so', async () => {
  const { chat } = await stage(new FakeChat(), { sendWith: 'Shift Enter' });
  type('Plot it');
  expect(fireEvent.keyDown(field(), { key: 'Enter' })).toBe(true);
  expect(chat.calls).toEqual([]);
  fireEvent.keyDown(field(), { key: 'Enter', shiftKey: true });
  expect(chat.calls).toEqual([['ask', draft(), { instead: false }]]);
});

it.each([
  ['while an input method composes', { key: 'Enter', isComposing: true }],
  ['as Safari tells of an input method', { key: 'Enter', keyCode: 229 }],
  ['with Alt', { key: 'Enter', altKey: true }]
])('does not send with Enter %s', async (_, press) => {
  const { chat } = await stage();
  type('图');
  fireEvent.keyDown(field(), press);
  expect(chat.calls).toEqual([]);
});

it('sends nothing that is empty', async () => {
  const { chat } = await stage();
  type('   ');
  fireEvent.keyDown(field(), { key: 'Enter' });
  fireEvent.click(screen.getByRole('button', { name: 'Send' }));
  expect(chat.calls).toEqual([]);
});

it('keeps the text while there is no connection', async () => {
  const { chat, panel } = await stage();
  type('Plot it');
  act(() => {
    panel.link = 'waiting';
    panel.linkChanged.emit('waiting');
  });
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([]);
  expect(field().value).toBe('Plot it');
  expect(screen.getByRole('button', { name: /Cannot send yet/ })).toBeDefined();
});

it('stops with the button that stands in place of Send, and with Esc', async () => {
  const { chat } = await stage(new FakeChat(RUNNING));
  expect(screen.queryByRole('button', { name: /Send/ })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Stop the run (Esc)' }));
  fireEvent.keyDown(field(), { key: 'Escape' });
  fireEvent.keyDown(screen.getByRole('log'), { key: 'Escape' });
  expect(chat.calls).toEqual([['stop'], ['stop'], ['stop']]);
});

it('says that stopping interrupts a cell that runs', async () => {
  await stage(new FakeChat({ run: 'run-1', phase: 'tool' }));
  expect(
    screen.getByRole('button', { name: 'Stop the run and interrupt its cell (Esc)' })
  ).toBeDefined();
});

it('leaves Esc alone while nothing runs', async () => {
  const { chat } = await stage();
  fireEvent.keyDown(field(), { key: 'Escape' });
  expect(chat.calls).toEqual([]);
});

it('queues a prompt while a run goes on, and replaces the run with Ctrl+Enter', async () => {
  const { chat } = await stage(new FakeChat(RUNNING));
  type('Plot it');
  fireEvent.click(screen.getByRole('button', { name: /^Send when the run has ended/ }));
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter', ctrlKey: true });
  expect(chat.calls).toEqual([
    ['ask', draft(), { instead: false }],
    ['ask', draft(), { instead: true }]
  ]);
});

it('sends in the mode that was picked, and keeps Auto in sight', async () => {
  const { chat } = await stage();
  expect(screen.queryByText(/Code runs without asking you/)).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /^Mode: Ask/ }));
  fireEvent.click(screen.getByRole('menuitemradio', { name: /^Auto/ }));
  expect(screen.getByText(/Code runs without asking you/)).toBeDefined();
  expect(screen.getByRole('button', { name: /^Mode: Auto/ })).toBe(document.activeElement);
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft({ mode: 'auto' }), { instead: false }]]);
});

it('offers only the modes that are allowed', async () => {
  const { panel } = await stage();
  act(() => {
    panel.service = { ...SERVICE, modes: ['plan', 'ask'] };
    panel.serviceChanged.emit(panel.service);
  });
  fireEvent.click(screen.getByRole('button', { name: /^Mode:/ }));
  expect(screen.getAllByRole('menuitemradio')).toHaveLength(2);
});

it('walks through a menu by keyboard', async () => {
  await stage();
  const button = screen.getByRole('button', { name: /^Mode: Ask/ });
  fireEvent.keyDown(button, { key: 'ArrowDown' });
  const names = (): string => document.activeElement?.textContent ?? '';
  expect(names()).toContain('Ask');
  const press = (key: string): void => {
    fireEvent.keyDown(document.activeElement ?? document.body, { key });
  };
  press('ArrowDown');
  expect(names()).toContain('Edits');
  press('End');
  expect(names()).toContain('Auto');
  press('ArrowDown');
  expect(names()).toContain('Plan');
  press('ArrowUp');
  expect(names()).toContain('Auto');
  press('Home');
  expect(names()).toContain('Plan');
  press('Escape');
  expect(screen.queryByRole('menu')).toBeNull();
  expect(document.activeElement).toBe(button);
});

it('closes a menu when the person turns to something else', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: /^Mode: Ask/ }));
  fireEvent.pointerDown(document.body);
  expect(screen.queryByRole('menu')).toBeNull();
});

it('sends to the model that was picked from the service', async () => {
  const { chat } = await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  fireEvent.mouseDown(await screen.findByRole('option', { name: 'qwen3-coder' }));
  expect(screen.getByRole('button', { name: 'Model: qwen3-coder' })).toBeDefined();
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft({ model: 'qwen3-coder' }), { instead: false }]]);
});

it('takes any name of a model', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  const name = screen.getByRole('combobox', { name: 'Name of a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'my-own' } });
  expect(screen.getByText('Press Enter to use my-own')).toBeDefined();
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: my-own' })).toBe(document.activeElement);
});

it('finds a model by keyboard', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  const name = screen.getByRole('combobox', { name: 'Name of a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'GPT' } });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  fireEvent.keyDown(name, { key: 'ArrowUp' });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  expect(screen.getByRole('option', { selected: true }).textContent).toBe('gpt-5.6-mini');
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: gpt-5.6-mini' })).toBeDefined();
});

it('lets nobody type a model where an administrator names them', async () => {
  const { panel } = await stage();
  act(() => {
    panel.service = { ...SERVICE, models_allowed: ['one', 'two'] };
    panel.serviceChanged.emit(panel.service);
  });
  fireEvent.click(screen.getByRole('button', { name: /^Model/ }));
  const name = screen.getByRole('combobox', { name: 'Find a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'three' } });
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: gpt-5.6' })).toBeDefined();
  fireEvent.change(name, { target: { value: 'tw' } });
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: two' })).toBeDefined();
});

it('still takes a name when the service does not tell its models', async () => {
  const { panel } = await stage();
  panel.refusal = new Error('no route');
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  expect(await screen.findByText('The service names no models.')).toBeDefined();
  fireEvent.keyDown(screen.getByRole('combobox'), { key: 'Escape' });
  expect(screen.queryByRole('combobox')).toBeNull();
});

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
        { id: 'c1', label: 'import pandas', hasError: false },
        { id: 'c2', label: 'penguins.plot()', hasError: true }
      ]
    });
  });
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
  expect(panel.calls).toContainEqual(['uploadFile', 'data.csv']);
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

const QUEUE = [
  { id: 'q1', prompt: 'Then plot it' },
  { id: 'q2', prompt: 'And write it up' }
];

it('shows the prompts that wait: edit, move, send now, remove', async () => {
  const { chat } = await stage(new FakeChat({ ...RUNNING, queue: QUEUE }));
  const [first, second] = within(
    screen.getByRole('region', { name: 'Waiting prompts' })
  ).getAllByRole('listitem');
  const press = (row: HTMLElement | undefined, name: string): void => {
    fireEvent.click(within(row ?? document.body).getByRole('button', { name }));
  };
  press(second, 'Move up');
  press(first, 'Move down');
  press(first, 'Stop the run and send this now');
  press(first, 'Remove this prompt');
  press(second, 'Edit this prompt');
  const edited = screen.getByRole('textbox', { name: 'Waiting prompt' });
  fireEvent.change(edited, { target: { value: 'And print it' } });
  fireEvent.keyDown(edited, { key: 'Enter' });
  expect(chat.calls).toEqual([
    ['editQueue', 'q2', 'move', { position: 0 }],
    ['editQueue', 'q1', 'move', { position: 1 }],
    ['editQueue', 'q1', 'send_now'],
    ['editQueue', 'q1', 'remove'],
    ['editQueue', 'q2', 'edit', { prompt: 'And print it' }]
  ]);
});

it('leaves a waiting prompt as it was when its edit is given up', async () => {
  const { chat } = await stage(new FakeChat({ ...RUNNING, queue: QUEUE.slice(0, 1) }));
  expect(screen.queryByRole('button', { name: 'Move up' })).toBeNull();
  const edit = (): HTMLElement => {
    fireEvent.click(screen.getByRole('button', { name: 'Edit this prompt' }));
    return screen.getByRole('textbox', { name: 'Waiting prompt' });
  };
  fireEvent.keyDown(edit(), { key: 'Escape' });
  fireEvent.change(edit(), { target: { value: 'Something else' } });
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  fireEvent.change(edit(), { target: { value: ' ' } });
  fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  expect(chat.calls).toEqual([]);
});

it('says that the queue waits and goes on when told to', async () => {
  const { chat } = await stage(new FakeChat({ queue: QUEUE, queue_paused: true }));
  expect(screen.getByText(/the last run was stopped or failed/)).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Resume' }));
  expect(chat.calls).toEqual([['editQueue', '', 'resume']]);
});

it('shows how full the context is and what it is made of', async () => {
  const state = { context_tokens: 43_000, context_limit: 128_000 };
  await stage(new FakeChat(state, [turn({ usage: USAGE })]));
  const meter = screen.getByRole('button', { name: 'Context: 34% full' });
  expect(meter.textContent).toBe('');
  expect(screen.queryByRole('tooltip')).toBeNull();
  fireEvent.focus(meter);
  expect(screen.getByRole('tooltip').textContent).toContain('43.0K');
  expect(screen.getByRole('tooltip').textContent).toContain('85.0K');
  fireEvent.keyDown(meter, { key: 'Escape' });
  expect(screen.queryByRole('tooltip')).toBeNull();
});

it('warns when the context is three quarters full', async () => {
  await stage(new FakeChat({ context_tokens: 96_000, context_limit: 128_000 }));
  expect(screen.getByRole('button', { name: 'Context: 75% full' }).textContent).toBe('75%');
});

it('shows no meter while nothing is known of the context', async () => {
  await stage(new FakeChat({ context_tokens: 900, context_limit: 0 }));
  expect(screen.queryByRole('button', { name: /^Context/ })).toBeNull();
});
