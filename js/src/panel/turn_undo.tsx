import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { UndoResult, VariablesOutcome } from '../chat/notebooks';
import type { ToolCard, Turn } from '../chat/types';
import { Button } from '../ui/button';
import { useFocus, useTrans } from '../ui/hooks';
import { undoWords } from '../ui/words';
import { FilesBack } from './files_back';
import { usePins } from './pins';
import { useTurnActions } from './turn_actions';

/** A state that a run can be undone to. */
interface Mark {
  /** Before which of the run's cells, counted from 1; 0: before the run. */
  readonly step: number;
  /** The first line of that cell. */
  readonly code: string;
}

interface Restarting {
  readonly words: string;
  stop(): void;
}

interface Undoing {
  readonly runId: string;
  /** From which of the run's cells on, counted from 1; 0: all of it. */
  readonly step: number;
  readonly variables: VariablesOutcome;
}

/** How a call of a run stands: undone, about to be by the choice the person makes, or neither. */
type UndoneState = '' | 'going' | 'undone';

/** What of a turn is undone, and how to undo it or do it again. */
interface TurnUndo {
  readonly isUndone: boolean;
  /** The kernel is asked, or goes back. */
  readonly isBusy: boolean;
  /** The states that the person chooses among; null: no choice is open. */
  readonly marks: readonly Mark[] | null;
  /** Which of them is chosen, counted from 0. */
  readonly chosen: number;
  /** What became of the last undo or redo; empty: there was none here. */
  readonly note: string;
  /** What the last undo or redo came to, and from which cell on; null: there was none here. */
  readonly last: Undoing | null;
  /** Bring the variables there by a restart; null: that is not offered. */
  readonly restart: (() => void) | null;
  /** The restart that goes on; null: none does. */
  readonly restarting: Restarting | null;
  stateOf(callId: string): UndoneState;
  choose(index: number): void;
  /** Undo the run, or ask from where on; where it is undone, do it again. */
  begin(): void;
  confirm(): void;
  cancel(): void;
}

const NOTHING: TurnUndo = {
  isUndone: false,
  isBusy: false,
  marks: null,
  chosen: 0,
  note: '',
  last: null,
  restart: null,
  restarting: null,
  stateOf: () => '',
  choose: () => undefined,
  begin: () => undefined,
  confirm: () => undefined,
  cancel: () => undefined
};

const UndoContext = React.createContext<TurnUndo>(NOTHING);

export function useTurnUndo(): TurnUndo {
  return React.useContext(UndoContext);
}

/** Lets the parts of a turn see and change what of it is undone. */
export function TurnUndoProvider({ turn, children }: { turn: Turn; children: React.ReactNode }) {
  return <UndoContext.Provider value={useUndoOf(turn)}>{children}</UndoContext.Provider>;
}

/** The calls of a run that change anything an undo takes back. */
export function changingCalls({ blocks }: Turn): readonly ToolCard[] {
  return blocks.filter(
    (block): block is ToolCard =>
      block.kind === 'tool' && block.cellIds.length > 0 && block.risk !== 'read'
  );
}

/** All states that a run could be undone to, from before the run on. */
export function marksOf(turn: Turn): readonly Mark[] {
  const later = changingCalls(turn).filter(({ step }) => step > 1);
  const cells = later.map(({ step, code }) => ({ step, code: firstLine(code) }));
  return [{ step: 0, code: '' }, ...cells];
}

const CODE_CHARACTERS = 60;

function firstLine(code: string): string {
  const line = code.split('\n').find(text => text.trim() !== '') ?? '';
  const words = line.trim();
  return words.length > CODE_CHARACTERS ? `${words.slice(0, CODE_CHARACTERS)} …` : words;
}

/** Those that go with an undo to before a cell: the call that ran it, and all later ones. */
function callsFrom(turn: Turn, step: number): readonly ToolCard[] {
  const calls = changingCalls(turn);
  // A call may run several cells; it goes as a whole.
  const ran = calls.filter(call => call.step > 0 && call.step <= step).at(-1);
  return step < 2 || ran === undefined ? calls : calls.slice(calls.indexOf(ran));
}

interface Outcome extends Undoing {
  readonly cells: UndoResult & Left;
}

interface Left {
  /** Cells that the run changed, and of which the page does not know how they were before it. */
  readonly left?: readonly string[];
}

