/** What the views use of the models: their public sides, so that tests can stand in for them. */
import type { ISignal } from '@lumino/signaling';

import type { ChatModel } from '../chat/chat';
import type { NotebookPort } from '../chat/notebooks';
import type { PanelModel } from '../chat/session';
import type { Rest } from '../client/panel_rest';
import type { Mode } from '../wire/generated';

/** The public members of a class; of its signals it does not matter who sends them. */
type Public<T> = {
  readonly [Name in keyof T]: T[Name] extends ISignal<infer Sender, infer Change>
    ? ISignal<Sender extends never ? never : unknown, Change>
    : T[Name];
};

export type Chat = Public<ChatModel>;

type Replaced =
  | 'chat'
  | 'chatChanged'
  | 'isAsking'
  | 'isAskingChanged'
  | 'openChat'
  | 'newChat'
  | 'modeOf'
  | 'rest'
  | 'showChatOf';

export interface Panel extends Omit<Public<PanelModel>, Replaced> {
  readonly chat: Chat;
  readonly chatChanged: ISignal<unknown, unknown>;
  readonly rest: Pick<
    Rest,
    | 'addDocument'
    | 'addNote'
    | 'allowProjectText'
    | 'assistants'
    | 'branches'
    | 'changeChat'
    | 'cellsBefore'
    | 'changeSummary'
    | 'chat'
    | 'context'
    | 'dropBranches'
    | 'endPreview'
    | 'exportChat'
    | 'forgetSnapshots'
    | 'keepBranch'
    | 'models'
    | 'modelsOf'
    | 'preview'
    | 'projectTexts'
    | 'providers'
    | 'filesBefore'
    | 'putFilesBack'
    | 'setPinned'
    | 'setThumb'
    | 'snapshots'
    | 'takeNote'
    | 'tryService'
    | 'undoVariables'
    | 'uploadFile'
    | 'variable'
    | 'waitingNotes'
  >;
  openChat(id: string): void;
  newChat(notebookPath?: string): void;
  modeOf(chat: Chat): Mode;
}

/** An open notebook, as far as the views act on it. */
export type NotebookView = Pick<
  NotebookPort,
  'cells' | 'editable' | 'highlight' | 'kernelId' | 'restartAndRun' | 'reveal' | 'undo' | 'redo'
> &
  Readonly<Record<'changed' | 'closed' | 'edited', ISignal<unknown, unknown>>>;

/** The notebooks open in this tab. */
export interface Notebooks {
  readonly currentChanged: ISignal<unknown, unknown>;
  readonly added: ISignal<unknown, unknown>;
  find(path: string): NotebookView | null;
}
