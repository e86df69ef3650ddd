/** A turn as its events fold up, and what is in it. */
import { nullTranslator } from '@jupyterlab/translation';

import type { RunEvent } from '../../src/wire/generated';
import { TurnFold } from '../../src/chat/fold';
import type { ToolCard, Turn } from '../../src/chat/types';
import * as events from './events';

export const trans = nullTranslator.load('cellwright');

export function turnOf(...run: RunEvent[]): Turn {
  const fold = new TurnFold('r1', trans);
  for (const recorded of events.recorded(run)) {
    fold.apply(recorded);
  }
  return fold.turn;
}

export function textsOf(turn: Turn): string[] {
  return turn.blocks.map(block =>
    block.kind === 'tool' ? block.label : `${block.kind}:${'text' in block ? block.text : ''}`
  );
}

export function cardOf(turn: Turn): ToolCard {
  const card = turn.blocks.find(block => block.kind === 'tool');
  if (card === undefined) {
    throw new Error('there is no card');
  }
  return card;
}
