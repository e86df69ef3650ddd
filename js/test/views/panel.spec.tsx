import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { NoticeBlock, Turn } from '../../src/models/types';
import { card, FakeChat, FakePanel, SERVICE, turn } from './fakes';
import { PATH, settle, Stage } from './stage';

afterEach(cleanup);

function press(name: string | RegExp): void {
  fireEvent.click(screen.getByRole('button', { name }));
}

it('shows the title of the chat and its notebook', async () => {
  await new Stage(new FakePanel(new FakeChat({ title: 'Penguins', notebook_path: PATH }))).show();
  expect(screen.getByRole('heading', { name: 'Penguins' })).toBeDefined();
  expect(screen.getByText('penguins.ipynb').title).toBe(PATH);
});

it('renames the chat in place', async () => {
  const stage = new Stage();
  await stage.show();
  press('A chat');
  const field = screen.getByRole('textbox', { name: 'Title' });
  fireEvent.change(field, { target: { value: 'Birds ' } });
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(stage.panel.calls).toEqual([['renameChat', 'chat-1', 'Birds']]);
  await settle();
  expect(document.activeElement).toBe(screen.getByTitle('Rename'));
});

it('leaves the title as it was with Esc and when nothing was changed', async () => {
  const stage = new Stage();
  await stage.show();
  press('A chat');
  fireEvent.change(screen.getByRole('textbox', { name: 'Title' }), { target: { value: 'x' } });
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Title' }), { key: 'Escape' });
  press('A chat');
  fireEvent.blur(screen.getByRole('textbox', { name: 'Title' }));
  expect(stage.panel.calls).toEqual([]);
});

it('cannot rename a chat that is not made yet', async () => {
  const chat = new FakeChat();
  chat.state = { ...chat.state, id: '', title: '' };
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByRole('heading', { name: 'New chat' })).toBeDefined();
  expect(screen.getByText('No notebook')).toBeDefined();
  expect(screen.queryByRole('button', { name: 'Rename' })).toBeNull();
});

it('begins a new chat', async () => {
  const stage = new Stage();
  await stage.show();
  press('New chat');
  expect(stage.panel.calls).toEqual([['newChat', undefined]]);
});

it('shows another chat when the model does', async () => {
  const stage = new Stage();
  await stage.show();
  act(() => {
    stage.panel.show(new FakeChat({ id: 'chat-2', title: 'Other' }));
  });
  expect(screen.getByRole('heading', { name: 'Other' })).toBeDefined();
});

const NOTICE: NoticeBlock = {
  kind: 'notice',
  level: 'warning',
  text: 'This page has cellwright 2, the server 1.',
  action: 'Restart the server.',
  code: 'version_mismatch'
};

it('shows what holds for the panel as a whole', async () => {
  const stage = new Stage();
  stage.panel.notices = [NOTICE];
  await stage.show();
  expect(screen.getByText(NOTICE.text)).toBeDefined();
  expect(screen.getByText(NOTICE.action)).toBeDefined();
});

it('stops or takes over a run of another tab', async () => {
  const chat = new FakeChat({ run: 'run-1' });
  const stage = new Stage(new FakePanel(chat));
  stage.panel.notices = [{ ...NOTICE, code: 'driven_elsewhere', text: 'Running in another tab.' }];
  await stage.show();
  press('Stop');
  press('Take over');
  expect(chat.calls).toEqual([['stop'], ['drive']]);
});

it('shows what the server refused until it is read', async () => {
  const chat = new FakeChat();
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  act(() => {
    chat.set({ problem: { code: 'busy', message: 'It is busy.', hint: 'Wait.' } });
  });
  expect(screen.getByText('It is busy.')).toBeDefined();
  press('Close this message');
  expect(screen.queryByText('It is busy.')).toBeNull();
});

it('shows what the server refused outside of a chat', async () => {
  const stage = new Stage();
  stage.panel.problem = { code: 'x', message: 'No such chat.', hint: '' };
  await stage.show();
  press('Close this message');
  expect(screen.queryByText('No such chat.')).toBeNull();
});

