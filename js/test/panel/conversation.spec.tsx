import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { ToolCard, Turn } from '../../src/chat/types';
import { RequestError } from '../../src/client/request';
import type { FormField, FormRequest, Snapshot } from '../../src/wire/generated';
import { card, FakeChat, FakePanel, turn } from './fakes';
import { PATH, press, settle, Stage } from './stage';

afterEach(cleanup);

it('says that a conversation is on its way', async () => {
  const chat = new FakeChat();
  chat.isCaughtUp = false;
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByText('Loading the conversation …')).toBeDefined();
  expect(screen.queryByText('What shall we do?')).toBeNull();
});

const SNAPSHOT: Snapshot = {
  changes: {},
  snapshot_id: 'a',
  label: 'Go.',
  run_id: 'run-1',
  step: 0,
  is_later: false,
  taken_at: 1000
};

const ASKING: Turn = turn({
  status: 'running',
  blocks: [card({ status: 'asking', risk: 'edit', name: 'edit_cell' })]
});

it('goes to what waits for approval', async () => {
  const chat = new FakeChat({ run: 'run-1', phase: 'approval', approval: 'call-1' }, [ASKING]);
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  act(() => {
    stage.requests.ask('approval');
  });
  await settle();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Accept' }));
});

it('asks for the input of a running cell, hidden where it is a password', async () => {
  const input = { request: 'r1', prompt: 'Your password: ', password: true, form: null };
  const chat = new FakeChat({ run: 'run-1', phase: 'input', input });
  await new Stage(new FakePanel(chat)).show();
  const field = screen.getByLabelText<HTMLInputElement>('Your password:');
  expect(field.type).toBe('password');
  fireEvent.change(field, { target: { value: 'x y' } });
  fireEvent.submit(field);
  expect(chat.calls).toEqual([['sendInput', 'x y']]);
});

const FIELD: FormField = {
  name: '',
  title: '',
  kind: 'text',
  description: '',
  format: '',
  required: false,
  options: [],
  given: []
};

it('shows what a server wants as a form with three buttons, and sends what was given', async () => {
  const options = [
    { value: 'a', title: 'Aisle' },
    { value: 'w', title: 'Window' }
  ];
  const form: FormRequest = {
    server: 'desk',
    message: 'Which table?',
    url: '',
    problem: 'Guests: 12 is too many.',
    fields: [
      { ...FIELD, name: 'n', title: 'Guests', kind: 'number', required: true, given: ['12'] },
      { ...FIELD, name: 'b', title: 'Quiet', kind: 'boolean', given: ['true'] },
      { ...FIELD, name: 'c', title: 'Seat', kind: 'choice', options },
      { ...FIELD, name: 'm', title: 'Days', kind: 'choices', options, given: ['a'] },
      { ...FIELD, name: 't', title: 'Name', description: 'As on the door.' }
    ]
  };
  const input = { request: 'r1', prompt: form.message, password: false, form };
  const chat = new FakeChat({ run: 'run-1', phase: 'input', input });
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByRole('form', { name: 'The MCP server "desk" asks:' })).toBeDefined();
  expect(screen.getByRole('alert').textContent).toContain('12 is too many');
  fireEvent.change(screen.getByLabelText(/Guests/), { target: { value: '3' } });
  fireEvent.click(screen.getByLabelText('Quiet'));
  fireEvent.change(screen.getByLabelText(/Seat/), { target: { value: 'w' } });
  fireEvent.click(screen.getByLabelText('Window'));
  fireEvent.click(screen.getByRole('button', { name: 'Accept' }));
  const content = { n: ['3'], b: ['false'], c: ['w'], m: ['a', 'w'], t: [] };
  expect(chat.calls).toEqual([['sendInput', JSON.stringify({ action: 'accept', content })]]);
  fireEvent.click(screen.getByRole('button', { name: 'Decline' }));
  const declined = JSON.stringify({ action: 'decline', content: {} });
  expect(chat.calls.at(-1)).toEqual(['sendInput', declined]);
});

