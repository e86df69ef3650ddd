import { cleanup, fireEvent, screen } from '@testing-library/react';
import axe from 'axe-core';
import * as React from 'react';
import { afterEach, expect, it } from 'vitest';

import type { Content } from '../../src/wire/generated';
import { groupBlocks } from '../../src/panel/turn';
import { type Opener, OpenerProvider } from '../../src/ui/opening';
import { ToolCardView } from '../../src/panel/tool_card';
import { card } from './fakes';
import { settle, showPart } from './stage';
import { complete } from '../complete';

afterEach(cleanup);

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

function piece(
  type: Content['type'],
  text: Content['text'],
  change: Partial<Content> = {}
): Content {
  return complete('Content', { type, text, visible_scope: 'user', ...change });
}

function show(...contents: readonly Content[]): HTMLElement {
  const { container } = showPart(<ToolCardView card={card({ contents })} runId="run" />);
  return container.querySelector<HTMLElement>('.cw-contents') ?? container;
}

it('draws what a call says to the person without opening its card', async () => {
  show(piece('text', { info: '**3** rows' }));
  expect((await screen.findByText('3')).tagName).toBe('STRONG');
  expect(screen.queryByRole('group', { name: 'Code of this call' })).toBeNull();
});

it('loads and runs nothing of what a call says', async () => {
  const drawn = show(
    piece('text', { info: '![x](https://evil.example/p.png) <img src=y onerror=z>' }),
    piece('text', {
      info: 'a table',
      mime: {
        'text/html':
          '<table><tr><th>a</th></tr><tr><td><img src="https://evil.example/t"><script>x</script>1</td></tr></table>'
      }
    }),
    piece('image', { url: 'https://evil.example/p.png', filename: 'p' }),
    piece('image', { base64: '"><script>', mime_type: 'image/png' }),
    piece('image', { base64: 'PHN2Zz4=', mime_type: 'image/svg+xml' }),
    piece('audio', { base64: 'AAAA"', mime_type: 'audio/wav' }),
    piece('urls', { url: 'javascript:alert(1)' }),
    { ...piece('text', { html: '<script>x</script>' }), type: 'hologram' as Content['type'] }
  );
  await settle();
  expect(drawn.querySelectorAll('script, iframe, img, audio')).toHaveLength(0);
  expect([...drawn.querySelectorAll('a')].map(link => link.href)).toEqual([
    'https://evil.example/p.png'
  ]);
});

it('draws a table as its words', () => {
  const row = '<tr><td>1</td><td>2</td></tr>';
  const html = `<style>td{}</style><table><thead><tr><th></th><th>price</th></tr></thead>${row.repeat(80)}</table>`;
  const drawn = show(piece('text', { info: 'price', mime: { 'text/html': html } }));
  expect(drawn.querySelectorAll('th')).toHaveLength(2);
  expect(drawn.querySelectorAll('tr')).toHaveLength(60);
  expect(drawn.textContent).toContain('The first 60 of 81 rows');
});

it('draws what has no table in it as plain text', () => {
  const drawn = show(piece('text', { info: '<Widget>', mime: { 'text/html': '<b>x</b>' } }));
  expect(drawn.querySelector('pre')?.textContent).toBe('<Widget>');
});

it('draws pictures and sounds that came along', () => {
  const drawn = show(
    piece('image', { base64: `${PIXEL}\n`, mime_type: 'png', filename: 'plot' }),
    piece('audio', { base64: 'AAAA', mime_type: 'audio/wav', transcript: 'beep' })
  );
  expect(drawn.querySelector('img')?.src).toBe(`data:image/png;base64,${PIXEL}`);
  expect(drawn.querySelector('img')?.alt).toBe('plot');
  expect(drawn.querySelector('audio')?.src).toBe('data:audio/wav;base64,AAAA');
});

it('draws sources with where they lead', () => {
  const drawn = show(
    piece('references', {
      doc_id: '7',
      title: 'Guide',
      content: 'All',
      url: 'https://a.example/g'
    }),
    piece('references', { doc_id: '8' }),
    piece('urls', { url: 'https://b.example/' }),
    piece('files', { filename: 'a.csv' })
  );
  expect(drawn.textContent).toBe('Guide (a.example)All8https://b.example/a.csv');
});

it('says where a page of the library leads', () => {
  const page = { source: 'https://me:key@a.example/g', title: 'Guide', type: 'library' };
  const drawn = show(
    piece('references', page),
    piece('references', { source: 'https://a\u0000.example:x/', title: 'Odd', type: 'library' })
  );
  expect(drawn.textContent).toBe('Guide (a.example)Odd');
  expect(drawn.querySelector('a')?.href).toBe('https://a.example/g');
});

