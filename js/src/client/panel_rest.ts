/** The one place where the panel asks the server, and what it answers; chats go over the socket. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  AssistantSummaries as AssistantChoices,
  BranchesBeginning,
  BranchList,
  ChangedFiles,
  ChatChange,
  ChatContext,
  ChatSummary as ListedChat,
  KernelSnapshots,
  MissingCells,
  Preview,
  ProjectConsent,
  ProjectTextRow,
  ProviderList,
  RecordedRunCell as RunCell,
  RunThumb as Thumb,
  ServiceCheck,
  ServiceState,
  ServiceTest,
  TakenFile as UploadedFile,
  UndoneRun,
  VariableSummary,
  WaitingMessage as WaitingNote,
  WantedService as ServiceChange
} from '../wire/generated';
import { list, type Shape, shape } from '../wire/shapes';
import { requestJson, type Route, send, withBody } from './request';

/** Where a file is uploaded: what decides which library would take it. */
interface UploadPlace {
  /** Path of the chat's notebook; empty: none. */
  readonly notebook: string;
  /** Name of the assistant that answers; empty: none was chosen. */
  readonly assistant: string;
}

/** An uploaded file that goes into a library. */
interface NewDocument {
  /** What the upload is named by. */
  readonly place: string;
  readonly name: string;
  readonly library: string;
  readonly notebook: string;
}

/** What became of a cell that an agent made. */
export type Fate = Exclude<RunCell['fate'], ''>;

export type ExportFormat = 'markdown' | 'ipynb' | 'html';

export type {
  AssistantSummary,
  AgentCell,
  ProviderOffer,
  UnusableAssistant,
  WritablePlace as AssistantPlace
} from '../wire/generated';
export type {
  AssistantChoices,
  ChatChange,
  ChatContext,
  KernelSnapshots,
  ListedChat,
  MissingCells,
  ProjectTextRow,
  ProviderList,
  RunCell,
  ServiceChange,
  ServiceCheck,
  ServiceState,
  Thumb,
  UploadedFile,
  VariableSummary,
  WaitingNote
};

