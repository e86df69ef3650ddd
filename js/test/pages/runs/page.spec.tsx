import { act, fireEvent, render, type RenderResult, screen, within } from '@testing-library/react';
import axe from 'axe-core';
import * as React from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { JsonObject } from '../../../src/wire/generated';
import type { DrawOutputs } from '../../../src/pages/runs/output_drawer';
import { RunsPageView } from '../../../src/pages/runs/runs_widget';
import { RunsRest } from '../../../src/client/runs_rest';
import { RunsPage } from '../../../src/pages/runs/runs_page';
import { FakeServer } from '../../fake_socket';
import { TRANS } from '../../panel/fakes';
import {
  compared,
  comparison,
  estimate,
  messages,
  numbers,
  place,
  row,
  run,
  sample
} from './answers';

const SCORE = {
  value: null,
  passed: false,
  explanation: '',
  error: '',
  points: 1,
  expected: '',
  found: '',
  code: '',
  choice: null
};
const A = 'runs/1/a/demo';
const B = 'runs/1/b/demo';

let server: FakeServer;
let page: RunsPage;
/** Chats that the person went to. */
let chats: string[];

beforeEach(() => {
  server = new FakeServer();
  chats = [];
  serve();
  page = new RunsPage(new RunsRest(server.settings));
});

afterEach(() => {
  page.dispose();
});

function serve(): void {
  const { routes } = server;
  routes.set('GET results', ({ query }) => ({
    version: '1',
    results: query.get('since') === '1' ? null : [place(A, { state: 'going' }), place(B)],
    is_cut: false
  }));
  routes.set('GET results/summary', ({ query }) =>
    query.get('result') === A
      ? numbers('a', {
          by_group: {
            g: { value: 0.5, passed: 1, total: 2, low: 0.1, high: 0.9 },
            h: { value: 1, passed: 2, total: 2, low: 0.3, high: 1 }
          },
          failures: { START_FAILED: 1 },
          not_run: [{ index: '9', epoch: 1, error: 'START_FAILED', info: 'no kernel' }],
          check_errors: 1,
          unreadable: 2,
          points: estimate(0.72),
          by_check: {
            table: { ...estimate(0.75, 0.05), passed: 15 },
            words: { ...estimate(0.69, 0.05), passed: 12 }
          },
          at_k: { 'pass@2': estimate(0.8) }
        })
      : numbers('b', { cost_each: estimate(0.5, 0.1), share: estimate(0.8), points: estimate(0.8) })
  );
  routes.set('GET results/leaderboard', () => ({ html: '<p>all of them</p>' }));
  routes.set('GET results/samples', () => ({
    version: '1',
    samples: [row('1'), row('2', { passed: false, why: 'it is 1, not 2', epoch: 2 })],
    next: null,
    fitting: 2,
    total: 2,
    statuses: ['completed', 'odd'],
    groups: ['g', 'h']
  }));
  routes.set('GET results/sample', ({ query }) =>
    sample(query.get('id') ?? '', {
      agent: query.get('result') === A ? 'a' : 'b',
      messages: messages(query.get('result') === A ? 'x = 1' : 'x = 2', 'It is **42**.'),
      scores: [
        { ...SCORE, name: 'value', value: 0, explanation: 'It is *1*, not 2.', expected: '2' },
        { ...SCORE, name: 'broken', error: 'NameError' }
      ]
    })
  );
  routes.set('GET results/compare', () =>
    comparison([compared('3', 'worse'), compared('1', 'better'), compared('2', 'same')])
  );
  routes.set('GET runs', () => ({
    version: '1',
    runs: [run('r2', { status: 'running' }), run('r1', { is_estimated: true })],
    after: null,
    statuses: ['completed', 'running'],
    models: ['one'],
    lanes: ['magic', 'panel']
  }));
  routes.set('GET runs/r1/sample', () => sample('r1'));
}

async function show(draw: DrawOutputs | null = null): Promise<RenderResult> {
  const shown = render(
    <RunsPageView
      page={page}
      trans={TRANS}
      highlight={null}
      draw={draw}
      openChat={chat => chats.push(chat)}
    />
  );
  await act(async () => {
    page.setVisible(true);
    await Promise.resolve();
  });
  return shown;
}

async function findings(root: Element): Promise<string[]> {
  const { violations } = await axe.run(root, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}

async function press(name: string | RegExp): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name }));
}

