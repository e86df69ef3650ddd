import { expect, it } from 'vitest';

import type { Content, RunEvent } from '../../src/wire/generated';
import type { ToolCard } from '../../src/chat/types';
import { called, cellAdded, ended } from './events';
import { complete } from '../complete';
import { cardOf, turnOf } from './folded';

function cardAfter(...run: RunEvent[]): ToolCard {
  return cardOf(turnOf(...run));
}

function piece(scope: Content['visible_scope'], change: Partial<Content> = {}): Content {
  const text = { info: scope };
  return complete('Content', { type: 'text', text, visible_scope: scope, ...change });
}

const PIECES = [piece('all'), piece('user'), piece('llm'), piece('all', { is_error: true })];

function progress(text: string, fraction: number | null = null): RunEvent {
  return { kind: 'tool_progress', call_id: 'c1', text, fraction };
}

it('keeps the last word of a call that runs and forgets it at the end', () => {
  const half = cardAfter(called('c1'), progress('loading'), progress('indexing', 0.5));
  expect(half.progress).toEqual({ text: 'indexing', fraction: 0.5 });
  const events = [called('c1'), progress('loading'), ended('c1'), progress('too late')];
  expect(cardAfter(...events).progress).toBeNull();
});

it('draws what is for the person and neither what is for the model nor errors', () => {
  const done = cardAfter(called('c1'), ended('c1', { contents: PIECES }));
  expect(done.contents.map(item => item.visible_scope)).toEqual(['all', 'user']);
});

it('does not draw again what a cell has shown to all', () => {
  const done = cardAfter(called('c1'), cellAdded('cell', 'c1'), ended('c1', { contents: PIECES }));
  expect(done.contents.map(item => item.visible_scope)).toEqual(['user']);
});
