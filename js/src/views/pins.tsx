import * as React from 'react';

import type { ChatSettings } from '../models/chat_settings';
import type { Turn } from '../models/types';
import type { Chat } from './ports';
import { useSignal } from './signal';

/** A turn that the person wants to see; another object each time. */
export interface Revealed {
  readonly run: string;
}

/** The turns that stay in the model's context however long the chat gets. */
export interface Pins {
  /** Their runs, in the order pinned; null: the server pins none. */
  readonly runs: readonly string[] | null;
  readonly revealed: Revealed | null;
  setPinned(run: string, isPinned: boolean): void;
  /** The turn of a run; undefined: it has not come yet. */
  turnOf(run: string): Turn | undefined;
  /** Bring a turn into view. */
  reveal(run: string): void;
}

const PinsContext = React.createContext<Pins>({
  runs: null,
  revealed: null,
  setPinned: () => undefined,
  turnOf: () => undefined,
  reveal: () => undefined
});

export function usePins(): Pins {
  return React.useContext(PinsContext);
}

interface ChatPinsProps {
  readonly chat: Chat;
  readonly settings: ChatSettings;
  readonly children: React.ReactNode;
}

/** Lets what it holds see and change the pins of a chat. */
export function ChatPins({ chat, settings, children }: ChatPinsProps) {
  const runs = useSignal(settings.changed, () => settings.kept.pins);
  const [revealed, setRevealed] = React.useState<Revealed | null>(null);
  const pins = React.useMemo<Pins>(
    () => ({
      runs,
      revealed,
      setPinned: (run, isPinned) => {
        void settings.setPinned(run, isPinned);
      },
      turnOf: run => chat.turns.find(({ runId }) => runId === run),
      reveal: run => {
        setRevealed({ run });
      }
    }),
    [chat, settings, runs, revealed]
  );
  return <PinsContext.Provider value={pins}>{children}</PinsContext.Provider>;
}