describe('the table of results', () => {
  it('shows an interval beside every mean', async () => {
    await show();
    const line = within(
      (await screen.findByText('12 of 20', { selector: `:is(tr:first-child *)` })).closest(
        'tr'
      ) as HTMLElement
    );
    for (const words of [
      '60.0%',
      '50.0% to 70.0%',
      '$0.0200',
      '$0.0150 to $0.0250',
      '3.0s',
      '2.0s to 4.0s'
    ]) {
      expect(line.getByText(words)).toBeTruthy();
    }
    expect(line.getByText('Running')).toBeTruthy();
  });

  it('shows what is earned of the points only where that differs from what passes', async () => {
    await show();
    const points = await screen.findByText('Points');
    expect(points.textContent).toBe('Points 72.0% 62.0% to 82.0%');
    const line = within(points.closest('tr') as HTMLElement);
    expect(line.getByRole('button', { name: 'a' })).toBeTruthy();
  });

  it('compares two that are chosen', async () => {
    await show();
    fireEvent.click(await screen.findByRole('checkbox', { name: `Compare ${A}` }));
    await press('Compare (1 of 2)');
    expect(page.place.kind).toBe('results');
    fireEvent.click(screen.getByRole('checkbox', { name: `Compare ${B}` }));
    await press('Compare (2 of 2)');
    expect(page.place).toEqual({ kind: 'comparison', first: A, second: B });
  });

  it('saves all results as one page', async () => {
    const saved: Blob[] = [];
    const createObjectURL = (blob: Blob): string => {
      saved.push(blob);
      return 'blob:1';
    };
    Object.assign(URL, { createObjectURL, revokeObjectURL: () => undefined });
    await show();
    await screen.findByRole('checkbox', { name: `Compare ${A}` });
    await press('Leaderboard');
    await vi.waitFor(() => {
      expect(saved).toHaveLength(1);
    });
    expect(await saved[0]?.text()).toBe('<p>all of them</p>');
  });

  it('says what to do where there is nothing', async () => {
    server.routes.set('GET results', () => ({ version: '0', results: [], is_cut: true }));
    await show();
    expect(await screen.findByText(/There are no results in the folder "runs"/)).toBeTruthy();
    fireEvent.change(screen.getByRole('textbox', { name: 'Folder' }), { target: { value: 'x' } });
    fireEvent.keyDown(screen.getByRole('textbox', { name: 'Folder' }), { key: 'Enter' });
    expect(page.results.state.folder).toBe('x');
  });
});

it('leads from a result to a sample, its cells and scores, and back', async () => {
  await show();
  await press('a');
  expect(await screen.findByText('1 sample could not be run and is in no share.')).toBeTruthy();
  await press('2');
  expect(await screen.findByText('42', { selector: 'strong' })).toBeTruthy();
  fireEvent.click(screen.getByRole('tab', { name: 'Cells (1)' }));
  expect(screen.getByRole('group', { name: 'Outputs' }).textContent).toBe('42');
  fireEvent.click(screen.getByRole('tab', { name: 'Scores (2)' }));
  expect(await screen.findByText('1', { selector: 'em' })).toBeTruthy();
  expect(screen.getByText('NameError')).toBeTruthy();
  expect(screen.getByText('Expected: 2')).toBeTruthy();
  fireEvent.keyDown(screen.getByRole('heading', { name: 'demo/2/1' }), { key: 'Escape' });
  expect(page.place).toEqual({ kind: 'result', result: A });
  await press('Back (Esc)');
  expect(page.place).toEqual({ kind: 'results' });
});

it('folds up what each check comes to, beside the points of all', async () => {
  await show();
  await press('a');
  const sum = within(await screen.findByRole('region', { name: 'Sum' }));
  const facts = sum.getByText('Points', { selector: 'dt' }).parentElement;
  expect(facts?.textContent).toBe('Points72.0% 62.0% to 82.0%');
  const table = sum.getByText('By check').closest('details');
  expect(table?.open).toBe(false);
  const rows = [...(table?.querySelectorAll('tbody tr') ?? [])].map(line =>
    [...line.children].map(cell => cell.textContent)
  );
  expect(rows).toEqual([
    ['table', '15 of 20', '75.0% 70.0% to 80.0%'],
    ['words', '12 of 20', '69.0% 64.0% to 74.0%']
  ]);
});

it('shows neither points nor checks where they say what the pass rate says', async () => {
  await show();
  await press('b');
  const sum = within(await screen.findByRole('region', { name: 'Sum' }));
  expect(sum.queryByText('Points')).toBeNull();
  expect(sum.queryByText('By check')).toBeNull();
});

it('hands outputs to JupyterLab and takes them back', async () => {
  const drawn: JsonObject[] = [];
  let gone = 0;
  const draw: DrawOutputs = (host, outputs) => {
    drawn.push(...outputs);
    host.textContent = 'drawn';
    return { isDisposed: false, dispose: () => gone++ };
  };
  await show(draw);
  act(() => {
    page.go({ kind: 'run', run: 'r1' });
  });
  fireEvent.click(await screen.findByRole('tab', { name: 'Cells (1)' }));
  expect(screen.getByText('drawn')).toBeTruthy();
  expect(drawn).toMatchObject([{ output_type: 'execute_result' }]);
  fireEvent.click(screen.getByRole('tab', { name: 'Details' }));
  expect(gone).toBe(1);
});

