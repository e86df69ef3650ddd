import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import { RUNNING, stage } from './composer_stage';
import { FakeChat } from './fakes';

afterEach(cleanup);

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
