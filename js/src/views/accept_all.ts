import * as React from 'react';

import type { Turn } from '../models/types';
import type { Chat } from './ports';

/**
 * Allows the edits of a batch one after the other, as each of them asks.
 *
 * The server asks about one call at a time; a call that turns out to do more than edit is left
 * for the person.
 */
export function useAcceptAll(chat: Chat): (callIds: readonly string[]) => void {
  const accepted = React.useRef(new Set<string>());
  const answerNext = React.useCallback(() => {
    const { approval } = chat.state;
    if (accepted.current.has(approval) && riskOf(chat.turns.at(-1), approval) === 'edit') {
      accepted.current.delete(approval);
      chat.answer(approval, true);
    }
  }, [chat]);
  React.useEffect(() => {
    accepted.current.clear();
    chat.changed.connect(answerNext);
    return () => {
      chat.changed.disconnect(answerNext);
    };
  }, [chat, answerNext]);
  return React.useCallback(
    callIds => {
      for (const callId of callIds) {
        accepted.current.add(callId);
      }
      answerNext();
    },
    [answerNext]
  );
}

function riskOf(turn: Turn | undefined, callId: string): string {
  const card = turn?.blocks.find(block => block.kind === 'tool' && block.callId === callId);
  return card?.kind === 'tool' && card.status === 'asking' ? card.risk : '';
}