it('says that the connection is lost once that lasts, and connects again', async () => {
  const stage = new Stage();
  stage.panel.link = 'waiting';
  await stage.show();
  expect(screen.queryByText('Connection lost.')).toBeNull();
  expect(await screen.findByText('Connection lost.', {}, { timeout: 3000 })).toBeDefined();
  press('Reconnect');
  expect(stage.panel.calls).toEqual([['reconnect']]);
  act(() => {
    stage.panel.link = 'open';
    stage.panel.linkChanged.emit('open');
  });
  expect(screen.queryByText('Connection lost.')).toBeNull();
});

it('offers the cells that were made while the notebook was closed', async () => {
  const stage = new Stage();
  const cell = {
    cell_id: 'a',
    source: '1',
    cell_type: 'code',
    after: '',
    outputs: [],
    execution_count: 1
  } as const;
  stage.panel.missing = [
    { run: 'run-1', chat: 'chat-1', cells: [cell, cell] },
    { run: 'run-2', chat: 'chat-1', cells: [cell] }
  ];
  await stage.show();
  expect(screen.getByText('3 cells were made while this notebook was closed.')).toBeDefined();
  press('Insert');
  press('Discard');
  expect(stage.panel.calls).toEqual([
    ['insertMissing', 'run-1'],
    ['insertMissing', 'run-2'],
    ['discardMissing', 'run-1'],
    ['discardMissing', 'run-2']
  ]);
});

it('shows nothing but that it is switched off where the server says so', async () => {
  const stage = new Stage();
  stage.panel.problem = { code: 'disabled', message: 'x', hint: '' };
  await stage.show();
  expect(screen.getByText('cellwright is switched off here')).toBeDefined();
  expect(screen.queryByRole('textbox')).toBeNull();
});

it('suggests what to ask and puts it into the prompt', async () => {
  const stage = new Stage();
  stage.panel.suggested = [
    {
      label: 'Fix the failing cell',
      prompt: 'Fix it.',
      context: [{ kind: 'error', cell_id: 'a', text: 'NameError' }]
    }
  ];
  stage.panel.notebook = { path: PATH, kernelId: '', outline: () => [] };
  await stage.show();
  expect(screen.getByText('What shall we do in penguins.ipynb?')).toBeDefined();
  press('Fix the failing cell');
  expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' }).value).toBe(
    'Fix it.'
  );
  expect(screen.getByRole('button', { name: 'Remove NameError' })).toBeDefined();
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

it('says that a conversation is on its way', async () => {
  const chat = new FakeChat();
  chat.isCaughtUp = false;
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByText('Loading the conversation …')).toBeDefined();
  expect(screen.queryByText('What shall we do?')).toBeNull();
});

const DEMO = { ...SERVICE, is_demo: true, model: 'cellwright-demo', has_key: false, base_url: '' };

it('says that the demo model answers and takes another one', async () => {
  const stage = new Stage();
  stage.panel.service = DEMO;
  stage.panel.notices = [{ ...NOTICE, level: 'info', code: 'service', text: 'The demo answers.' }];
  await stage.show();
  expect(screen.getByText('The demo model answers.')).toBeDefined();
  expect(screen.queryByText('The demo answers.')).toBeNull();
  press('Use your own model');
  const form = within(screen.getByRole('form', { name: 'Model settings' }));
  const enter = (name: string, value: string): void => {
    fireEvent.change(form.getByLabelText(name), { target: { value } });
  };
  expect(form.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  enter('Endpoint', ' https://models.example.org/v1 ');
  enter('Model', 'm');
  enter('Key', ' secret ');
  fireEvent.submit(screen.getByRole('form', { name: 'Model settings' }));
  await settle();
  expect(stage.panel.calls).toEqual([
    ['changeService', { base_url: 'https://models.example.org/v1', model: 'm', api_key: 'secret' }]
  ]);
  expect(form.getByText('Saved.')).toBeDefined();
  expect(form.getByLabelText<HTMLInputElement>('Key').value).toBe('');
});

it('tests what is set and names what to do', async () => {
  const stage = new Stage();
  stage.panel.checks = [
    { name: 'endpoint', status: 'ok', text: 'The endpoint answers.', action: '' },
    { name: 'key', status: 'blocked', text: 'The key was refused.', action: 'Set another one.' }
  ];
  stage.requests.ask('service');
  await stage.show();
  press('Test');
  await settle();
  expect(screen.getByText('Set another one.')).toBeDefined();
  expect(screen.getByText('Does not work:')).toBeDefined();
});

it('saves before it tests', async () => {
  const stage = new Stage();
  stage.requests.ask('service');
  await stage.show();
  const field = screen.getByLabelText('Endpoint');
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: 'http://127.0.0.1:8000/v1' } });
  press('Save and test');
  await settle();
  expect(stage.panel.calls).toEqual([['changeService', { base_url: 'http://127.0.0.1:8000/v1' }]]);
});

