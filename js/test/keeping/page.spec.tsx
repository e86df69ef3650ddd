import { act, fireEvent, render, type RenderResult, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import * as React from 'react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { KeepingPage, type Part } from '../../src/keeping/keeping_page';
import type { Opener } from '../../src/views/opening';
import { PageView } from '../../src/keeping/page_view';
import { KeepingRest } from '../../src/keeping/requests';
import { FakeServer } from '../fake_socket';
import { TRANS } from '../views/fakes';
import { document as text, Kept, memory, proposal, row, tool } from './kept';

let server: FakeServer;
let kept: Kept;
let page: KeepingPage;
let opened: string[];
let opener: Opener;

beforeEach(() => {
  server = new FakeServer();
  kept = new Kept();
  kept.serve(server);
  page = new KeepingPage(new KeepingRest(server.settings), () => 'work/a.ipynb');
  opened = [];
  opener = {
    run: run => opened.push(`run ${run}`),
    place: (place, anchor) =>
      place.startsWith('/') ? null : () => opened.push(`${place} ${anchor ?? ''}`)
  };
});

afterEach(() => {
  page.dispose();
});

async function show(part: Part): Promise<RenderResult> {
  const shown = render(<PageView page={page} trans={TRANS} opener={opener} />);
  await act(async () => {
    page.show(part);
    page.setVisible(true);
    await Promise.resolve();
  });
  return shown;
}

async function press(name: string | RegExp): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name }));
}

function write(field: HTMLElement, value: string): void {
  fireEvent.change(field, { target: { value } });
}

function sent(method: string, path: string): unknown {
  const made = server.requests.filter(asked => asked.method === method && asked.path === path);
  const body = made.at(-1)?.body ?? '';
  return body === '' ? undefined : JSON.parse(body);
}

