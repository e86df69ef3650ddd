/** A page with the composer, and what a person types into it. */
import { fireEvent, screen } from '@testing-library/react';

import type { Draft } from '../../src/chat/types';
import { FakeChat, FakePanel } from './fakes';
import { Stage } from './stage';

export function field(): HTMLTextAreaElement {
  return screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
}

export function type(text: string): void {
  fireEvent.change(field(), { target: { value: text, selectionStart: text.length } });
}

export function draft(change: Partial<Draft> = {}): Draft {
  return { text: 'Plot it', context: [], mode: 'ask', model: '', ...change };
}

export const RUNNING = { run: 'run-1', phase: 'model' } as const;

export async function stage(
  chat = new FakeChat(),
  ...rest: [ConstructorParameters<typeof Stage>[1]?]
) {
  const shown = new Stage(new FakePanel(chat), ...rest);
  await shown.show();
  return { chat, panel: shown.panel, shown };
}