it('shows an address that a server wants opened, and opens nothing itself', async () => {
  const url = 'https://sign.example/in?x=1';
  const form = { server: 'desk', message: 'Sign in.', url, problem: '', fields: [] };
  const input = { request: 'r1', prompt: '', password: false, form };
  const chat = new FakeChat({ run: 'run-1', phase: 'input', input });
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByText(url)).toBeDefined();
  const link = screen.getByRole<HTMLAnchorElement>('link', { name: 'Open sign.example' });
  expect([link.href, link.target, link.rel]).toEqual([url, '_blank', 'noopener noreferrer']);
  expect(chat.calls).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }));
  const cancelled = JSON.stringify({ action: 'cancel', content: {} });
  expect(chat.calls).toEqual([['sendInput', cancelled]]);
});

it('asks for plain input without a prompt of its own', async () => {
  const input = { request: 'r1', prompt: '', password: false, form: null };
  const chat = new FakeChat({ run: 'run-1', phase: 'input', input });
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByLabelText<HTMLInputElement>('The running cell asks for input').type).toBe(
    'text'
  );
});

it('shows a prompt at once, before the server has it', async () => {
  const chat = new FakeChat();
  chat.sending = [{ text: 'Plot it', context: [], mode: 'ask', model: '' }];
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByText('Plot it')).toBeDefined();
  expect(screen.queryByText('What shall we do?')).toBeNull();
});

it('says what the run does and for how long', async () => {
  const started = Date.now() / 1000 - 65;
  const chat = new FakeChat({ run: 'run-1', phase: 'kernel_busy' }, [
    turn({ status: 'running', startedAt: started })
  ]);
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByText('Waiting for the kernel, which is running something else')).toBeDefined();
  expect(screen.getByText(/^1m 0[5-7]s$/)).toBeDefined();
});

const NOW = Date.now() / 1000;
const TOOL = { run: 'run-1', phase: 'tool' } as const;

function running(change: Partial<ToolCard>): Turn {
  return turn({ status: 'running', blocks: [card({ status: 'running', ...change })] });
}

it('gives a cell that runs for long more time, as often as it is asked to', async () => {
  const chat = new FakeChat(TOOL, [running({ startedAt: NOW - 40 })]);
  await new Stage(new FakePanel(chat)).show();
  press('Give the cell 10 more minutes');
  press('Give the cell 10 more minutes');
  expect(screen.getByText('It may run 20 minutes longer.')).toBeDefined();
  expect(chat.calls).toEqual([
    ['extend', 600],
    ['extend', 600]
  ]);
});

it.each([
  ['that has just begun', { startedAt: NOW }],
  ['that is no cell', { startedAt: NOW - 40, cellIds: [] }],
  ['that waits', { startedAt: null }]
])('offers no time to a call %s', async (_, change) => {
  await new Stage(new FakePanel(new FakeChat(TOOL, [running(change)]))).show();
  expect(screen.queryByRole('button', { name: /more minutes/ })).toBeNull();
});

it('leaves the time of a cell to the tab that drives', async () => {
  const chat = new FakeChat(TOOL, [running({ startedAt: NOW - 40 })]);
  chat.isDrivenElsewhere = true;
  await new Stage(new FakePanel(chat)).show();
  expect(screen.queryByRole('button', { name: /more minutes/ })).toBeNull();
});

it('acts on the notebook of the chat', async () => {
  const chat = new FakeChat({ notebook_path: PATH }, [turn({ blocks: [card()] })]);
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  press(/Load the penguins/);
  press('Go to cell');
  press('Undo step');
  press('Redo');
  press(/^Undo run/);
  await settle();
  press('Redo run');
  expect(stage.notebook.calls).toEqual([
    ['reveal', 'cell-1'],
    ['undo', 'run-1', 'call-1'],
    ['redo', 'run-1', 'call-1'],
    ['undo', 'run-1', undefined],
    ['redo', 'run-1', undefined]
  ]);
});