/** What an undo came to, with the cells that stay as these calls left them. */
export function withLeft(
  result: UndoResult,
  calls: readonly ToolCard[],
  isThere: (cellId: string) => boolean
): UndoResult & Left {
  if (result.isLate !== true) {
    return result;
  }
  const told = new Set([...result.changed, ...result.kept]);
  const ids = new Set(calls.flatMap(({ cellIds }) => cellIds));
  return { ...result, left: [...ids].filter(id => !told.has(id) && isThere(id)) };
}

function useUndoOf(turn: Turn): TurnUndo {
  const trans = useTrans();
  const actions = useTurnActions();
  const { undone, refresh } = usePins();
  const { runId } = turn;
  const recorded = undone[runId] ?? null;
  // What was done here counts until the record tells: it knows of variables, not of cells alone.
  const [here, setHere] = React.useState<{ readonly step: number | null } | null>(null);
  React.useEffect(() => {
    setHere(null);
  }, [recorded]);
  const [marks, setMarks] = React.useState<readonly Mark[] | null>(null);
  const [chosen, setChosen] = React.useState(0);
  const [isAsking, setAsking] = React.useState(false);
  const [outcome, setOutcome] = React.useState<Outcome | null>(null);
  const undoneFrom = here === null ? recorded : here.step;
  const isUndone = undoneFrom !== null;

  const bring = (result: UndoResult | null, isRedo: boolean, step: number): void => {
    setMarks(null);
    if (result === null) {
      return; // the notebook was closed a moment ago
    }
    const isThere = (id: string): boolean => actions.findCell(id) !== null;
    const cells = withLeft(result, callsFrom(turn, step), isThere);
    const tookVariables = recorded !== null || outcome?.variables.kind === 'undone';
    if (!staysWhole(cells)) {
      setHere({ step: isRedo ? null : step });
    }
    if (isRedo && !tookVariables) {
      setOutcome({ runId, step, cells, variables: { kind: 'kept', why: '' } });
      return;
    }
    setOutcome({ runId, step, cells, variables: { kind: 'waiting' } });
    void actions.undoVariables(runId, isRedo, step).then(variables => {
      setOutcome({ runId, step, cells, variables });
      refresh();
    });
  };
  const undo = (step: number): void => {
    const call = step === 0 ? undefined : callsFrom(turn, step)[0]?.callId;
    const cells = call === undefined ? actions.undo(runId) : actions.undo(runId, call, true);
    bring(cells, false, step);
  };
  const redo = (step: number): void => {
    const call = step === 0 ? undefined : callsFrom(turn, step)[0]?.callId;
    const cells = call === undefined ? actions.redo(runId) : actions.redo(runId, call, true);
    bring(cells, true, step);
  };
  const ask = async (all: readonly Mark[]): Promise<void> => {
    setAsking(true);
    // Cells can be taken back where no state is known, too; then the note says why only they are.
    const kept = await actions.keptSteps(runId).catch((): readonly number[] => []);
    setAsking(false);
    const known = all.filter(({ step }) => step === 0 || kept.includes(step));
    const offered = kept.length === 0 ? all : known;
    if (offered.length > 1) {
      setChosen(0);
      setMarks(offered);
    } else {
      undo(0);
    }
  };
  const [restarting, setRestarting] = React.useState<Restarting | null>(null);
  const restartTo = async (cells: UndoResult, step: number): Promise<void> => {
    const stop = new AbortController();
    const show = (words: string): void => {
      setRestarting({
        words,
        stop: () => {
          stop.abort();
        }
      });
    };
    const variables = await actions.restartTo(runId, step, {
      signal: stop.signal,
      onProgress: (done, of) => {
        show(
          done === null
            ? trans.__('Restarting the kernel …')
            : trans.__('Running cell %1 of %2 again …', done + 1, of)
        );
      }
    });
    setRestarting(null);
    if (variables !== null) {
      setOutcome({ runId, step, cells, variables });
      refresh();
    }
  };
  const isBusy = isAsking || restarting !== null || outcome?.variables.kind === 'waiting';
  const begin = (): void => {
    if (isBusy) {
      return;
    }
    const all = marksOf(turn);
    if (undoneFrom !== null) {
      redo(undoneFrom);
    } else if (marks !== null) {
      setMarks(null);
    } else if (all.length > 1) {
      void ask(all);
    } else {
      undo(0);
    }
  };
  const canRestart = outcome !== null && undoneFrom !== null && isRestartable(outcome.variables);
  const from = marks === null ? undoneFrom : (marks[chosen]?.step ?? 0);
  const calls = React.useMemo(
    () => new Set(from === null ? [] : callsFrom(turn, from).map(({ callId }) => callId)),
    [turn, from]
  );
  return {
    isUndone,
    isBusy,
    marks,
    chosen,
    note: outcome === null ? '' : undoWords(outcome.cells, isUndone, trans, outcome.variables),
    last: outcome,
    restart:
      canRestart && restarting === null
        ? () => {
            void restartTo(outcome.cells, undoneFrom);
          }
        : null,
    restarting,
    stateOf: callId => {
      if (!calls.has(callId) || (marks === null && outcome !== null && staysWhole(outcome.cells))) {
        return '';
      }
      return marks === null ? 'undone' : 'going';
    },
    choose: setChosen,
    begin,
    confirm: () => {
      undo(marks?.[chosen]?.step ?? 0);
    },
    cancel: () => {
      setMarks(null);
    }
  };
}

