import * as React from 'react';

import type { ChatSettings } from '../chat/chat_settings';
import type { Turn } from '../chat/types';
import type { Thumb } from '../client/panel_rest';
import { Icon, IconButton } from '../ui/button';
import { useSignal, useTrans } from '../ui/hooks';
import type { Chat } from './ports';

/** A turn that the person wants to see; another object each time. */
export interface Revealed {
  readonly run: string;
}

/** What is kept with the turns of a chat: which stay in the context, thumbs, what is undone. */
interface Pins {
  /** Their runs, in the order pinned; null: they are not known yet. */
  readonly runs: readonly string[] | null;
  readonly revealed: Revealed | null;
  /** What the person thinks of the answers, by run; null: the server keeps none. */
  readonly thumbs: Readonly<Record<string, Thumb>> | null;
  /** From which cell on runs were undone, counted from 1, by run; 0: all of the run. */
  readonly undone: Readonly<Record<string, number>>;
  /** Ask the server again what is undone. */
  refresh(): void;
  setPinned(run: string, isPinned: boolean): void;
  /** Null takes it back. */
  setThumb(run: string, thumb: Thumb | null): void;
  /** The turn of a run; undefined: it has not come yet. */
  turnOf(run: string): Turn | undefined;
  /** Bring a turn into view. */
  reveal(run: string): void;
}

const PinsContext = React.createContext<Pins>({
  runs: null,
  revealed: null,
  thumbs: null,
  undone: {},
  refresh: () => undefined,
  setPinned: () => undefined,
  setThumb: () => undefined,
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

/** Lets what it holds see and change what is kept with the turns of a chat. */
export function ChatPins({ chat, settings, children }: ChatPinsProps) {
  const runs = useSignal(settings.changed, () => settings.kept.pins);
  const thumbs = useSignal(settings.changed, () => settings.kept.thumbs);
  const undone = useSignal(settings.changed, () => settings.kept.undone);
  const [revealed, setRevealed] = React.useState<Revealed | null>(null);
  const pins = React.useMemo<Pins>(
    () => ({
      runs,
      revealed,
      thumbs,
      undone,
      refresh: () => {
        void settings.refresh();
      },
      setPinned: (run, isPinned) => {
        void settings.setPinned(run, isPinned);
      },
      setThumb: (run, thumb) => {
        void settings.setThumb(run, thumb);
      },
      turnOf: run => chat.turns.find(({ runId }) => runId === run),
      reveal: run => {
        setRevealed({ run });
      }
    }),
    [chat, settings, runs, revealed, thumbs, undone]
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
