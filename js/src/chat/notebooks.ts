/** What the panel asks of the notebooks that are open; `notebook/` implements it. */
import type { ISignal } from '@lumino/signaling';

import type { ChangedFiles, RecordedEvent, WireCell } from '../wire/generated';

/** A person's change of a notebook. */
export interface NotebookEdit {
  readonly cells: readonly { readonly cell: WireCell; readonly after: string }[];
  readonly removed: readonly string[];
}

/** Whether a cell is there as expected, and how it is if not. */
export interface Confirmation {
  readonly ok: boolean;
  /** `gone`, `changed`, `read_only` or `closed`. */
  readonly reason: string;
  readonly cells: readonly WireCell[];
}

/** What became of the kernel's variables: `why` says what stands in the way, if it is known. */
export type VariablesOutcome =
  | { readonly kind: 'waiting' }
  /** With the files that can be put back, or forth, and those that stay. */
  | { readonly kind: 'undone' | 'redone'; readonly files?: ChangedFiles }
  | {
      readonly kind: 'kept';
      readonly why: string;
      /** A restart, and the cells that ran before, would bring them there. */
      readonly canRestart?: boolean;
      /** Those that can be put back all the same; null: it is not known. */
      readonly files?: ChangedFiles | null;
    }
  | ({ readonly kind: 'restarted' } & RestartResult);

/** How far a restarted kernel got with the cells that it was to run. */
export interface RestartResult {
  readonly ran: number;
  readonly of: number;
  /** Why the next cell failed; empty: all ran, or the person stopped it. */
  readonly problem: string;
}

/** Follows a restart, and can stop it. */
export interface RestartWatch {
  /** Told before each cell how many have run; null: the kernel starts anew. */
  readonly onProgress: (done: number | null, of: number) => void;
  readonly signal: AbortSignal;
}

/** What became of files that were to be put back, or forth. */
export type FilesOutcome =
  | { readonly kind: 'put'; readonly files: ChangedFiles }
  | { readonly kind: 'kept'; readonly why: string };

/** What undoing did and what it left because the person had changed it. */
export interface UndoResult {
  readonly changed: readonly string[];
  readonly kept: readonly string[];
  /** The document was opened after the run: only cells that the run added are known. */
  readonly isLate?: boolean;
}

/** A line of a notebook's outline. */
export interface OutlineEntry {
  readonly id: string;
  readonly label: string;
  readonly hasError: boolean;
  /** Its number in the kernel; null: it has none. */
  readonly count: number | null;
}

/** What the person said to a proposed edit, on its cell. */
export interface ProposalAnswer {
  readonly cellId: string;
  readonly isAccepted: boolean;
}

/** One notebook document that is open in this tab. */
export interface NotebookPort {
  /** Made when the document was opened; stays through renames. */
  readonly notebook: string;
  readonly path: string;
  /** Empty: no kernel is running. */
  readonly kernelId: string;
  readonly editable: boolean;
  /** Path, kernel or editability changed. */
  readonly changed: ISignal<NotebookPort, void>;
  /** The person changed cells; only between `beginRun` and `endRun`. */
  readonly edited: ISignal<NotebookPort, NotebookEdit>;
  readonly closed: ISignal<NotebookPort, void>;
  /** The document was written to disk, by the person or by autosave. */
  readonly saved: ISignal<NotebookPort, void>;
  /** The person answered what `propose` shows. */
  readonly answered: ISignal<NotebookPort, ProposalAnswer>;
  cells(): readonly WireCell[];
  /** Get a cell ready to draw what `messageId` sends. */
  confirm(cellId: string, sourceHash: string, messageId: string): Promise<Confirmation>;
  /**
   * Do what an event says; an event that was applied before changes nothing.
   *
   * @returns Whether the cell is not one that stays as the person left it: kept branches alone.
   */
  apply(run: string, recorded: RecordedEvent, isReplay: boolean): boolean;
  /** Put cells of an earlier run, outputs included, where they belong; those there are left. */
  insert(run: string, cells: NotebookEdit['cells']): void;
  beginRun(run: string): void;
  endRun(run: string): void;
  /** Scroll to a cell and flash it. */
  reveal(cellId: string): void;
  /** Take back what a run, or one call of it, did to the cells; what the person changed stays. */
  undo(run: string, callId?: string, andLater?: boolean): UndoResult;
  redo(run: string, callId?: string, andLater?: boolean): UndoResult;
  /** Start the kernel anew, which loses all variables, and run these sources in order. */
  restartAndRun(sources: readonly string[], watch: RestartWatch): Promise<RestartResult>;
  outline(): readonly OutlineEntry[];
  /** Mark a cell that the person is asked about, or no longer. */
  highlight(cellId: string, isOn: boolean): void;
  /** Show a proposed edit as a diff on its cell; null takes it away. */
  propose(cellId: string, source: string | null, runs?: boolean): void;
}

/** The notebooks open in this tab. */
export interface NotebookRegistry {
  readonly all: readonly NotebookPort[];
  /** The one the person looks at, or looked at last. */
  readonly current: NotebookPort | null;
  readonly currentChanged: ISignal<NotebookRegistry, void>;
  readonly added: ISignal<NotebookRegistry, NotebookPort>;
  find(path: string): NotebookPort | null;
}
