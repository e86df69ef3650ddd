import { OutputAreaModel } from '@jupyterlab/outputarea';
import { expect, it } from 'vitest';

import { StreamWriter } from '../../src/notebook/drawing';
import { pick, seeded } from '../markdown/chance';

const PIECES = ['a', 'b', 'word', '😀', '\b', '\b\b\b', '\r', '\n', '\r\n', '\u001b[31m', ''];

interface Piece {
  readonly name: 'stdout' | 'stderr';
  readonly text: string;
}

/** What a cell prints, in the pieces that it comes in; mostly on one stream. */
function randomPieces(random: () => number): readonly Piece[] {
  return Array.from({ length: 1 + Math.floor(random() * 5) }, () => {
    const length = Math.floor(random() * 10);
    const text = Array.from({ length }, () => pick(random, PIECES)).join('');
    return { name: random() < 0.9 ? 'stdout' : 'stderr', text };
  });
}

it('puts text where JupyterLab would put it', () => {
  const random = seeded(13);
  for (let round = 0; round < 5_000; round++) {
    const theirs = new OutputAreaModel();
    const ours = new OutputAreaModel();
    const writer = new StreamWriter();
    const pieces = randomPieces(random);
    for (const { name, text } of pieces) {
      theirs.add({ output_type: 'stream', name, text });
      writer.add(ours, { kind: 'stream', name, text });
      expect(ours.toJSON(), JSON.stringify(pieces)).toEqual(theirs.toJSON());
    }
  }
});

it('hands JupyterLab no control character', () => {
  const ours = new OutputAreaModel();
  const handed: string[] = [];
  const add = ours.add.bind(ours);
  ours.add = output => {
    handed.push(JSON.stringify(output));
    return add(output);
  };
  const writer = new StreamWriter();
  for (const text of ['one\b\r', '\r\ntwo', '\b\b\b\b']) {
    writer.add(ours, { kind: 'stream', name: 'stdout', text });
    writer.add(ours, { kind: 'stream', name: 'stderr', text });
  }
  expect(handed).toHaveLength(6);
  expect(handed.join('')).not.toMatch(/\\[br]/);
});

const SIZE = 800_000;

it.each(['\b', '\r', '\r\n', 'x\b', 'xy\r', '\n\b', 'word\r\n'])(
  'is not made slow by 800 kB of %j, whole or in pieces',
  { timeout: 60_000 },
  unit => {
    const text = unit.repeat(SIZE / unit.length);
    for (const pieces of [1, 4]) {
      const outputs = new OutputAreaModel();
      const writer = new StreamWriter();
      writer.add(outputs, { kind: 'stream', name: 'stdout', text: 'x'.repeat(SIZE) });
      const started = performance.now();
      for (let piece = 0; piece < pieces; piece++) {
        const part = text.slice((SIZE / pieces) * piece, (SIZE / pieces) * (piece + 1));
        writer.add(outputs, { kind: 'stream', name: 'stdout', text: part });
      }
      const took = performance.now() - started;
      expect(took).toBeLessThan(15_000);
    }
  }
);