it('takes variables back with the last run alone', async () => {
  const turns = [turn({ blocks: [card()] }), turn({ runId: 'run-2', blocks: [card()] })];
  const panel = new FakePanel(new FakeChat({ notebook_path: PATH }, turns));
  await new Stage(panel).show();
  for (const button of screen.getAllByRole('button', { name: /^Undo run/ })) {
    fireEvent.click(button);
    await settle();
  }
  expect(screen.getByText(/later answers build on them/)).toBeDefined();
  expect(panel.calls.filter(([name]) => name === 'undoVariables')).toEqual([
    ['undoVariables', 'kernel-1', 'run-2', 0]
  ]);
});

it('shows what the record says is undone, and asks which states the kernel keeps', async () => {
  const blocks = [card({ step: 1 }), card({ callId: 'b', step: 2 })];
  const panel = new FakePanel(new FakeChat({ notebook_path: PATH }, [turn({ blocks })]));
  panel.undone = { 'run-1': 2 };
  const rows = [0, 2].map(step => ({ ...SNAPSHOT, run_id: 'run-1', step }));
  const others = [
    { ...SNAPSHOT, is_later: true },
    { ...SNAPSHOT, run_id: 'other' }
  ];
  panel.snapshots = { snapshots: [...rows, ...others], held_bytes: null };
  await new Stage(panel).show();
  expect(screen.getAllByRole('button', { name: /undone$/ })).toHaveLength(1);
  panel.undone = {};
  press('Redo run');
  await settle();
  expect(screen.queryByRole('button', { name: /undone$/ })).toBeNull();
  press(/^Undo run/);
  expect((await screen.findByRole('slider')).getAttribute('max')).toBe('1');
  panel.undone = { 'run-1': 0 };
  press('Undo run');
  await settle();
  expect(screen.getAllByRole('button', { name: /undone$/ })).toHaveLength(2);
  expect(panel.calls.filter(([name]) => /undo|snapshots/.test(name))).toEqual([
    ['undoVariables', 'kernel-1', '', 2],
    ['snapshots', 'kernel-1', undefined],
    ['undoVariables', 'kernel-1', 'run-1', 0]
  ]);
});

/** A chat whose run had two cells, in a kernel that cannot be taken back. */
async function stageInTheWay(): Promise<Stage> {
  const blocks = [card({ step: 1 }), card({ callId: 'b', step: 2 })];
  const panel = new FakePanel(new FakeChat({ notebook_path: PATH }, [turn({ blocks })]));
  panel.earlierCells = ['import polars', 'df = 1\ndf'];
  panel.files = { ...panel.files, back: [{ path: 'rows.csv', was: 'changed', why: '' }] };
  const stage = new Stage(panel);
  await stage.show();
  press(/^Undo run/);
  fireEvent.change(await screen.findByRole('slider'), { target: { value: '1' } });
  const why = 'The variables cannot be brought back: polars holds threads.';
  panel.refusal = new RequestError(400, 'setup', why, 'Restart the kernel.');
  press('Undo from cell 2');
  await settle();
  expect(noteOf()).toBe(`Took back 2 cells. ${why}`);
  return stage;
}

const answerDialog = async (answer: 'accept' | 'reject'): Promise<void> => {
  const button = () => document.querySelector<HTMLButtonElement>(`.jp-Dialog .jp-mod-${answer}`);
  await expect.poll(button).not.toBeNull();
  button()?.click();
  await settle();
};
const noteOf = (): string => screen.getByText(/^Took back/).textContent;