it('says what the server does not like about the settings', async () => {
  const stage = new Stage();
  stage.panel.refusal = new Error('The address has no host.');
  stage.requests.ask('service');
  await stage.show();
  press('Test');
  expect(await screen.findByText('The address has no host.')).toBeDefined();
});

it('keeps a key that is set when its field is emptied again', async () => {
  const stage = new Stage();
  stage.requests.ask('service');
  await stage.show();
  expect(screen.getByText(/A key is set \(environment\)/)).toBeDefined();
  const field = screen.getByLabelText('Key');
  fireEvent.change(field, { target: { value: 'x' } });
  fireEvent.change(field, { target: { value: '' } });
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
});

it('leaves endpoint and key to the administrator where they are locked', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, endpoints_locked: true, models_allowed: ['a', 'b'] };
  stage.requests.ask('service');
  await stage.show();
  expect(screen.getByLabelText<HTMLInputElement>('Endpoint').disabled).toBe(true);
  expect(screen.getByLabelText<HTMLInputElement>('Key').disabled).toBe(true);
  expect(screen.getByText('Allowed: a, b')).toBeDefined();
  press('Close');
  expect(screen.queryByLabelText('Endpoint')).toBeNull();
});

it('does what commands ask, also before it was drawn', async () => {
  const stage = new Stage();
  stage.requests.ask('compose');
  await stage.show();
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
  act(() => {
    stage.requests.ask('sessions');
  });
  await settle();
  expect(document.activeElement).toBe(screen.getByRole('searchbox'));
  act(() => {
    stage.requests.ask('compose');
  });
  await settle();
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

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
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Approve' }));
});

it('skips to the prompt', async () => {
  await new Stage().show();
  press('Skip to the prompt');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

it('asks for the input of a running cell, hidden where it is a password', async () => {
  const input = { request: 'r1', prompt: 'Your password: ', password: true };
  const chat = new FakeChat({ run: 'run-1', phase: 'input', input });
  await new Stage(new FakePanel(chat)).show();
  const field = screen.getByLabelText<HTMLInputElement>('Your password:');
  expect(field.type).toBe('password');
  fireEvent.change(field, { target: { value: 'x y' } });
  fireEvent.submit(field);
  expect(chat.calls).toEqual([['sendInput', 'x y']]);
});

it('asks for plain input without a prompt of its own', async () => {
  const input = { request: 'r1', prompt: '', password: false };
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

it('acts on the notebook of the chat', async () => {
  const chat = new FakeChat({ notebook_path: PATH }, [turn({ blocks: [card()] })]);
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  press(/Load the penguins/);
  press('Go to cell');
  press('Undo step');
  press('Redo');
  press(/^Undo run/);
  press('Redo run');
  expect(stage.notebook.calls).toEqual([
    ['reveal', 'cell-1'],
    ['undo', 'run-1', 'call-1'],
    ['redo', 'run-1', 'call-1'],
    ['undo', 'run-1', undefined],
    ['redo', 'run-1', undefined]
  ]);
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
  expect(screen.getByRole('form', { name: 'Model settings' })).toBeDefined();
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
