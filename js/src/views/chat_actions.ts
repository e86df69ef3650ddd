import * as React from 'react';

import type { NamedCell } from '../events';
import type { AskOptions } from '../models/types';
import type { WireCell } from '../server/frames';
import { useAcceptAll } from './accept_all';
import type { Chat, Notebooks, OpenNotebook, Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';
import type { TurnActions } from './turn_actions';

/** What can be done about the turns of a chat, here and now. */
export function useChatActions(
  panel: Panel,
  chat: Chat,
  notebooks: Notebooks | null,
  setUp: () => void
): TurnActions {
  const trans = useTrans();
  const acceptAll = useAcceptAll(chat);
  const path = useSignal(chat.changed, () => chat.state.notebook_path);
  const isRunning = useSignal(chat.changed, () => chat.state.run !== '');
  const canAnswer = useSignal(chat.changed, () => !chat.isDrivenElsewhere);
  const port = usePort(notebooks, path);
  return React.useMemo(() => {
    const ask = (text: string, options: AskOptions = {}): void => {
      const { chosenModel: model } = chat.composer;
      chat.ask({ text, context: [], mode: panel.modeOf(chat), model }, options);
    };
    return {
      canReveal: port !== null,
      canUndo: port?.editable === true && !isRunning,
      canAnswer,
      answer: (callId, { allowed, reason, forSession }) => {
        chat.answer(callId, allowed, reason, forSession);
      },
      acceptAll,
      reveal: cellId => {
        port?.reveal(cellId);
      },
      highlight: (cellId, isOn) => {
        port?.highlight(cellId, isOn);
      },
      findCell: cellId => findCell(port?.cells() ?? [], cellId),
      undo: (runId, callId) => port?.undo(runId, callId) ?? null,
      redo: (runId, callId) => port?.redo(runId, callId) ?? null,
      retry: turn => {
        const isLast = chat.turns.at(-1)?.runId === turn.runId;
        ask(turn.prompt, isLast && !turn.isAnswered ? { supersedes: turn.runId } : {});
      },
      replace: (turn, prompt) => {
        ask(prompt, { supersedes: turn.runId, instead: isRunning });
      },
      branch: turn => {
        void panel.branchChat(chat.id, turn.runId);
      },
      proceed: () => {
        ask(trans.__('Continue where you were cut off.'));
      },
      setUp
    };
  }, [acceptAll, canAnswer, chat, isRunning, panel, port, setUp, trans]);
}

function findCell(cells: readonly WireCell[], cellId: string): NamedCell | null {
  const index = cells.findIndex(({ id }) => id === cellId);
  const cell = cells[index];
  if (cell === undefined) {
    return null;
  }
  const { cell_type, execution_count = null, source } = cell;
  return { cell_id: cellId, cell_type, execution_count, source, position: index + 1 };
}

/** The open document of a path; null: it is not open in this tab. */
function usePort(notebooks: Notebooks | null, path: string): OpenNotebook | null {
  const [port, setPort] = React.useState<OpenNotebook | null>(null);
  React.useEffect(() => {
    const look = (): void => {
      setPort(path === '' ? null : (notebooks?.find(path) ?? null));
    };
    look();
    notebooks?.currentChanged.connect(look);
    notebooks?.added.connect(look);
    return () => {
      notebooks?.currentChanged.disconnect(look);
      notebooks?.added.disconnect(look);
    };
  }, [notebooks, path]);
  return port;
}
