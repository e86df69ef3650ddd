import { cleanup, fireEvent, screen } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, expect, it } from 'vitest';

import { card, FakeChat, FakePanel, SERVICE, turn } from './fakes';
import { PATH, settle, Stage } from './stage';

afterEach(cleanup);

/** What axe finds; contrast needs a browser and is looked at there. */
async function findings(root: Element): Promise<string[]> {
  const { violations } = await axe.run(root, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

const DONE = turn({
  files: ['data.csv'],
  blocks: [
    { kind: 'reasoning', text: 'Hm.', isStreaming: false },
    { kind: 'text', text: '| a |\n|---|\n| 1 |', isStreaming: false },
    card(),
    { kind: 'notice', level: 'error', text: 'No.', action: 'Do it.', code: 'SetupError' }
  ]
});
const ASKING = turn({
  runId: 'run-2',
  status: 'running',
  blocks: [
    card({ callId: 'a', status: 'asking', risk: 'edit', name: 'edit_cell', reason: 'Why.' }),
    card({ callId: 'b', status: 'waiting', risk: '', name: 'edit_cell' })
  ]
});
const FAILED = turn({ runId: 'run-3', status: 'task error', cause: 'SetupError', reason: 'No.' });

function busyStage(): Stage {
  const chat = new FakeChat(
    {
      notebook_path: PATH,
      run: 'run-2',
      phase: 'approval',
      approval: 'a',
      queue: [
        { id: 'q1', prompt: 'Then' },
        { id: 'q2', prompt: 'and' }
      ],
      queue_paused: true,
      input: { request: 'r', prompt: 'Name?', password: false, form: null },
      context_tokens: 100,
      context_limit: 120
    },
    [DONE, FAILED, ASKING]
  );
  chat.composer.setMode('auto');
  chat.composer.addContext({ kind: 'variable', name: 'penguins' });
  chat.problem = { code: 'busy', message: 'It is busy.', hint: 'Wait.' };
  const panel = new FakePanel(chat);
  panel.names = [{ name: 'penguins', type: 'DataFrame', text: '3 rows' }];
  return new Stage(panel);
}

it('finds nothing in a conversation with all that it can hold', async () => {
  const { container } = await busyStage().show();
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins.*Done/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Thoughts' }));
  expect(await findings(container)).toEqual([]);
});

it('finds nothing in an edited title, an edited prompt and a rejection with words', async () => {
  const { container } = await busyStage().show();
  fireEvent.click(screen.getByTitle('Rename'));
  fireEvent.click(screen.getAllByRole('button', { name: 'Edit this prompt' })[0] ?? container);
  fireEvent.click(screen.getByRole('button', { name: 'Reject and say what to do instead' }));
  expect(await findings(container)).toEqual([]);
});

it.each([/^Mode:/, /^Model:/, /^Context/])('finds nothing in what %s opens', async name => {
  const { container } = await busyStage().show();
  const button = screen.getByRole('button', { name });
  button.focus();
  fireEvent.click(button);
  await settle();
  expect(await findings(container)).toEqual([]);
});

it('finds nothing in the completion of names', async () => {
  const { container } = await busyStage().show();
  const field = screen.getByRole('textbox', { name: 'Prompt' });
  fireEvent.change(field, { target: { value: '@', selectionStart: 1 } });
  await screen.findByRole('option');
  expect(await findings(container)).toEqual([]);
});

it('finds nothing in an empty chat with the demo model and its form', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, is_demo: true };
  const code = 'LMAccessError';
  stage.panel.checks = [{ name: 'model', status: 'blocked', text: 'No.', action: '', code }];
  stage.panel.suggested = [{ label: 'Plot', prompt: 'Plot it', context: [] }];
  const { container } = await stage.show();
  expect(await findings(container)).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Use your own model' }));
  await settle();
  expect(await findings(container)).toEqual([]);
  const provider = 'OpenAI https://api.openai.com/v1';
  fireEvent.change(screen.getByLabelText('Provider'), { target: { value: provider } });
  fireEvent.click(screen.getByRole('button', { name: 'Show models' }));
  fireEvent.click(screen.getByText('How it answers'));
  fireEvent.click(screen.getByRole('button', { name: 'Test and save' }));
  await settle();
  expect(screen.getByText('OpenAI wants a key.')).toBeDefined();
  expect(await findings(container)).toEqual([]);
});

it('finds nothing in the list of chats, its menu and the question before deleting', async () => {
  const stage = new Stage();
  stage.panel.chats = [
    {
      id: 'chat-1',
      title: 'Penguins',
      notebookPath: PATH,
      updatedAt: 1000,
      runs: 1,
      activity: 'none'
    }
  ];
  stage.requests.ask('sessions');
  const { container } = await stage.show();
  fireEvent.click(screen.getByRole('button', { name: 'More for Penguins' }));
  expect(await findings(container)).toEqual([]);
  fireEvent.click(screen.getByRole('menuitem', { name: 'Delete …' }));
  expect(await findings(container)).toEqual([]);
});

it('gives every button and field a name', async () => {
  await busyStage().show();
  const nameless = [...screen.getAllByRole('button'), ...screen.getAllByRole('textbox')].filter(
    element =>
      element.textContent.trim() === '' &&
      !element.hasAttribute('aria-label') &&
      (element as HTMLInputElement).labels?.length === 0
  );
  expect(nameless).toEqual([]);
});
