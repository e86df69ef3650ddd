// What drawing model text costs: node js/bench/markdown.mjs
//
// Prints milliseconds of one run on this machine, in jsdom: reading, React and building the DOM,
// but no layout. A long answer comes in 2,000 pieces, drawn after every tenth.
import process from 'node:process';

import { JSDOM } from 'jsdom';
import { createServer } from 'vite';

const trans = { __: text => text };
const PIECES = 2000;
const PIECES_A_RENDER = 10; // 2,000 pieces in 10 s, at 20 renders a second
const LENGTH = 80_000;
const UNITS = [
  ...['[', '*', '>', '`', '_', '~', '<', '$', '\\', '|', '!', '('],
  ...['- ', '1. ', '> - ', '**a ', '_a ', '*a_ ', '*`a` ', '~~a ', '[a](', '![a](', '<a ', '[[a]'],
  ...['a@b.', 'http://a ', '\\[', '\\(', '$$', '$a', 'word', 'é', '- a\n', '> a\n', '1. a\n'],
  ...['```\n', '| a |\n', '|a|\n|-|\n', '    a\n', '[a]: x\n', '$$\n', '\\[\n', 'a\n', '# a\n']
];

process.env.NODE_ENV = 'production'; // React's own checks are not what is measured
const { window } = new JSDOM('<!doctype html>');
for (const name of ['window', 'document', 'Node', 'Element', 'HTMLElement', 'DOMParser', 'Event']) {
  globalThis[name] = name === 'window' ? window : window[name];
}

const server = await createServer({
  appType: 'custom',
  logLevel: 'error',
  mode: 'production',
  server: { middlewareMode: true, hmr: false, ws: false, watch: null }
});
try {
  await main();
} finally {
  await server.close();
}

async function main() {
  const { default: DocumentView } = await load('/js/src/markdown/document_view.tsx');
  const { MarkdownReader } = await load('/js/src/markdown/reader.ts');
  const { loadTypesetter } = await load('/js/src/markdown/typesetting.ts');
  const { longAnswer, growing } = await load('/js/test/markdown/growing.ts');
  const React = (await import('react')).default;
  const { createRoot } = await import('react-dom/client');
  const { flushSync } = await import('react-dom');
  await loadTypesetter();

  const draw = texts => {
    const root = createRoot(window.document.createElement('div'));
    const times = [...texts].map(({ text, isStreaming }) =>
      timed(() => {
        flushSync(() => {
          root.render(React.createElement(DocumentView, { text, isStreaming, trans }));
        });
      })
    );
    root.unmount();
    return times;
  };
  const streamed = (text, pieces = PIECES / PIECES_A_RENDER) => [
    ...[...growing(text, pieces)].map(part => ({ text: part, isStreaming: true })),
    { text, isStreaming: false }
  ];

  const answer = longAnswer(LENGTH);
  draw(streamed(answer)); // warm up
  report('a long answer, a render', draw(streamed(answer)));
  report('the same, read only', readTimes(new MarkdownReader(), streamed(answer)));
  report('the same, drawn at once', draw([{ text: answer, isStreaming: false }]));
  for (const [name, text] of Object.entries(oneBlock())) {
    report(`${name}, a render`, draw(streamed(text)));
  }
  for (const unit of UNITS) {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    report(`100 kB of ${JSON.stringify(unit)}, at once`, draw([{ text, isStreaming: false }]));
  }
}

function load(path) {
  return server.ssrLoadModule(path);
}

function timed(action) {
  const started = performance.now();
  action();
  return performance.now() - started;
}

function readTimes(reader, steps) {
  return steps.map(({ text, isStreaming }) => timed(() => reader.read(text, isStreaming)));
}

function report(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = share => sorted[Math.floor((sorted.length - 1) * share)].toFixed(2).padStart(8);
  console.log(`${name.padEnd(44)} median ${at(0.5)}  p95 ${at(0.95)}  longest ${at(1)}`);
}

/** Answers that are one block from beginning to end. */
function oneBlock() {
  const line = 'words with **bold** and `code` in them and some more of the same';
  const repeat = (text, count) => Array.from({ length: count }, () => text).join('\n');
  return {
    '45 kB of code': `\`\`\`python\n${repeat('x = df.groupby("a").agg({"b": "sum"})', 1150)}`,
    '45 kB of one list': repeat(`- ${line}`, 680),
    '45 kB of one table': `| a | b |\n|---|---|\n${repeat(`| 1 | ${line} |`, 600)}`,
    '45 kB of one quotation': repeat(`> ${line}`, 680),
    '18 kB of one paragraph': repeat(line, 280),
    '45 kB of one paragraph': repeat(line, 700),
    '200 kB of code': `\`\`\`python\n${repeat('x = df.groupby("a").agg({"b": "sum"})', 5100)}`
  };
}
