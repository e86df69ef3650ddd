import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import { stretchesOf } from '../../src/panel/transcript';
import { TurnView } from '../../src/panel/turn';
import { FakeChat, FakeNotebook, FakePanel, turn } from './fakes';
import { PATH, press, settle, showPart, Stage } from './stage';

afterEach(() => {
  cleanup();
  Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
});

const EDIT = 'Edit this prompt and ask it anew';
const AGAIN = 'Ask again: another answer in place of this one';

it('asks an edited prompt in place of a turn, and leaves what is being written', async () => {
  const chat = new FakeChat({}, [turn()]);
  await new Stage(new FakePanel(chat)).show();
  chat.composer.setText('half a thought');
  press(EDIT);
  const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Changed prompt' });
  expect(document.activeElement).toBe(field);
  expect(field.value).toBe('What is in this data?');
  fireEvent.change(field, { target: { value: ' And in the other? ' } });
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(chat.calls).toEqual([
    [
      'ask',
      { text: 'And in the other?', context: [], mode: 'ask', model: '' },
      { supersedes: 'run-1', instead: false }
    ]
  ]);
});

it('leaves a prompt as it was on Escape, which stops no run then', async () => {
  const chat = new FakeChat({ run: 'run-1' }, [turn({ status: 'running' })]);
  await new Stage(new FakePanel(chat)).show();
  press(EDIT);
  fireEvent.keyDown(screen.getByRole('textbox', { name: 'Changed prompt' }), { key: 'Escape' });
  expect(chat.calls).toEqual([]);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: EDIT }));
});

it('asks the same again, in place of what runs too', async () => {
  const chat = new FakeChat({ run: 'run-2' }, [
    turn(),
    turn({ runId: 'run-2', prompt: 'Plot it', status: 'running' })
  ]);
  await new Stage(new FakePanel(chat)).show();
  press(AGAIN);
  expect(chat.calls[0]?.[2]).toEqual({ supersedes: 'run-1', instead: true });
});

it('asks once where it is pressed twice', async () => {
  const chat = new FakeChat({}, [turn()]);
  await new Stage(new FakePanel(chat)).show();
  press(AGAIN);
  chat.sending = [{ text: turn().prompt, context: [], mode: 'ask', model: '' }];
  press(AGAIN);
  expect(chat.calls.map(([name]) => name)).toEqual(['ask']);
});

it('waits for a notebook that is closed, says so beside the turn, and asks once it is open', async () => {
  const chat = new FakeChat({ notebook_path: 'away.ipynb' }, [turn()]);
  const stage = new Stage(new FakePanel(chat));
  await stage.show();
  Element.prototype.scrollIntoView = () => undefined; // jsdom has none
  const note = (): HTMLElement | null => screen.queryByText(/away.ipynb is not open/);
  press(AGAIN);
  expect(note()).not.toBeNull();
  press('Cancel');
  expect(note()).toBeNull();
  press(AGAIN);
  press('Open notebook');
  expect(stage.opened).toEqual(['away.ipynb']);
  expect(chat.calls).toEqual([]);
  const notebook = new FakeNotebook();
  notebook.kernelId = '';
  stage.notebooks.open['away.ipynb'] = notebook;
  act(() => {
    stage.notebooks.added.emit();
  });
  expect(screen.getByText(/has its kernel/)).toBeDefined();
  expect(chat.calls).toEqual([]);
  notebook.kernelId = 'kernel-1';
  act(() => {
    notebook.changed.emit();
  });
  expect(chat.calls.map(([name, , options]) => [name, options])).toEqual([
    ['ask', { supersedes: 'run-1', instead: false }]
  ]);
  expect(screen.queryByText(/has its kernel/)).toBeNull();
});

it('asks again when a page that was just loaded knows the notebook of its chat', async () => {
  const chat = new FakeChat({}, [turn()]);
  chat.isCaughtUp = false;
  await new Stage(new FakePanel(chat)).show();
  Element.prototype.scrollIntoView = () => undefined;
  press(AGAIN);
  expect(chat.calls).toEqual([]);
  act(() => {
    chat.isCaughtUp = true;
    chat.set({ state: { notebook_path: PATH } });
  });
  await settle();
  expect(chat.calls.map(([name]) => name)).toEqual(['ask']);
});

it('branches from the menu of a turn', async () => {
  const panel = new FakePanel(new FakeChat({}, [turn()]));
  await new Stage(panel).show();
  press('More for this answer');
  fireEvent.click(screen.getByRole('menuitem', { name: /^Branch from here/ }));
  expect(panel.calls).toContainEqual(['branchChat', 'chat-1', 'run-1']);
});

it('leads from the menu of a turn to its run', async () => {
  const stage = new Stage(new FakePanel(new FakeChat({}, [turn()])));
  await stage.show();
  press('More for this answer');
  fireEvent.click(screen.getByRole('menuitem', { name: /^Show run/ }));
  expect(stage.shownRuns).toEqual(['run-1']);
});

it('folds what was replaced into one line that opens', async () => {
  const turns = [
    turn({ runId: 'a', prompt: 'Old question', supersededBy: 'c' }),
    turn({ runId: 'b', prompt: 'What followed', supersededBy: 'c' }),
    turn({ runId: 'c', prompt: 'New question' })
  ];
  await new Stage(new FakePanel(new FakeChat({}, turns))).show();
  const line = screen.getByRole('button', { name: /^2 replaced prompts/, expanded: false });
  expect(line.textContent).toContain('Old question');
  expect(screen.queryByText('What followed')).toBeNull();
  fireEvent.click(line);
  const part = screen.getByRole('region', { name: 'Replaced prompts' });
  expect(within(part).getByText('What followed')).toBeDefined();
  expect(within(part).queryByRole('button', { name: EDIT })).toBeNull();
  expect(within(part).queryByRole('button', { name: AGAIN })).toBeNull();
  await settle();
  fireEvent.click(line);
  expect(screen.queryByText('What followed')).toBeNull();
});

it('keeps apart what was replaced at different places', () => {
  const replaced = (runId: string) => turn({ runId, supersededBy: 'z' });
  const kinds = stretchesOf([replaced('a'), turn(), replaced('b'), replaced('c')]).map(stretch =>
    stretch.kind === 'turn' ? 'turn' : stretch.turns.map(({ runId }) => runId).join('')
  );
  expect(kinds).toEqual(['a', 'turn', 'bc']);
});

it('offers no editing where nothing was asked', () => {
  const replace = vi.fn();
  showPart(<TurnView turn={turn({ supersededBy: 'x' })} />, { replace });
  expect(screen.queryByRole('button', { name: EDIT })).toBeNull();
});
