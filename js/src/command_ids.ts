/** Ids of the commands that open or steer something from elsewhere. */
import type { Mode } from './wire/generated';

/** Opens the page of runs. */
export const OPEN_RUNS = 'cellwright:runs';

/** Opens the page of what is kept: memory, library, usage, tools. */
export const OPEN_KEEPING = 'cellwright:keeping';

/** The commands of the panel. */
export namespace PanelCommandIDs {
  export const open = 'cellwright:open';
  export const newChat = 'cellwright:new-chat';
  export const stop = 'cellwright:stop';
  export const sessions = 'cellwright:sessions';
  export const setMode = 'cellwright:set-mode';
  export const setUp = 'cellwright:model-settings';
  export const approve = 'cellwright:approve';
  export const reject = 'cellwright:reject';
  export const exportChat = 'cellwright:export-chat';
  export const undoRun = 'cellwright:undo-run';
}

/** From the one that may do least. */
export const MODES: readonly Mode[] = ['plan', 'ask', 'edits', 'auto'];