it('leads to the documents of the library, and nowhere else, by a click', () => {
  const opened: string[] = [];
  const opener: Opener = {
    run: null,
    place: (place, anchor) =>
      place === '' ? null : () => void opened.push([place, anchor].join(' '))
  };
  const found = { source: '/docs/guide.ipynb', extra: { anchor: 'cell 3f2a' } };
  const cards = card({
    contents: [
      piece('references', { ...found, title: '[1] Guide', type: 'library' }),
      piece('references', { ...found, title: '[2] Tool', type: 'other' }),
      piece('references', { title: '[3] Lost', type: 'library' })
    ]
  });
  showPart(
    <OpenerProvider value={opener}>
      <ToolCardView card={cards} runId="run" />
    </OpenerProvider>
  );
  expect(screen.queryByRole('button', { name: '[2] Tool' })).toBeNull();
  expect(screen.queryByRole('button', { name: '[3] Lost' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: '[1] Guide' }));
  expect(opened).toEqual(['/docs/guide.ipynb cell 3f2a']);
});

it('draws thoughts, plans, code and shares of the whole', () => {
  const drawn = show(
    piece('thought', { info: 'Hm.' }),
    piece('plan', { goal: 'Sum', tasks: [{ name: 'load', status: 'Done' }, 'add'] }),
    piece('plan', { steps: 'no list' }),
    piece('code', { code: 'x = 1', language: 'python' }),
    piece('json', { data: { a: 1 } }),
    piece('oral_text', { info: 'Ready' }),
    piece('progress', { progress: 0.4, message: 'half' }),
    piece('progress', { progress: 'much', step: 'load' })
  );
  expect(drawn.querySelector('details')?.open).toBe(false);
  expect([...drawn.querySelectorAll('li')].map(item => item.textContent)).toEqual([
    '☑ load',
    '☐ add'
  ]);
  expect([...drawn.querySelectorAll('pre')].map(block => block.textContent)).toEqual([
    'x = 1',
    '{\n  "a": 1\n}'
  ]);
  expect([...drawn.querySelectorAll('progress')].map(bar => bar.value)).toEqual([0.4, 0]);
});

it('gives everything it draws a name', async () => {
  show(
    piece('text', { info: 'a', mime: { 'text/html': '<table><tr><th>a</th></tr></table>' } }),
    piece('image', { base64: PIXEL, filename: 'plot' }),
    piece('audio', { base64: 'AAAA', mime_type: 'audio/wav', transcript: 'beep' }),
    piece('thought', { info: 'Hm.' }),
    piece('code', { code: 'x' }),
    piece('progress', { progress: 0.4 })
  );
  const { violations } = await axe.run(document.body, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  const found = violations.filter(
    ({ id }) => !['page-has-heading-one', 'heading-order'].includes(id)
  );
  expect(found.map(({ id, nodes }) => `${id}: ${nodes.map(node => node.html).join()}`)).toEqual([]);
});

it('names the steps of a call once each', () => {
  const drawn = show(
    piece('oral_text', { info: 'a' }, { name: 'part1' }),
    piece('oral_text', { info: 'b' }, { name: 'part1' }),
    piece('oral_text', { info: 'c' }, { name: 'part2' })
  );
  const heads = [...drawn.querySelectorAll('h4')].map(head => head.textContent);
  expect(heads).toEqual(['part1', 'part2']);
});

it('shows what the model read only on demand', () => {
  show(piece('oral_text', { info: 'for you' }));
  expect(screen.queryByText('344 rows × 7 columns')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /Load the penguins.*Done/ }));
  expect(screen.getByText('What the model read')).toBeDefined();
  expect(screen.getByText('344 rows × 7 columns')).toBeDefined();
});

it('shows how far a call is while it runs', () => {
  const running = card({ status: 'running', progress: { text: 'loading 3 GB…', fraction: 0.5 } });
  const { rerender } = showPart(<ToolCardView card={running} runId="run" />);
  expect(screen.getByRole<HTMLProgressElement>('progressbar').value).toBe(0.5);
  expect(screen.getByText('loading 3 GB…')).toBeDefined();
  rerender(
    <ToolCardView card={{ ...running, progress: { text: 'indexing', fraction: null } }} runId="r" />
  );
  expect(screen.queryByRole('progressbar')).toBeNull();
  expect(screen.getByText('indexing')).toBeDefined();
});

it('never folds away a call that says something to the person', () => {
  const plain = ['1', '2', '3'].map(callId => card({ callId }));
  const speaking = card({ callId: '4', contents: [piece('text', { info: 'x' })] });
  const kinds = groupBlocks([...plain, speaking], false).map(found => found.key);
  expect(kinds).toEqual(['group:1', 'call:4']);
});