it('shows what became worse first, and two samples with the place where they part', async () => {
  await show();
  act(() => {
    page.go({ kind: 'comparison', first: A, second: B });
  });
  expect(await screen.findByText('-15.0 pp to +5.0 pp')).toBeTruthy();
  const names = screen.getAllByRole('rowheader').map(header => header.textContent);
  expect(names).toEqual(['3', '1', '2']);
  fireEvent.click(screen.getByRole('tab', { name: 'Better (1)' }));
  expect(screen.getAllByRole('rowheader')).toHaveLength(1);
  fireEvent.keyDown(screen.getByRole('tab', { name: 'Better (1)' }), { key: 'ArrowLeft' });
  await press('3');
  expect(await screen.findByText('They part at step 3 of 5.')).toBeTruthy();
  const parting = screen.getByText('Here they part').closest('li');
  expect(parting?.textContent).toContain('x = 1');
  expect(parting?.textContent).toContain('x = 2');
});

it('draws cost against accuracy; a point leads to its result', async () => {
  const { container } = await show();
  fireEvent.click(screen.getByRole('tab', { name: 'Cost and accuracy' }));
  const point = await screen.findByRole('button', {
    name: 'a: 60.0% passed (50.0% to 70.0%), $0.0200 a sample ($0.0150 to $0.0250)'
  });
  expect(container.querySelector('.cw-plot-front')?.getAttribute('d')).toMatch(/^M.*H.*L/);
  expect(await findings(container)).toEqual([]);
  fireEvent.keyDown(point, { key: 'Enter' });
  expect(page.place).toEqual({ kind: 'result', result: A });
});

it('lists recorded runs and opens one', async () => {
  await show();
  fireEvent.click(screen.getByRole('tab', { name: 'Recorded runs' }));
  expect(await screen.findByText('~1.2K')).toBeTruthy();
  fireEvent.change(screen.getByRole('combobox', { name: 'Status' }), {
    target: { value: 'running' }
  });
  expect(page.runs.state.filter.status).toBe('running');
  await press('Prompt of r1');
  expect(await screen.findByText('Done · one · 3.0s · 120 tokens · $0.02')).toBeTruthy();
  expect(screen.queryByRole('tab', { name: /Scores/ })).toBeNull();
});

/** The cells of a column as they stand. */
function column(number: number): (string | null)[] {
  return screen
    .getAllByRole('row')
    .slice(1)
    .map(line => (line.children[number] as HTMLElement).textContent);
}

async function sortBy(name: string): Promise<string | null | undefined> {
  await press(name);
  return screen.getByRole('columnheader', { name }).getAttribute('aria-sort');
}

it('sorts results one way, the other way, and not at all', async () => {
  const { container } = await show();
  await screen.findByText('80.0%');
  expect(column(1)).toEqual([`a${A}`, `b${B}`]);
  expect(await sortBy('Passed')).toBe('descending');
  expect(column(1)).toEqual([`b${B}`, `a${A}`]);
  expect(await sortBy('Passed')).toBe('ascending');
  expect(column(1)).toEqual([`a${A}`, `b${B}`]);
  expect(await sortBy('Passed')).toBe('none');
  expect(await sortBy('Agent')).toBe('ascending');
  expect(await findings(container)).toEqual([]);
});

it('has the server sort samples and runs, and keeps the order of a result', async () => {
  const asked = (path: string): string | null | undefined =>
    server.requests
      .filter(made => made.path === path)
      .at(-1)
      ?.query.get('sort');
  await show();
  await press('a');
  await screen.findByText('it is 1, not 2');
  expect(asked('results/samples')).toBeNull();
  expect(await sortBy('Time')).toBe('descending');
  await expect.poll(() => asked('results/samples')).toBe('-seconds');
  await press('1');
  await press('Back (Esc)');
  expect(
    (await screen.findByRole('columnheader', { name: 'Time' })).getAttribute('aria-sort')
  ).toBe('descending');
  expect(asked('results/samples')).toBe('-seconds');
  fireEvent.click(screen.getByRole('tab', { name: 'Recorded runs' }));
  await screen.findByText('Prompt of r1');
  expect(await sortBy('Prompt')).toBe('ascending');
  await expect.poll(() => asked('runs')).toBe('prompt');
});

it('leads from a run to its chat', async () => {
  server.routes.set('GET runs/r1/sample', () => sample('r1', { chat: 'c1' }));
  await show();
  act(() => {
    page.go({ kind: 'run', run: 'r1' });
  });
  await press('Show chat');
  expect(chats).toEqual(['c1']);
  await press('Back (Esc)');
  expect(page.place).toEqual({ kind: 'runs' });
});

it('shows samples while sums take their time', async () => {
  server.routes.set('GET results/summary', () => new Promise(() => undefined));
  await show();
  await press('a');
  expect(await screen.findByText('it is 1, not 2')).toBeTruthy();
});

it('looks for news while it is seen, and only then', async () => {
  await show();
  await screen.findAllByText('12 of 20');
  const count = (): number => server.requests.filter(({ path }) => path === 'results').length;
  const before = count();
  act(() => {
    page.setVisible(false);
  });
  await act(async () => {
    await new Promise(resolve => setTimeout(resolve, 50));
  });
  expect(count()).toBe(before);
  await act(async () => {
    page.setVisible(true);
    await expect.poll(count).toBeGreaterThan(before);
  });
});