/** What the server extension answers to requests; everything that changes goes over the socket. */
export class Rest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  service(): Promise<ServiceState> {
    return this._get(shape('ServiceState'), { path: ['service'] });
  }

  changeService(change: ServiceChange): Promise<ServiceState> {
    return this._get(shape('ServiceState'), { path: ['service'] }, withBody('PUT', change));
  }

  /** Send one small request to a service as it would be after a change; nothing is kept. */
  tryService(change: ServiceChange): Promise<readonly ServiceCheck[]> {
    const wanted: ServiceTest = { ...change, send: true };
    return this._get(
      list(shape('ServiceCheck')),
      { path: ['service', 'test'] },
      withBody('POST', wanted)
    );
  }

  async models(): Promise<readonly string[]> {
    return (await this._get(shape('Models'), { path: ['models'] })).models;
  }

  /** The models of a service as it would be after a change; nothing is kept. */
  async modelsOf(change: ServiceChange): Promise<readonly string[]> {
    return (await this._get(shape('Models'), { path: ['models'] }, withBody('POST', change)))
      .models;
  }

  /** The providers that may be chosen; those on the server's machine are looked for. */
  providers(): Promise<ProviderList> {
    return this._get(shape('ProviderList'), { path: ['providers'] });
  }

  /** The assistants beside a notebook and where the server starts from. */
  assistants(notebook: string): Promise<AssistantChoices> {
    return this._get(shape('AssistantSummaries'), { path: ['assistants'], query: { notebook } });
  }

  /** Chats, newest first; empty texts leave a condition out. */
  chats(notebook: string, query = ''): Promise<readonly ListedChat[]> {
    return this._get(list(shape('ChatSummary')), { path: ['chats'], query: { notebook, query } });
  }

  newChat(notebookPath: string): Promise<ListedChat> {
    const body = withBody('POST', { notebook_path: notebookPath });
    return this._get(shape('ChatSummary'), { path: ['chats'] }, body);
  }

  chat(id: string): Promise<ListedChat> {
    return this._get(shape('ChatSummary'), { path: ['chats', id] });
  }

  async changeChat(id: string, change: ChatChange): Promise<void> {
    await send(this._settings, { path: ['chats', id] }, withBody('PATCH', change));
  }

  /** Keep a turn in the model's context however long the chat gets, or no longer; the chat then. */
  setPinned(id: string, run: string, isPinned: boolean): Promise<ListedChat> {
    const init = isPinned ? withBody('PUT', {}) : { method: 'DELETE' };
    return this._get(shape('ChatSummary'), { path: ['chats', id, 'pins', run] }, init);
  }

  /** Keep what the person thinks of an answer; null: nothing any more. The chat then. */
  setThumb(id: string, run: string, thumb: Thumb | null): Promise<ListedChat> {
    const init = thumb === null ? { method: 'DELETE' } : withBody('PUT', thumb);
    return this._get(shape('ChatSummary'), { path: ['chats', id, 'thumbs', run] }, init);
  }

  /** What the next question takes along. */
  async waitingNotes(id: string): Promise<readonly WaitingNote[]> {
    const route = { path: ['chats', id, 'messages'], query: { waiting: '1' } };
    return (await this._get(shape('ChatMessages'), route)).waiting;
  }

  /** Let a text wait for the next question; nobody answers it before. */
  addNote(id: string, words: string): Promise<WaitingNote> {
    const body = withBody('POST', { role: 'user_later', text: words });
    return this._get(shape('WaitingMessage'), { path: ['chats', id, 'messages'] }, body);
  }

  async takeNote(id: string, note: string): Promise<void> {
    await send(this._settings, { path: ['chats', id, 'messages', note] }, { method: 'DELETE' });
  }

  /** What the next request begins with, and what it costs. */
  context(id: string): Promise<ChatContext> {
    return this._get(shape('ChatContext'), { path: ['chats', id, 'context'] });
  }

  /** Put these words above the summary of older turns. */
  changeSummary(id: string, words: string): Promise<ChatContext> {
    return this._get(
      shape('ChatContext'),
      { path: ['chats', id, 'context'] },
      withBody('PUT', { words })
    );
  }

  /** What the project of its notebook tells every agent. */
  async projectTexts(id: string): Promise<readonly ProjectTextRow[]> {
    return (await this._get(shape('ProjectTextRows'), { path: ['chats', id, 'project'] })).texts;
  }

  /** Let models read one of these texts, or not. */
  async allowProjectText(
    id: string,
    textId: string,
    isAllowed: boolean
  ): Promise<readonly ProjectTextRow[]> {
    const consent: ProjectConsent = { id: textId, is_allowed: isAllowed };
    const body = withBody('PUT', consent);
    return (await this._get(shape('ProjectTextRows'), { path: ['chats', id, 'project'] }, body))
      .texts;
  }

  /** Try a prompt in several ways, each in a copy of the kernel of a notebook that is open here. */
  beginBranches(id: string, wanted: BranchesBeginning): Promise<BranchList> {
    const body = withBody('POST', wanted);
    return this._get(shape('BranchList'), { path: ['chats', id, 'branches'] }, body);
  }

  /** How far the ways of a chat's last prompt are. */
  branches(id: string): Promise<BranchList> {
    return this._get(shape('BranchList'), { path: ['chats', id, 'branches'] });
  }

  /** Let one of them take the place of the kernel; the others end. */
  async keepBranch(id: string, number: number): Promise<void> {
    const route = { path: ['chats', id, 'branches', String(number), 'keep'] };
    await send(this._settings, route, { method: 'POST' });
  }

  /** End all of them; nothing of them happened. */
  async dropBranches(id: string): Promise<void> {
    await send(this._settings, { path: ['chats', id, 'branches'] }, { method: 'DELETE' });
  }

  /** What the call would do that waits for the person, tried in a copy of the kernel. */
  preview(id: string, call: string): Promise<Preview> {
    return this._get(
      shape('Preview'),
      { path: ['chats', id, 'preview'] },
      withBody('POST', { call })
    );
  }

  /** End that; the call goes on to wait. */
  async endPreview(id: string): Promise<void> {
    await send(this._settings, { path: ['chats', id, 'preview'] }, { method: 'DELETE' });
  }

  /** A new chat that goes on after this run. */
  branchChat(id: string, run: string): Promise<ListedChat> {
    return this._get(
      shape('ChatSummary'),
      { path: ['chats', id, 'branch'] },
      withBody('POST', { run })
    );
  }

  async deleteChat(id: string): Promise<void> {
    await send(this._settings, { path: ['chats', id] }, { method: 'DELETE' });
  }

  async exportChat(id: string, to: ExportFormat): Promise<Blob> {
    const route = { path: ['chats', id, 'export'], query: { to } };
    return (await send(this._settings, route)).blob();
  }

  uploadFile(
    file: Blob,
    name: string,
    place: UploadPlace = { notebook: '', assistant: '' }
  ): Promise<UploadedFile> {
    const headers = { 'Content-Type': file.type || 'application/octet-stream' };
    const route = { path: ['files'], query: { name, ...place } };
    return this._get(shape('TakenFile'), route, { method: 'POST', body: file, headers });
  }

  /** Put an uploaded file into a library; the server reads it after it has answered. */
  async addDocument(document: NewDocument): Promise<void> {
    await send(this._settings, { path: ['library'] }, withBody('POST', document));
  }

  variables(kernelId: string): Promise<readonly VariableSummary[]> {
    return this._get(list(shape('VariableSummary')), { path: ['kernels', kernelId, 'variables'] });
  }

  async variable(kernelId: string, name: string): Promise<string> {
    const value = shape('OneVariable');
    return (await this._get(value, { path: ['kernels', kernelId, 'variables', name] })).text;
  }

  /**
   * Bring a kernel's variables back as before a run; empty: forth again.
   *
   * @param step Before which of the run's cells, counted from 1; 0: before the run.
   * @param already What is only noted: a restart brought the kernel there, or the cells of the run
   *   are back and have not run again.
   */
  undoVariables(
    kernelId: string,
    run: string,
    step: number,
    already: 'restarted' | 'redone' | null = null
  ): Promise<UndoneRun> {
    const route = { path: ['kernels', kernelId, 'undo'] };
    const noted = already === null ? {} : { [already]: true };
    return this._get(shape('UndoneRun'), route, withBody('POST', { run, step, ...noted }));
  }

  /** The files that could be put back as they were before a run, or before one of its cells. */
  filesBefore(kernelId: string, run: string, step: number): Promise<ChangedFiles> {
    const query = { run, step: String(step) };
    return this._get(shape('ChangedFiles'), { path: ['kernels', kernelId, 'files'], query });
  }

  /** Sources of what ran in the kernel before a run, or before one of its cells. */
  async cellsBefore(run: string, step: number): Promise<readonly string[]> {
    const route = { path: ['runs', run, 'before'], query: { step: String(step) } };
    return (await this._get(shape('EarlierCells'), route)).cells;
  }

  /**
   * The states that a kernel can be taken back to.
   *
   * @param isMeasured Whether to tell how much memory they hold, for which the kernel reads a while.
   */
  snapshots(kernelId: string, isMeasured = false): Promise<KernelSnapshots> {
    const query = isMeasured ? { measured: '1' } : undefined;
    const route = { path: ['kernels', kernelId, 'snapshots'], ...(query && { query }) };
    return this._get(shape('KernelSnapshots'), route);
  }

  /** Give the memory of those states back; what is left of them. */
  forgetSnapshots(kernelId: string): Promise<KernelSnapshots> {
    const route = { path: ['kernels', kernelId, 'snapshots'] };
    return this._get(shape('KernelSnapshots'), route, { method: 'DELETE' });
  }

  /**
   * Put files back as before a run; empty: forth again.
   *
   * @param step Before which of the run's cells, counted from 1; 0: before the run.
   */
  putFilesBack(kernelId: string, run: string, step: number): Promise<ChangedFiles> {
    const route = { path: ['kernels', kernelId, 'files'] };
    return this._get(shape('ChangedFiles'), route, withBody('POST', { run, step }));
  }

  runCells(run: string): Promise<readonly RunCell[]> {
    return this._get(list(shape('RecordedRunCell')), { path: ['runs', run, 'cells'] });
  }

  /** None while another page than `tab` has the notebook open. */
  missing(path: string, tab: string): Promise<readonly MissingCells[]> {
    return this._get(list(shape('MissingCells')), {
      path: ['notebooks', 'missing'],
      query: { path, tab }
    });
  }

  async reportFates(run: string, fates: Readonly<Record<string, Fate>>): Promise<void> {
    await send(this._settings, { path: ['runs', run, 'fates'] }, withBody('POST', { fates }));
  }

  private _get<T>(answer: Shape<T>, route: Route, init: RequestInit = {}): Promise<T> {
    return requestJson(this._settings, answer, route, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