async function findings(root: Element): Promise<string[]> {
  const { violations } = await axe.run(root, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

describe('memory', () => {
  it('lists facts, where they hold and which run they come from', async () => {
    const { container } = await show('memory');
    const line = (await screen.findByRole('row', { name: /Fact 2/ })).closest('tr');
    expect(within(line as HTMLElement).getByText('This project')).toBeTruthy();
    fireEvent.click(within(line as HTMLElement).getByRole('button', { name: 'A run' }));
    expect(opened).toEqual(['run run-7']);
    expect(await findings(container)).toEqual([]);
  });

  it('adds a fact for all projects or for this one', async () => {
    await show('memory');
    const field = await screen.findByRole('textbox', { name: 'New fact' });
    await press('Add');
    expect(sent('POST', 'memories')).toBeUndefined();
    write(field, ' Prices are in euros ');
    write(screen.getByRole('combobox', { name: 'Holds for' }), 'project');
    fireEvent.submit(field);
    expect(await screen.findByText('Prices are in euros')).toBeTruthy();
    expect(sent('POST', 'memories')).toEqual({
      text: 'Prices are in euros',
      scope: 'project',
      notebook: 'work/a.ipynb'
    });
    await expect.poll(() => (field as HTMLInputElement).value).toBe('');
  });

  it('changes a fact with Enter, and not with Escape', async () => {
    await show('memory');
    await press('Change "Fact 1"');
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Fact' }), { key: 'Escape' });
    expect(screen.queryByRole('textbox', { name: 'Fact' })).toBeNull();
    await press('Change "Fact 1"');
    const field = screen.getByRole('textbox', { name: 'Fact' });
    expect(document.activeElement).toBe(field);
    write(field, 'Another');
    fireEvent.keyDown(field, { key: 'Enter' });
    expect(await screen.findByRole('button', { name: 'Change "Another"' })).toBeTruthy();
    expect(sent('PATCH', 'memories/1')).toEqual({ text: 'Another' });
  });

  it('forgets a fact only after a second yes', async () => {
    const { container } = await show('memory');
    await press('Forget "Fact 1"');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep' }));
    expect(await findings(container)).toEqual([]);
    await press('Keep');
    expect(screen.getByText('Fact 1')).toBeTruthy();
    await press('Forget "Fact 1"');
    await press('Forget');
    await expect.poll(() => screen.queryByText('Fact 1')).toBeNull();
  });

  it('shows what the agent proposes beside what it would change', async () => {
    kept.proposals = [
      proposal('p', { action: 'update', memory_id: '1', text: 'Newer', reason: 'You said so.' }),
      proposal('q', { action: 'delete', memory_id: '2', text: '' })
    ];
    const { container } = await show('memory');
    const list = await screen.findByRole('region', { name: 'The agent proposes 2 changes' });
    const [first, second] = within(list).getAllByRole('listitem');
    expect(first?.textContent).toContain('ChangeFact 1NewerYou said so.');
    expect(second?.textContent).toContain('ForgetFact 2');
    expect(await findings(container)).toEqual([]);
    await press('Accept "Newer"');
    await expect.poll(() => sent('POST', 'proposals/p')).toEqual({ accept: true });
    await expect.poll(() => screen.queryByRole('region')).toBeNull();
  });

  it('rejects a proposal', async () => {
    kept.proposals = [proposal('p')];
    await show('memory');
    await press('Reject "Proposed p"');
    await expect.poll(() => sent('POST', 'proposals/p')).toEqual({ accept: false });
  });

  it('looks for facts, and says when none fits', async () => {
    await show('memory');
    write(await screen.findByRole('searchbox', { name: 'Search memories' }), 'nothing');
    expect(await screen.findByText('No memory fits')).toBeTruthy();
  });

  it('draws a fact as text, whatever it holds', async () => {
    kept.memories = [memory('1', { text: '<img src=x onerror=alert(1)> **bold**' })];
    const { container } = await show('memory');
    expect(await screen.findByText('<img src=x onerror=alert(1)> **bold**')).toBeTruthy();
    expect(container.querySelector('img, strong')).toBeNull();
  });

  it('says why something could not be kept, and keeps what was written', async () => {
    server.routes.set('POST memories', () =>
      Response.json({ message: 'Memory is full.', hint: 'Forget something.' }, { status: 409 })
    );
    await show('memory');
    const field = await screen.findByRole('textbox', { name: 'New fact' });
    write(field, 'More');
    await press('Add');
    expect((await screen.findByRole('alert')).textContent).toBe(
      'Memory is full. Forget something.'
    );
    expect((field as HTMLInputElement).value).toBe('More');
  });

  it('switches remembering off and on again', async () => {
    const { container } = await show('memory');
    const box = await screen.findByRole<HTMLInputElement>('switch', { name: 'Remember things' });
    expect(box.checked).toBe(true);
    fireEvent.click(box);
    await expect.poll(() => box.checked).toBe(false);
    expect(sent('PUT', 'memory-setting')).toEqual({ is_on: false });
    expect(screen.getByText(/What is here stays/)).toBeTruthy();
    expect(await findings(container)).toEqual([]);
    fireEvent.click(box);
    await expect.poll(() => kept.isOn && box.checked).toBe(true);
  });
});

describe('the library', () => {
  it('says what to do where it is empty', async () => {
    kept.library = { documents: [], indexing: null };
    await show('library');
    expect(await screen.findByText(/The library is empty/)).toBeTruthy();
    expect(screen.queryByRole('searchbox')).toBeNull();
  });

  it('adds a place and follows the reading of it', async () => {
    const { container } = await show('library');
    const field = await screen.findByRole('textbox', { name: 'File, folder or address' });
    write(field, 'notes');
    await press('Add to the library');
    await expect.poll(() => sent('POST', 'library')).toEqual({ place: 'notes' });
    expect(await screen.findByText('Reading 1 of 2: b.md')).toBeTruthy();
    expect(screen.getByRole('progressbar').getAttribute('max')).toBe('2');
    expect(await findings(container)).toEqual([]);
  });

  it('takes the next place while the one before is being added', async () => {
    await show('library');
    const field = await screen.findByRole('textbox', { name: 'File, folder or address' });
    for (const place of ['notes', 'papers']) {
      write(field, place);
      await press('Add to the library');
    }
    const added = (): unknown[] =>
      server.requests
        .filter(({ method }) => method === 'POST')
        .map(({ body }) => JSON.parse(body) as unknown);
    await expect.poll(added).toEqual([{ place: 'notes' }, { place: 'papers' }]);
    await expect.poll(() => (field as HTMLInputElement).value).toBe('');
  });

  it('takes a document out after a second yes, and says what is wrong with one', async () => {
    kept.library = {
      documents: [text('a'), text('b', { problem: 'It holds no text.', place: '/far/b.pdf' })],
      indexing: null
    };
    await show('library');
    expect(await screen.findByText('It holds no text.')).toBeTruthy();
    expect(screen.queryByRole('button', { name: 'b.md' })).toBeNull();
    await press('Remove "a.md"');
    await press('Remove');
    expect(await screen.findByText(/The library is empty/)).toBeTruthy();
  });

  it('uploads chosen and dropped files, and tells which were not taken', async () => {
    const { container } = await show('library');
    await screen.findByRole('table');
    server.routes.set('POST library', ({ body }) =>
      body.includes('.zip')
        ? Response.json({ message: 'It cannot be read.', hint: 'Use text.' }, { status: 400 })
        : {}
    );
    const large = new File(['x'], 'large.pdf');
    Object.defineProperty(large, 'size', { value: 30_000_000 });
    const files = [new File(['x'], 'a.md'), new File(['x'], 'b.zip'), large];
    const part = container.querySelector('.cw-keeping-frame') ?? container;
    fireEvent.dragOver(part, { dataTransfer: { types: ['Files'], files: [] } });
    expect(screen.getByText('Drop files to add them')).toBeTruthy();
    fireEvent.drop(part, { dataTransfer: { types: ['Files'], files } });
    expect(await screen.findByText('Uploading 1 of 3: a.md')).toBeTruthy();
    expect((await screen.findByRole('alert')).textContent).toBe(
      'b.zip It cannot be read. Use text.large.pdf It is larger than 20 MB. Put it into a folder of the server and add that.'
    );
    expect(sent('POST', 'library')).toEqual({ place: '0a1b-b.zip', name: 'b.zip' });
    expect(server.requests.filter(({ path }) => path === 'files')).toHaveLength(2);
    expect(await findings(container)).toEqual([]);
    const chooser = container.querySelector('input[type=file]') ?? container;
    fireEvent.change(chooser, { target: { files: [new File(['x'], 'c.md')] } });
    await expect.poll(() => sent('POST', 'library')).toEqual({ place: '0a1b-c.md', name: 'c.md' });
    expect(screen.queryByRole('alert')).toBeNull();
  });

  it('takes all documents of a library out after a second yes', async () => {
    const library = { id: 'l1', name: 'default', place: '', is_default: true, documents: 2 };
    const documents = [text('a'), text('b', { place: '' })];
    kept.library = { documents, libraries: [library], indexing: null };
    await show('library');
    expect(await screen.findByText('Uploaded')).toBeTruthy();
    await press('Remove all documents');
    expect(screen.getByText(/Take 2 documents out/)).toBeTruthy();
    await press('Remove');
    expect(await screen.findByText(/The library is empty/)).toBeTruthy();
    const asked = server.requests.find(({ method }) => method === 'DELETE');
    expect([asked?.query.get('library'), asked?.query.get('all')]).toEqual(['l1', '1']);
  });

  it('lists several libraries, to take one of them out', async () => {
    const library = { id: 'l1', name: 'default', place: '', is_default: true, documents: 1 };
    const other = { ...library, id: 'l2', name: 'papers', place: 'work', is_default: false };
    kept.library = {
      documents: [text('a'), text('b')],
      libraries: [library, other],
      indexing: null
    };
    const { container } = await show('library');
    await press('Remove "papers"');
    await press('Keep');
    expect(await findings(container)).toEqual([]);
    expect(screen.getByRole('button', { name: 'Remove "papers"' })).toBeTruthy();
  });

  it('finds numbered passages that lead to a file or a cell', async () => {
    const { container } = await show('library');
    write(await screen.findByRole('searchbox', { name: 'Search the library' }), 'price');
    expect(await screen.findByText('2 passages')).toBeTruthy();
    const items = within(screen.getByRole('list')).getAllByRole('listitem');
    expect(items.map(item => item.getAttribute('value'))).toEqual(['1', '2']);
    expect(items.map(item => item.textContent)).toEqual([
      '1a.md Prices · line 1Passage 1',
      '2work.ipynb cell 3f2aPassage 2'
    ]);
    await press('work.ipynb');
    expect(opened).toEqual(['work.ipynb cell 3f2a']);
    expect(await findings(container)).toEqual([]);
    write(screen.getByRole('searchbox'), '');
    await expect.poll(() => screen.queryByText('2 passages')).toBeNull();
  });

  it('says when nothing fits, or why nothing could be looked for', async () => {
    kept.hits = [];
    await show('library');
    write(await screen.findByRole('searchbox'), 'x');
    expect(await screen.findByText('No passage fits')).toBeTruthy();
    server.routes.set('GET library/search', () =>
      Response.json({ message: 'The index is being built.' }, { status: 409 })
    );
    write(screen.getByRole('searchbox'), 'xy');
    expect((await screen.findByRole('alert')).textContent).toBe('The index is being built.');
  });
});

describe('usage', () => {
  it('shows a table and a plot of the cost, or of the tokens', async () => {
    const { container } = await show('usage');
    expect(
      await screen.findByRole('row', { name: '2026-10 2 5 12.0K 8.0K 900 $1.50' })
    ).toBeTruthy();
    expect(screen.getByRole('img', { name: 'Cost: 2026-11 $0.25, 2026-10 $1.50' })).toBeTruthy();
    const lengths = [...container.querySelectorAll('rect')].map(bar => bar.getAttribute('width'));
    expect(Number(lengths[0]) * 6).toBeCloseTo(Number(lengths[1]));
    write(screen.getByRole('combobox', { name: 'Plot' }), 'tokens');
    expect(screen.getByRole('img', { name: /^Tokens: 2026-11 12.9K/ })).toBeTruthy();
    expect(await findings(container)).toEqual([]);
  });

  it('plots tokens where no price is known', async () => {
    kept.rows = [row('2026-11', { cost_dollars: null })];
    await show('usage');
    expect(await screen.findByRole('img', { name: 'Tokens: 2026-11 12.9K' })).toBeTruthy();
    expect(screen.queryByRole('combobox', { name: 'Plot' })).toBeNull();
  });

  it('adds up by something else, and leads to a run', async () => {
    await show('usage');
    await screen.findByRole('img');
    kept.rows = [row('run-1', { label: 'What is in it?' }), row('', { label: '' })];
    write(screen.getByRole('combobox', { name: 'Add up by' }), 'run');
    await press('What is in it?');
    expect(opened).toEqual(['run run-1']);
    write(screen.getByRole('combobox', { name: 'Add up by' }), 'assistant');
    expect(await screen.findByRole('rowheader', { name: 'No assistant' })).toBeTruthy();
    expect(server.requests.at(-1)?.query.get('by')).toBe('assistant');
  });

  it('sets and lifts budgets, and shows how far they are used', async () => {
    kept.budgets = [
      { name: 'month_dollars', limit_dollars: 10, used: 8.5, month: '2026-11' },
      { name: 'month_tokens', limit_tokens: 1000, used: 2000, month: '2026-11' }
    ];
    const { container } = await show('usage');
    expect(await screen.findByText('$8.50 of $10.00 in 2026-11')).toBeTruthy();
    expect(screen.getByText('Used up')).toBeTruthy();
    expect(await findings(container)).toEqual([]);
    write(screen.getByRole('textbox', { name: 'Dollars a month' }), 'ten');
    expect(screen.getByRole('alert').textContent).toBe('A limit is a number, or nothing');
    write(screen.getByRole('textbox', { name: 'Dollars a month' }), '12.5');
    write(screen.getByRole('textbox', { name: 'Tokens a month' }), '');
    await press('Set');
    await expect
      .poll(() => sent('PUT', 'budgets'))
      .toEqual({ month_dollars: 12.5, month_tokens: 0 });
  });
});

describe('tools', () => {
  it('lists those that were added, and what is wrong with one', async () => {
    kept.tools = [tool('forecast'), tool('odd', { problem: 'It does not start.', kind: 'new' })];
    const { container } = await show('tools');
    expect(await screen.findByRole('row', { name: /forecast.*MCP weather On/ })).toBeTruthy();
    expect(screen.getByRole('row', { name: /odd.*new weather It does not start./ })).toBeTruthy();
    expect(await findings(container)).toEqual([]);
  });

  it('says where they come from when there are none', async () => {
    kept.tools = [];
    await show('tools');
    expect(await screen.findByText(/No tool was added/)).toBeTruthy();
  });
});

it.each(['memory', 'library', 'usage', 'tools'] as const)(
  'says so where an older server does not have %s',
  async part => {
    server.routes.clear();
    await show(part);
    expect(await screen.findByText('This server does not have it yet.')).toBeTruthy();
  }
);

it('moves between its parts with the arrow keys, and reads each when it is shown', async () => {
  await show('memory');
  await screen.findByText('Fact 1');
  fireEvent.keyDown(screen.getByRole('tab', { name: 'Memory' }), { key: 'ArrowLeft' });
  expect(await screen.findByText('forecast')).toBeTruthy();
  expect(document.activeElement).toBe(screen.getByRole('tab', { name: 'Tools' }));
});