/** Whether all that a run did to cells is still there after an undo. */
function staysWhole({ changed, kept, left = [] }: UndoResult & Left): boolean {
  return left.length > 0 && changed.length === 0 && kept.length === 0;
}

/** Whether a restart would bring the variables where they are not. */
function isRestartable(variables: VariablesOutcome): boolean {
  return variables.kind === 'restarted'
    ? variables.ran < variables.of
    : variables.kind === 'kept' && variables.canRestart === true;
}

function markWords({ step, code }: Mark, trans: TranslationBundle): string {
  if (step === 0) {
    return trans.__('before the run');
  }
  return code === ''
    ? trans.__('before cell %1', step)
    : trans.__('before cell %1: %2', step, code);
}

interface UndoChoiceProps {
  /** The person is done with it, one way or the other. */
  readonly onClose: () => void;
}

/** Asks how far a run is undone: a slider over the states that it can be taken back to. */
export function UndoChoice({ onClose }: UndoChoiceProps) {
  const { marks } = useTurnUndo();
  return marks === null ? null : <UndoSlider marks={marks} onClose={onClose} />;
}

function UndoSlider({ marks, onClose }: UndoChoiceProps & { marks: readonly Mark[] }) {
  const trans = useTrans();
  const { canUndo } = useTurnActions();
  const { chosen, choose, confirm, cancel } = useTurnUndo();
  const slider = useFocus<HTMLInputElement>();
  const id = React.useId();
  const mark = marks[chosen] ?? { step: 0, code: '' };
  const words = markWords(mark, trans);
  return (
    <form
      className="cw-undo"
      onSubmit={event => {
        event.preventDefault();
        confirm();
        onClose();
      }}
      onKeyDown={event => {
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          cancel();
          onClose();
        }
      }}
    >
      <label htmlFor={id}>{trans.__('Go back to')}</label>
      <span className="cw-undo-mark" title={words} aria-hidden="true">
        {words}
      </span>
      <input
        ref={slider}
        id={id}
        type="range"
        min={0}
        max={marks.length - 1}
        value={chosen}
        aria-valuetext={words}
        onChange={event => {
          choose(event.target.valueAsNumber);
        }}
      />
      <div className="cw-row">
        <button type="submit" className="cw-button cw-mod-primary" disabled={!canUndo}>
          <span>
            {mark.step === 0 ? trans.__('Undo run') : trans.__('Undo from cell %1', mark.step)}
          </span>
        </button>
        <Button
          kind="quiet"
          onClick={() => {
            cancel();
            onClose();
          }}
        >
          {trans.__('Cancel')}
        </Button>
      </div>
    </form>
  );
}

/** What became of an undo, and the way round what stood in its way. */
export function UndoNote() {
  const trans = useTrans();
  const { canUndo } = useTurnActions();
  const { note, last, restart, restarting } = useTurnUndo();
  if (note === '') {
    return null;
  }
  return (
    <>
      <p className="cw-muted" role="status">
        {restarting === null ? note : restarting.words}
      </p>
      {restarting !== null && (
        <div className="cw-row cw-undo-way">
          <span className="cw-spinner" />
          <Button icon="stop" onClick={restarting.stop}>
            {trans.__('Stop')}
          </Button>
        </div>
      )}
      {restart !== null && (
        <div className="cw-row cw-undo-way">
          <Button icon="retry" disabled={!canUndo} onClick={restart}>
            {trans.__('Restart and run to here')}
          </Button>
        </div>
      )}
      {last !== null && <FilesBack {...last} />}
    </>
  );
}