it('offers a restart where the variables cannot be brought back, and says what it will do', async () => {
  const { panel, notebook } = await stageInTheWay();
  press('Restart and run to here');
  expect(await screen.findByText('All variables of the kernel are lost.')).toBeDefined();
  const cells = within(screen.getByLabelText('Cells that run again')).getAllByRole('listitem', {
    hidden: true
  });
  expect(cells.map(({ textContent }) => textContent)).toEqual(['import polars', 'df = 1']);
  await answerDialog('reject');
  expect(notebook.calls.filter(([name]) => name === 'restartAndRun')).toEqual([]);

  press('Restart and run to here');
  await answerDialog('accept');
  expect(screen.getByText('Running cell 2 of 2 again …')).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Restart and run to here' })).toBeNull();
  panel.undone = { 'run-1': 2 };
  panel.refusal = null;
  notebook.goOn();
  await settle();
  expect(noteOf()).toContain('2 cells before it ran again');
  expect(screen.getAllByRole('button', { name: /undone$/ })).toHaveLength(1);
  expect(notebook.calls.at(-1)).toEqual(['restartAndRun', 'import polars', 'df = 1\ndf']);
  expect(panel.calls.filter(([name]) => /undoV|cellsB/.test(name))).toEqual([
    ['undoVariables', 'kernel-1', 'run-1', 2],
    ['cellsBefore', 'run-1', 2],
    ['cellsBefore', 'run-1', 2],
    ['undoVariables', 'kernel-1', 'run-1', 2, 'restarted']
  ]);

  panel.refusal = new RequestError(400, 'setup', 'There is nothing to redo.', '');
  panel.undone = {};
  press('Redo run');
  await settle();
  expect(screen.getByText(/run its cells again to have in the kernel/)).toBeDefined();
  expect(screen.queryByRole('button', { name: /undone$/ })).toBeNull();
  expect(panel.calls.filter(([name]) => name === 'undoVariables').slice(-2)).toEqual([
    ['undoVariables', 'kernel-1', '', 2],
    ['undoVariables', 'kernel-1', 'run-1', 2, 'redone']
  ]);
});

it('offers the files where the variables cannot be brought back', async () => {
  const { panel } = await stageInTheWay();
  expect(panel.calls.filter(([name]) => name === 'filesBefore')).toEqual([
    ['filesBefore', 'kernel-1', 'run-1', 2]
  ]);
  panel.refusal = null;
  press('Put back 1 file');
  await settle();
  expect(screen.getByText('Files are as they were before it: rows.csv')).toBeDefined();
  expect(panel.calls.at(-1)).toEqual(['putFilesBack', 'kernel-1', 'run-1', 2]);
});

it('stops a restart, shows a cell that failed, and offers it again', async () => {
  const { panel, notebook } = await stageInTheWay();
  press('Restart and run to here');
  await answerDialog('accept');
  press('Stop');
  await settle();
  expect(noteOf()).toContain('You stopped after 1 of the 2 cells');
  notebook.restarted = { ran: 0, of: 2, problem: 'NameError: x' };
  press('Restart and run to here');
  await answerDialog('accept');
  notebook.goOn();
  await settle();
  expect(noteOf()).toContain('Cell 1 of the 2 that were to run again failed: NameError: x');
  expect(screen.getByRole('button', { name: 'Restart and run to here' })).toBeDefined();
  expect(panel.calls.filter(([name]) => name === 'undoVariables')).toHaveLength(1);
});

it('puts the files of an undone run back, and forth after a redo', async () => {
  const panel = new FakePanel(new FakeChat({ notebook_path: PATH }, [turn({ blocks: [card()] })]));
  panel.files = { ...panel.files, back: [{ path: 'rows.csv', was: 'changed', why: '' }] };
  await new Stage(panel).show();
  for (const name of [/^Undo run/, 'Put back 1 file', 'Redo run', 'Redo 1 file']) {
    fireEvent.click(screen.getByRole('button', { name }));
    await settle();
  }
  expect(screen.getByText(/as the run had left them: rows.csv/)).toBeDefined();
  expect(panel.calls.filter(([name]) => name === 'putFilesBack')).toEqual([
    ['putFilesBack', 'kernel-1', 'run-1', 0],
    ['putFilesBack', 'kernel-1', '', 0]
  ]);
});

