import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { RequestError } from '../../src/client/request';
import { FakeChat, FakePanel, turn } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(() => {
  cleanup();
  Reflect.deleteProperty(Element.prototype, 'scrollIntoView');
});

const scrolled: string[] = [];

beforeEach(() => {
  scrolled.length = 0;
  // jsdom has no layout
  Element.prototype.scrollIntoView = function (this: HTMLElement): void {
    scrolled.push(this.dataset.run ?? '');
  };
});

const KEEP = "Keep this turn in the model's context however long the chat gets";

/** Two turns, the second of which goes on. */
function twoTurns(): FakePanel {
  const turns = [
    turn({ runId: 'a', prompt: 'Which unit?' }),
    turn({ runId: 'b', prompt: 'Plot it', status: 'running' })
  ];
  return new FakePanel(new FakeChat({ run: 'b', context_tokens: 900 }, turns));
}

function pinOf(index: number): HTMLElement {
  const article = screen.getAllByRole('article')[index];
  return within(article ?? document.body).getByRole('button', { name: 'Pin' });
}

it('test_002_60 pins a turn, also one that goes on, and marks it', async () => {
  const panel = twoTurns();
  const { container } = await new Stage(panel).show();
  expect(screen.queryByRole('img', { name: 'Pinned' })).toBeNull();
  expect(pinOf(1).getAttribute('aria-pressed')).toBe('false');
  expect(pinOf(1).title).toBe(KEEP);
  fireEvent.click(pinOf(1));
  await settle();
  expect(panel.calls).toContainEqual(['setPinned', 'chat-1', 'b', true]);
  expect(pinOf(1).getAttribute('aria-pressed')).toBe('true');
  expect(pinOf(1).title).toMatch(/^Unpin/);
  const marked = screen.getByRole('img', { name: 'Pinned' }).closest('article');
  expect(marked).toBe(screen.getAllByRole('article')[1]);
  expect((await axe.run(container, { runOnly: ['wcag2a'] })).violations).toEqual([]);
  fireEvent.click(pinOf(1));
  await settle();
  expect(panel.calls.at(-1)).toEqual(['setPinned', 'chat-1', 'b', false]);
  expect(screen.queryByRole('img', { name: 'Pinned' })).toBeNull();
});

it('test_002_60 shows why the server pins no more, and marks nothing', async () => {
  const panel = twoTurns();
  await new Stage(panel).show();
  panel.refusal = new RequestError(409, 'pins', 'Too much is pinned.', 'Unpin something.');
  fireEvent.click(pinOf(0));
  expect(await screen.findByText('Too much is pinned.')).toBeDefined();
  expect(screen.getByText('Unpin something.')).toBeDefined();
  expect(pinOf(0).getAttribute('aria-pressed')).toBe('false');
  press('Close this message');
  expect(screen.queryByText('Too much is pinned.')).toBeNull();
});

it('test_002_60 pins no turn that another took the place of', async () => {
  const replaced = turn({ runId: 'a', supersededBy: 'b' });
  const panel = new FakePanel(new FakeChat({}, [replaced, turn({ runId: 'b' })]));
  panel.pins = ['a'];
  await new Stage(panel).show();
  press(/^1 replaced prompt/);
  expect(screen.getAllByRole('article')).toHaveLength(2);
  expect(screen.getAllByRole('button', { name: 'Pin' })).toEqual([pinOf(1)]);
  expect(screen.queryByRole('img', { name: 'Pinned' })).toBeNull();
});

it('test_002_60 shows that another tab pinned a turn', async () => {
  const panel = new FakePanel(new FakeChat({}, [turn()]));
  await new Stage(panel).show();
  panel.pins = ['run-1'];
  panel.chat.stateReceived.emit(panel.chat.state);
  expect(await screen.findByRole('img', { name: 'Pinned' })).toBeDefined();
});

async function openMeter(panel: FakePanel): Promise<HTMLElement> {
  await new Stage(panel).show();
  press('Context: 900 tokens');
  await settle();
  return screen.getByRole('dialog');
}

it('test_002_60 lists pinned turns with the context, to go to and to unpin', async () => {
  const panel = twoTurns();
  panel.pins = ['b', 'a', 'of-before'];
  panel.context = { ...panel.context, parts: [{ name: 'pinned', pieces: 3, tokens: 70 }] };
  const dialog = await openMeter(panel);
  expect(within(dialog).getByRole('rowheader', { name: 'Pinned turns' })).toBeDefined();
  const part = within(dialog).getByRole('region', { name: '3 turns pinned' });
  expect(
    within(part)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent)
  ).toEqual(['Plot itUnpin', 'Which unit?Unpin', 'A turn of this chatUnpin']);
  expect((await axe.run(dialog, { runOnly: ['wcag2a'] })).violations).toEqual([]);

  const unpin = within(part).getByRole('button', { name: 'Unpin Plot it' });
  unpin.focus();
  fireEvent.click(unpin);
  await settle();
  expect(panel.pins).toEqual(['a', 'of-before']);
  expect(document.activeElement?.getAttribute('aria-label')).toBe('Unpin Which unit?');
  fireEvent.click(within(dialog).getByRole('button', { name: 'Which unit?' }));
  await settle();
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(scrolled).toEqual(['a']);
  expect(document.activeElement).toBe(pinOf(0));
});

it('test_002_60 goes back to the meter once nothing is pinned, and lists nothing', async () => {
  const panel = twoTurns();
  panel.pins = ['a'];
  const dialog = await openMeter(panel);
  const unpin = within(dialog).getByRole('button', { name: 'Unpin Which unit?' });
  unpin.focus();
  fireEvent.click(unpin);
  await settle();
  expect(screen.queryByRole('region', { name: /pinned$/ })).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: /^Context/ }));
});

it('test_002_60 draws an early turn to go to it', async () => {
  const turns = Array.from({ length: 40 }, (_, index) =>
    turn({ runId: `r${String(index)}`, prompt: `Question ${String(index)} ${'x'.repeat(90)}` })
  );
  const panel = new FakePanel(new FakeChat({ context_tokens: 900 }, turns));
  panel.pins = ['r2'];
  const dialog = await openMeter(panel);
  expect(screen.getAllByRole('article')).toHaveLength(30);
  const link = within(dialog).getByRole('button', { name: /^Question 2/ });
  expect(link.textContent).toHaveLength(82);
  fireEvent.click(link);
  await settle();
  expect(scrolled).toEqual(['r2']);
  expect(screen.getAllByRole('article')).toHaveLength(38);
});
