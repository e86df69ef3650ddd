import * as React from 'react';

import type { ChatSettings } from '../chat/chat_settings';
import type { Turn } from '../chat/types';
import { Icon, IconButton } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import type { Chat } from './ports';

/** A turn that the person wants to see; another object each time. */
export interface Revealed {
  readonly run: string;
}

/** The turns that stay in the model's context however long the chat gets. */
interface Pins {
  /** Their runs, in the order pinned; null: they are not known yet. */
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

/** Keeps a turn in the model's context, and marks one that is kept. */
export function PinButton({ runId }: { runId: string }) {
  const trans = useTrans();
  const { runs, setPinned } = usePins();
  if (runs === null) {
    return null;
  }
  const isPinned = runs.includes(runId);
  return (
    <span className="cw-pin">
      {isPinned && (
        <span className="cw-pin-mark" role="img" aria-label={trans.__('Pinned')}>
          <Icon name="pin" />
        </span>
      )}
      <IconButton
        icon="pin"
        label={trans.__('Pin')}
        title={
          isPinned
            ? trans.__('Unpin: older turns are summed up when the context is full')
            : trans.__("Keep this turn in the model's context however long the chat gets")
        }
        aria-pressed={isPinned}
        onClick={() => {
          setPinned(runId, !isPinned);
        }}
      />
    </span>
  );
}