it('says why files are not put back', async () => {
  const panel = new FakePanel(new FakeChat({ notebook_path: PATH }, [turn({ blocks: [card()] })]));
  panel.files = { ...panel.files, back: [{ path: 'rows.csv', was: 'changed', why: '' }] };
  await new Stage(panel).show();
  fireEvent.click(screen.getByRole('button', { name: /^Undo run/ }));
  await settle();
  panel.rest.putFilesBack = () => Promise.reject(new Error('The kernel is busy.'));
  fireEvent.click(screen.getByRole('button', { name: 'Put back 1 file' }));
  await settle();
  expect(screen.getByText(/^Files stay as they are: /)).toBeDefined();
});

it.each([
  ['while a run goes on', { run: 'run-2' }, true],
  ['in a notebook that cannot be changed', {}, false]
])('takes nothing back %s', async (_, state, editable) => {
  const chat = new FakeChat({ notebook_path: PATH, ...state }, [turn({ blocks: [card()] })]);
  const stage = new Stage(new FakePanel(chat));
  stage.notebook.editable = editable;
  await stage.show();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: /^Undo run/ }).disabled).toBe(true);
});

it('cannot show cells of a notebook that is not open', async () => {
  const chat = new FakeChat({ notebook_path: 'closed.ipynb' }, [turn({ blocks: [card()] })]);
  await new Stage(new FakePanel(chat)).show();
  press(/Load the penguins/);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Go to cell' }).disabled).toBe(true);
});

it('asks again, goes on and shows the settings from a turn that failed', async () => {
  const failed = turn({ status: 'task error', cause: 'SetupError', reason: 'No model.' });
  const cut = turn({ runId: 'run-2', cause: 'truncated', reason: 'Cut off.' });
  const chat = new FakeChat({}, [failed, cut]);
  await new Stage(new FakePanel(chat)).show();
  press('Retry');
  press('Continue');
  press('Model settings');
  expect(chat.calls.map(([name, sent]) => [name, (sent as { text: string }).text])).toEqual([
    ['ask', failed.prompt],
    ['ask', 'Continue where you were cut off.']
  ]);
  expect(await screen.findByRole('form', { name: 'Model settings' })).toBeDefined();
});

it.each([
  ['takes the place of a question that nobody answered', false, { supersedes: 'run-1' }],
  ['leaves what was answered in part', true, {}]
])('asks again and %s', async (_, isAnswered, options) => {
  const failed = turn({ status: 'task error', cause: 'SetupError', isAnswered });
  const chat = new FakeChat({}, [failed]);
  chat.composer.setModel('qwen3-coder');
  await new Stage(new FakePanel(chat)).show();
  press('Retry');
  expect(chat.calls).toEqual([
    ['ask', { text: failed.prompt, context: [], mode: 'ask', model: 'qwen3-coder' }, options]
  ]);
});

it('answers each edit of a batch as it asks, and nothing that does more', async () => {
  const edit = (callId: string, status: 'asking' | 'waiting' | 'ok', risk = 'edit') =>
    card({ callId, status, risk, name: 'edit_cell' });
  const chat = new FakeChat({ run: 'run-1', phase: 'approval', approval: 'a' }, [
    turn({
      status: 'running',
      blocks: [edit('a', 'asking'), edit('b', 'waiting'), edit('c', 'waiting')]
    })
  ]);
  await new Stage(new FakePanel(chat)).show();
  await act(() => new Promise(resolve => setTimeout(resolve, 450)));
  press('Accept all 3 edits');
  const goOn = (approval: string, ...blocks: Turn['blocks'][number][]): void => {
    act(() => {
      chat.set({ state: { approval }, turns: [turn({ status: 'running', blocks })] });
    });
  };
  goOn('b', edit('a', 'ok'), edit('b', 'asking'), edit('c', 'waiting'));
  goOn('c', edit('a', 'ok'), edit('b', 'ok'), edit('c', 'asking', 'destroy'));
  expect(chat.calls).toEqual([
    ['answer', 'a', true, '', false],
    ['answer', 'b', true, '', false]
  ]);
});
