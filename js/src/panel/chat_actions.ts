import * as React from 'react';

import type { AskOptions, Turn } from '../chat/types';
import { complaintOf, messageOf } from '../client/problems';
import { RequestError } from '../client/request';
import { useSignal, useTrans } from '../ui/hooks';
import type { NamedCell, WireCell } from '../wire/generated';
import type { Chat, Notebooks, NotebookView, Panel } from './ports';
import { confirmsRestart } from './restart_dialog';
import type { TurnActions } from './turn_actions';

/**
 * Allows the edits of a batch one after the other, as each of them asks.
 *
 * The server asks about one call at a time; a call that turns out to do more than edit is left
 * for the person.
 */
function useAcceptAll(chat: Chat): (callIds: readonly string[]) => void {
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

/** The HTTP status where something other than a busy or missing kernel stands in the way. */
const REFUSED = 400;

/** A kernel that has not come so long after its notebook opened is not waited for any more. */
const KERNEL_MILLISECONDS = 10_000;

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
  const isElsewhere = useSignal(chat.changed, () => chat.isDrivenElsewhere);
  const isAbandoned = useSignal(chat.changed, () => isRunning && chat.state.driver === '');
  const port = usePort(notebooks, path);
  const closedPath = port === null ? path : '';
  const notebookToOpen = isAbandoned ? closedPath : '';
  const approvalProblem = useSignal(chat.changed, () => chat.state.approval_problem);
  const isLinked = useSignal(panel.linkChanged, () => panel.link === 'open');
  const isCaughtUp = useSignal(chat.changed, () => chat.isCaughtUp);
  const { waitingAsk, askWhenOpen, cancelAsk } = useWaitingAsk(chat, notebooks, port, {
    path,
    isKnown: isLinked && isCaughtUp
  });
  return React.useMemo(() => {
    const ask = (runId: string, text: string, optionsNow: () => AskOptions): void => {
      if (chat.sending.some(draft => draft.text === text)) {
        return; // a double click
      }
      askWhenOpen(runId, () => {
        const { chosenModel: model } = chat.composer;
        chat.ask({ text, context: [], mode: panel.modeOf(chat), model }, optionsNow());
      });
    };
    return {
      canReveal: port !== null,
      canUndo: port?.editable === true && !isRunning,
      canAnswer: !isElsewhere && notebookToOpen === '',
      notebookToOpen,
      waitingAsk,
      cancelAsk,
      watchCells: listener => {
        port?.edited.connect(listener);
        return () => port?.edited.disconnect(listener);
      },
      answer: (callId, { allowed, reason, forSession, adopt }) => {
        chat.answer(callId, allowed, reason, forSession, adopt);
      },
      preview: callId => panel.rest.preview(chat.id, callId),
      endPreview: () => {
        // One that ended by itself is as good.
        panel.rest.endPreview(chat.id).catch(() => undefined);
      },
      approvalProblem,
      acceptAll,
      reveal: cellId => {
        port?.reveal(cellId);
      },
      highlight: (cellId, isOn) => {
        port?.highlight(cellId, isOn);
      },
      findCell: cellId => findCell(port?.cells() ?? [], cellId),
      undo: (runId, callId, andLater) => port?.undo(runId, callId, andLater) ?? null,
      redo: (runId, callId, andLater) => port?.redo(runId, callId, andLater) ?? null,
      keptSteps: async runId => {
        const kernel = port?.kernelId ?? '';
        if (kernel === '' || chat.turns.at(-1)?.runId !== runId) {
          return [];
        }
        const { snapshots } = await panel.rest.snapshots(kernel);
        return snapshots
          .filter(({ run_id: run, is_later: isLater }) => run === runId && !isLater)
          .map(({ step }) => step);
      },
      undoVariables: async (runId, isRedo, step) => {
        const kernel = port?.kernelId ?? '';
        if (chat.turns.at(-1)?.runId !== runId) {
          return { kind: 'kept', why: trans.__('later answers build on them') };
        }
        try {
          const { files } = await panel.rest.undoVariables(kernel, isRedo ? '' : runId, step);
          return { kind: isRedo ? 'redone' : 'undone', files };
        } catch (error) {
          if (!(error instanceof RequestError && error.status === REFUSED)) {
            return { kind: 'kept', why: complaintOf(error) };
          }
          // What was done is done; that it could not be noted, or looked for, is no news.
          if (isRedo) {
            await panel.rest.undoVariables(kernel, runId, step, 'redone').catch(() => null);
            const why = trans.__('run its cells again to have in the kernel what they did.');
            return { kind: 'kept', why };
          }
          const files = await panel.rest.filesBefore(kernel, runId, step).catch(() => null);
          return { kind: 'kept', why: messageOf(error), canRestart: true, files };
        }
      },
      putFilesBack: async (runId, isRedo, step) => {
        const kernel = port?.kernelId ?? '';
        try {
          const files = await panel.rest.putFilesBack(kernel, isRedo ? '' : runId, step);
          return { kind: 'put', files };
        } catch (error) {
          return { kind: 'kept', why: complaintOf(error) };
        }
      },
      restartTo: async (runId, step, watch) => {
        if (port === null) {
          return null;
        }
        const kernel = port.kernelId;
        try {
          const cells = await panel.rest.cellsBefore(runId, step);
          if (!(await confirmsRestart(cells, trans))) {
            return null;
          }
          const result = await port.restartAndRun(cells, watch);
          if (result.ran === result.of) {
            await panel.rest.undoVariables(kernel, runId, step, 'restarted');
          }
          return { kind: 'restarted', ...result };
        } catch (error) {
          return { kind: 'kept', why: complaintOf(error) };
        }
      },
      retry: ({ isAnswered, prompt, runId }) => {
        ask(runId, prompt, () => {
          const isLast = chat.turns.at(-1)?.runId === runId;
          return isLast && !isAnswered ? { supersedes: runId } : {};
        });
      },
      replace: ({ runId }, prompt) => {
        ask(runId, prompt, () => ({ supersedes: runId, instead: chat.state.run !== '' }));
      },
      branch: turn => {
        void panel.branchChat(chat.id, turn.runId);
      },
      proceed: () => {
        const words = trans.__('Continue where you were cut off.');
        ask(chat.turns.at(-1)?.runId ?? '', words, () => ({}));
      },
      setUp,
      projectTexts: () => panel.rest.projectTexts(chat.id),
      allowProjectText: (id, isAllowed) => panel.rest.allowProjectText(chat.id, id, isAllowed)
    };
  }, [
    acceptAll,
    approvalProblem,
    askWhenOpen,
    cancelAsk,
    chat,
    isElsewhere,
    isRunning,
    notebookToOpen,
    panel,
    port,
    setUp,
    trans,
    waitingAsk
  ]);
}

