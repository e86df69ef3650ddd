import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { createMarkdownParser } from '@jupyterlab/markedparser-extension';
import { removeMath, replaceMath } from '@jupyterlab/rendermime';
import { expect, it } from 'vitest';

import { loadsFromElsewhere } from '../../src/markdown/loads';
import { pick, seeded } from './chance';
import EXAMPLES from './loads.json';

// tests/test_browser_loads.py holds Python's check against the same examples
it.each(EXAMPLES.loads)('finds what would be loaded for %j', markdown => {
  expect(loadsFromElsewhere(markdown)).toBe(true);
  if (!markdown.startsWith('---')) {
    expect(loadsFromElsewhere(`> - before ${markdown}`)).toBe(true);
  }
});

it.each(EXAMPLES.harmless)('finds nothing to load in %j', markdown => {
  expect(loadsFromElsewhere(markdown)).toBe(false);
});

it.each([
  '<a',
  '<a x=',
  '<img src=',
  '[',
  '![x](',
  'url(',
  '![a][',
  '[r]: ',
  '<b style=',
  '\n\n```\na'
])('is not made slow by many of %j', piece => {
  const started = performance.now();
  loadsFromElsewhere(`![${piece.repeat(30_000)}`);
  expect(performance.now() - started).toBeLessThan(4_000);
});

const ROUNDS = 20_000;
const PIECES = [
  ...['```\n', '~~~\n', '````\n', '```md\n', '  ```\n', '> ```\n', '- ```\n', '\n', '\n', '\n\n'],
  ...['![x](http://evil.test/x)\n', '<img src=http://evil.test/x>\n', '<pre>\n', '</pre>\n'],
  ...['<!--\n', '-->\n', '[a', ']: x\n', '[r]: x "', '"\n', '$$\n', '$', '\\begin{a}\n'],
  ...['\\end{a}\n', 'text\n', '- item\n', '    ', '> ', '    deep\n', '---\n', '| a |\n|---|\n']
];

function pieces(random: () => number, most: number): string {
  const length = Math.floor(random() * (most + 1));
  return Array.from({ length }, () => pick(random, PIECES)).join('');
}

it('takes nothing for code that JupyterLab draws as a picture', async () => {
  const random = seeded(5);
  const languages = { findBest: () => null, highlight: () => Promise.resolve() };
  const parser = createMarkdownParser(languages as unknown as IEditorLanguageRegistry);
  let safe = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const blocks = ['```', '~~~'].map(fence => {
      const end = pick(random, [fence, fence, fence, '', '```']);
      const around = pick(random, ['\n\n', '\n\n', '\n']);
      return `${pieces(random, 1)}${around}${fence}\n${pieces(random, 3)}\n${end}${around}`;
    });
    const markdown = blocks.join('');
    if (!markdown.includes('evil.test') || loadsFromElsewhere(markdown)) {
      continue;
    }
    safe++;
    const { text, math } = removeMath(markdown);
    const drawn = document.createElement('template');
    drawn.innerHTML = replaceMath(await parser.render(text), math);
    expect(drawn.content.querySelector('img'), JSON.stringify(markdown)).toBeNull();
  }
  expect(safe).toBeGreaterThan(ROUNDS / 500);
});
