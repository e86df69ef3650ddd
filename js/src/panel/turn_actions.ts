import * as React from 'react';

import type { ProjectTextRow } from '../client/panel_rest';
import type { FilesOutcome, RestartWatch, UndoResult, VariablesOutcome } from '../chat/notebooks';
import type { Turn } from '../chat/types';
import type { NamedCell, Preview } from '../wire/generated';

/** What a person can do about a turn and its calls. */
export interface TurnActions {
  /** The chat's notebook is open here, so its cells can be shown. */
  readonly canReveal: boolean;
  /** The notebook can be changed and nothing is going on. */
  readonly canUndo: boolean;
  /** This page may answer approvals. */
  readonly canAnswer: boolean;
  /** Path of the notebook that has to be open here first: no page drives the run. Or empty. */
  readonly notebookToOpen: string;
  /** What the person asked for and that waits until the notebook is open; null: nothing. */
  readonly waitingAsk: WaitingAsk | null;
  cancelAsk(): void;
  /** Call this when the person has changed cells, until the returned function is called. */
  watchCells(listener: () => void): () => void;
  answer(callId: string, answer: ApprovalAnswer): void;
  /** What the call would do that waits, tried in a copy of the kernel. */
  preview(callId: string): Promise<Preview>;
  endPreview(): void;
  /** Why the result of a preview could not be kept; empty: that was not tried. */
  readonly approvalProblem: string;
  /** Allow these calls; those that do not ask yet, as soon as they do. */
  acceptAll(callIds: readonly string[]): void;
  reveal(cellId: string): void;
  /** Mark a cell in the notebook, or no longer. */
  highlight(cellId: string, isOn: boolean): void;
  /** A cell as the notebook has it now; null: it is not open here, or the cell is not there. */
  findCell(cellId: string): NamedCell | null;
  /** Take back a run, a call of it, or that and all later ones; null: the notebook is not open. */
  undo(runId: string, callId?: string, andLater?: boolean): UndoResult | null;
  redo(runId: string, callId?: string, andLater?: boolean): UndoResult | null;
  /** Before which of a run's cells, counted from 1, a state is kept; 0: before the run. */
  keptSteps(runId: string): Promise<readonly number[]>;
  /**
   * Bring the variables back as before a run, or forth again; says why where that was not done.
   *
   * @param step Before which of the run's cells, counted from 1; 0: before the run.
   */
  undoVariables(runId: string, isRedo: boolean, step: number): Promise<VariablesOutcome>;
  /**
   * Ask the person, then bring the kernel by a restart to before a run or one of its cells.
   *
   * @returns What became of the variables; null: the person does not want it.
   */
  restartTo(runId: string, step: number, watch: RestartWatch): Promise<VariablesOutcome | null>;
  /** Put the files back as before a run, or forth again; the arguments are those above. */
  putFilesBack(runId: string, isRedo: boolean, step: number): Promise<FilesOutcome>;
  /** Ask the same, after all that was said. */
  retry(turn: Turn): void;
  /** Ask this in place of a turn and of all that followed. */
  replace(turn: Turn, prompt: string): void;
  /** Go on after a turn in a chat of its own. */
  branch(turn: Turn): void;
  /** Ask the model to go on where it was cut off. */
  proceed(): void;
  /** Show where model and key are set. */
  setUp(): void;
  /** What the project has for every agent. */
  projectTexts(): Promise<readonly ProjectTextRow[]>;
  /** Let models read one of them, or not. */
  allowProjectText(id: string, isAllowed: boolean): Promise<readonly ProjectTextRow[]>;
}

interface WaitingAsk {
  /** The turn in which the person pressed the button. */
  readonly runId: string;
  /** Path of the notebook; empty: it is open, and its kernel is waited for. */
  readonly notebook: string;
}

export interface ApprovalAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly forSession: boolean;
  /** The result of the call's preview takes the place of running it. */
  readonly adopt?: boolean;
}

const NOTHING: TurnActions = {
  canReveal: false,
  canUndo: false,
  canAnswer: false,
  notebookToOpen: '',
  waitingAsk: null,
  cancelAsk: () => undefined,
  watchCells: () => () => undefined,
  answer: () => undefined,
  preview: () => new Promise<Preview>(() => undefined),
  endPreview: () => undefined,
  approvalProblem: '',
  acceptAll: () => undefined,
  reveal: () => undefined,
  highlight: () => undefined,
  findCell: () => null,
  undo: () => null,
  redo: () => null,
  keptSteps: () => Promise.resolve([]),
  undoVariables: () => Promise.resolve({ kind: 'kept', why: '' }),
  restartTo: () => Promise.resolve(null),
  putFilesBack: () => Promise.resolve({ kind: 'kept', why: '' }),
  retry: () => undefined,
  replace: () => undefined,
  branch: () => undefined,
  proceed: () => undefined,
  setUp: () => undefined,
  projectTexts: () => Promise.resolve([]),
  allowProjectText: () => Promise.resolve([])
};

const ActionsContext = React.createContext<TurnActions>(NOTHING);

export const TurnActionsProvider = ActionsContext.Provider;

export function useTurnActions(): TurnActions {
  return React.useContext(ActionsContext);
}