interface Kept {
  readonly chat: Chat;
  readonly runId: string;
  readonly send: () => void;
}

/**
 * Keeps what the person asked for until it can be answered.
 *
 * While the notebook is closed nobody would see what runs. A page that was just loaded has neither
 * a connection nor a kernel yet, nor does it know which notebook the chat is about, and the server
 * would refuse.
 */
function useWaitingAsk(
  chat: Chat,
  notebooks: Notebooks | null,
  port: NotebookView | null,
  { path, isKnown }: { readonly path: string; readonly isKnown: boolean }
): Pick<TurnActions, 'waitingAsk' | 'cancelAsk'> & {
  readonly askWhenOpen: (runId: string, send: () => void) => void;
} {
  const [kept, setKept] = React.useState<Kept | null>(null);
  const isClosed = notebooks !== null && path !== '' && port === null;
  const current = kept?.chat === chat ? kept : null;
  React.useEffect(() => {
    if (current === null || isClosed) {
      return;
    }
    const send = (): void => {
      setKept(null);
      current.send();
    };
    const look = (): void => {
      if (isKnown && port?.kernelId !== '') {
        send();
      }
    };
    const timer = setTimeout(send, KERNEL_MILLISECONDS);
    port?.changed.connect(look);
    look();
    return () => {
      clearTimeout(timer);
      port?.changed.disconnect(look);
    };
  }, [current, isClosed, isKnown, port]);
  const askWhenOpen = React.useCallback(
    (runId: string, send: () => void) => {
      if (isClosed || !isKnown || port?.kernelId === '') {
        setKept({ chat, runId, send });
      } else {
        send();
      }
    },
    [chat, isClosed, isKnown, port]
  );
  const cancelAsk = React.useCallback(() => {
    setKept(null);
  }, []);
  const runId = current?.runId;
  const waitingAsk = React.useMemo(
    () => (runId === undefined ? null : { runId, notebook: isClosed ? path : '' }),
    [runId, isClosed, path]
  );
  return { waitingAsk, askWhenOpen, cancelAsk };
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
function usePort(notebooks: Notebooks | null, path: string): NotebookView | null {
  const [port, setPort] = React.useState<NotebookView | null>(null);
  React.useEffect(() => {
    const look = (): void => {
      setPort(path === '' ? null : (notebooks?.find(path) ?? null));
    };
    look();
    notebooks?.currentChanged.connect(look);
    notebooks?.added.connect(look);
    port?.closed.connect(look);
    return () => {
      notebooks?.currentChanged.disconnect(look);
      notebooks?.added.disconnect(look);
      port?.closed.disconnect(look);
    };
  }, [notebooks, path, port]);
  return port;
}
