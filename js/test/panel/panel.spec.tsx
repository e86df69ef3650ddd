import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { NoticeBlock } from '../../src/chat/types';
import { FakeChat, FakePanel } from './fakes';
import { PATH, press, settle, Stage } from './stage';

afterEach(cleanup);

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
  // beside a chat of another notebook, which is closed, they would seem to be of that one
  stage.panel.notices = [
    { kind: 'notice', level: 'warning', code: 'notebook_closed', text: 'closed', action: '' }
  ];
  act(() => {
    stage.panel.noticesChanged.emit(stage.panel.notices);
  });
  expect(screen.queryByText('3 cells were made while this notebook was closed.')).toBeNull();
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

it('skips to the prompt', async () => {
  await new Stage().show();
  press('Skip to the prompt');
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

it.each([
  [
    'Chats',
    () => {
      press('Chats');
    }
  ],
  [
    'Model settings',
    (stage: Stage) => {
      act(() => {
        stage.requests.ask('service');
      });
    }
  ]
])('has what was begun in the chat when the person comes back from %s', async (_, leave) => {
  const stage = new Stage();
  await stage.show();
  press('More');
  fireEvent.click(screen.getByRole('menuitem', { name: /Instructions for this chat/ }));
  await settle();
  const field = (): HTMLElement =>
    screen.getByRole('textbox', { name: 'Instructions for this chat' });
  fireEvent.change(field(), { target: { value: 'use polars' } });
  leave(stage);
  await settle();
  expect(screen.queryByRole('textbox', { name: 'Instructions for this chat' })).toBeNull();
  expect(screen.queryByRole('textbox', { name: 'Prompt' })).toBeNull();
  press('Back to the chat');
  await settle();
  expect(field()).toHaveProperty('value', 'use polars');
});
