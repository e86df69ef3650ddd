/** The one place where the panel asks the server, and what it answers; chats go over the socket. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  AssistantSummaries as AssistantChoices,
  JsonObject,
  Mode,
  TakenFile as UploadedFile,
  VariableSummary,
  WireCell
} from '../wire/generated';
import {
  dictionary,
  list,
  nullable,
  number,
  oneOf,
  opaque,
  optional,
  record,
  type Shape,
  shape,
  text,
  truth
} from '../wire/shapes';
import { requestJson, type Route, send, withBody } from './request';

/** The model service and what an administrator allows. */
export interface ServiceState {
  readonly model: string;
  readonly base_url: string;
  readonly has_key: boolean;
  /** Where the key was found, such as `environment`. */
  readonly key_source: string;
  readonly is_demo: boolean;
  /** What the person should know of the service; empty: nothing. */
  readonly notice: string;
  /** The mode that a new chat starts in. */
  readonly mode: Mode;
  readonly modes: readonly Mode[];
  /** Empty: any. */
  readonly models_allowed: readonly string[];
  /** True: the address and the key are the administrator's. */
  readonly endpoints_locked: boolean;
  /** False: runs are not kept. */
  readonly recording: boolean;
  /** What was chosen to be sent with each request; left out by an older server. */
  readonly parameters?: ModelParameters | undefined;
  readonly warnings: readonly string[];
}

/** What can be sent with each request; what is left out is not sent. */
export interface ModelParameters {
  readonly reasoning_effort?: string;
  readonly verbosity?: string;
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
}

/** What to change of the service; an empty key is forgotten. */
export interface ServiceChange {
  readonly model?: string;
  readonly base_url?: string;
  readonly api_key?: string;
  /** In place of all that were before. */
  readonly parameters?: ModelParameters;
}

/** A provider that may be chosen. */
export interface ProviderOffer {
  readonly name: string;
  /** Empty: the person has to name it. */
  readonly base_url: string;
  /** What its address looks like. */
  readonly example: string;
  /** The usual one; empty: there is none. */
  readonly model: string;
  readonly needs_key: boolean;
  readonly has_key: boolean;
  /** The server has its key from elsewhere, and takes no other one. */
  readonly is_key_set: boolean;
  /** On which it listens where it is a program of one's own; 0: it is none. */
  readonly port: number;
  /** Those of a server that was found running; null: none was. */
  readonly models: readonly string[] | null;
}

export interface ProviderList {
  readonly providers: readonly ProviderOffer[];
  /** Any other address may be named too. */
  readonly any_address: boolean;
  /** The only model that can be used; empty: any. */
  readonly set_model: string;
}

/** One finding of the service test. */
export interface ServiceCheck {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'blocked';
  readonly text: string;
  readonly action: string;
  /** Name of the error that stands for it; empty or left out: none does. */
  readonly code?: string | undefined;
}

/** What a person thinks of an answer. */
export interface Thumb {
  readonly is_up: boolean;
  readonly comment: string;
}

/** A chat as the server lists it. */
export interface ListedChat {
  readonly id: string;
  readonly title: string;
  readonly notebook_path: string;
  readonly updated_at: number;
  readonly runs: number;
  /** The run that is going on; empty or left out: none that the server speaks of. */
  readonly run?: string;
  /** Whether that run waits for an approval or for input; left out: the server does not tell. */
  readonly waits_for_answer?: boolean;
  /** Instructions of its own; empty or left out: the assistant's count. */
  readonly prompt?: string;
  /** Runs that stay in the context, in the order pinned; left out: the server pins none. */
  readonly pins?: readonly string[];
  /** What is done to a prompt before it is sent, in order; left out: the server does not tell. */
  readonly text_filters?: readonly string[];
  /** What a person thinks of the answers, by run; left out: the server keeps none. */
  readonly thumbs?: Readonly<Record<string, Thumb>>;
}

/** What waits in a chat for its next question. */
export interface WaitingNote {
  readonly id: string;
  /** `user_later`, or `system` and `assistant` where another program brought it. */
  readonly role: string;
  readonly text: string;
}

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

export interface ChatChange {
  readonly title?: string;
  readonly notebook_path?: string;
  /** Empty takes the chat's own instructions away. */
  readonly prompt?: string;
  /** Names of those that are on, in order. */
  readonly text_filters?: readonly string[];
}

/** What the next request of a chat begins with. */
export interface ChatContext {
  readonly parts: readonly ContextPart[];
  readonly tokens: number;
  readonly limit: number;
  /** What stands for older turns; empty: all turns are still there. */
  readonly summary: string;
  /** The person's own words in the summary. */
  readonly words: string;
  /** Null: the price is not known. */
  readonly dollars: number | null;
  readonly cached_dollars: number | null;
}

interface ContextPart {
  readonly name: string;
  readonly pieces: number;
  readonly tokens: number;
}

export type Fate = 'saved' | 'deleted' | 'discarded';

/** A cell that an agent made, as a run left it. */
export interface AgentCell {
  readonly cell_id: string;
  readonly source: string;
  readonly cell_type: WireCell['cell_type'];
  /** Id of the cell it follows; empty: at the end. */
  readonly after: string;
  readonly outputs: readonly JsonObject[];
  readonly execution_count: number | null;
}

/** An agent's cell and what became of it; an empty fate: not known yet. */
export interface RunCell extends AgentCell {
  readonly fate: Fate | '';
}

/** Cells of one run that a notebook lacks. */
export interface MissingCells {
  readonly run: string;
  readonly chat: string;
  readonly cells: readonly AgentCell[];
}

export type ExportFormat = 'markdown' | 'ipynb' | 'html';

export type {
  AssistantSummary,
  UnusableAssistant,
  WritablePlace as AssistantPlace
} from '../wire/generated';
export type { AssistantChoices, UploadedFile, VariableSummary };

const MODE = oneOf('plan', 'ask', 'edits', 'auto');

const SERVICE = record<ServiceState>({
  model: text,
  base_url: text,
  has_key: truth,
  key_source: text,
  is_demo: truth,
  notice: text,
  mode: MODE,
  modes: list(MODE),
  models_allowed: list(text),
  endpoints_locked: truth,
  recording: truth,
  parameters: optional(opaque<ModelParameters>()),
  warnings: list(text)
});

const PROVIDERS = record<ProviderList>({
  providers: list(
    record<ProviderOffer>({
      name: text,
      base_url: text,
      example: text,
      model: text,
      needs_key: truth,
      has_key: truth,
      is_key_set: truth,
      port: number,
      models: nullable(list(text))
    })
  ),
  any_address: truth,
  set_model: text
});

const CHECKS = list(
  record<ServiceCheck>({
    name: text,
    status: oneOf('ok', 'warn', 'blocked'),
    text,
    action: text,
    code: optional(text)
  })
);

const CHAT = record<ListedChat>({
  id: text,
  title: text,
  notebook_path: text,
  updated_at: number,
  runs: number,
  run: optional(text),
  waits_for_answer: optional(truth),
  prompt: optional(text),
  pins: optional(list(text)),
  text_filters: optional(list(text)),
  thumbs: optional(dictionary(record<Thumb>({ is_up: truth, comment: text })))
});

const NOTE = record<WaitingNote>({ id: text, role: text, text });

const CONTEXT = record<ChatContext>({
  parts: list(record<ContextPart>({ name: text, pieces: number, tokens: number })),
  tokens: number,
  limit: number,
  summary: text,
  words: text,
  dollars: nullable(number),
  cached_dollars: nullable(number)
});

const VARIABLES = list(record<VariableSummary>({ name: text, type: text, text }));

const CELL_FIELDS = {
  cell_id: text,
  source: text,
  cell_type: oneOf('code', 'markdown', 'raw'),
  after: text,
  outputs: list(opaque<AgentCell['outputs'][number]>()),
  execution_count: nullable(number)
};

const RUN_CELLS = list(
  record<RunCell>({ ...CELL_FIELDS, fate: oneOf('', 'saved', 'deleted', 'discarded') })
);

const MISSING = list(
  record<MissingCells>({ run: text, chat: text, cells: list(record<AgentCell>(CELL_FIELDS)) })
);

/** What the server extension answers to requests; everything that changes goes over the socket. */
export class Rest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  service(): Promise<ServiceState> {
    return this._get(SERVICE, { path: ['service'] });
  }

  changeService(change: ServiceChange): Promise<ServiceState> {
    return this._get(SERVICE, { path: ['service'] }, withBody('PUT', change));
  }

  /** Send one small request to a service as it would be after a change; nothing is kept. */
  tryService(change: ServiceChange): Promise<readonly ServiceCheck[]> {
    const body = withBody('POST', { ...change, send: true });
    return this._get(CHECKS, { path: ['service', 'test'] }, body);
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
    return this._get(PROVIDERS, { path: ['providers'] });
  }

  /** The assistants beside a notebook and where the server starts from. */
  assistants(notebook: string): Promise<AssistantChoices> {
    return this._get(shape('AssistantSummaries'), { path: ['assistants'], query: { notebook } });
  }

  /** Chats, newest first; empty texts leave a condition out. */
  chats(notebook: string, query = ''): Promise<readonly ListedChat[]> {
    return this._get(list(CHAT), { path: ['chats'], query: { notebook, query } });
  }

  newChat(notebookPath: string): Promise<ListedChat> {
    const body = withBody('POST', { notebook_path: notebookPath });
    return this._get(CHAT, { path: ['chats'] }, body);
  }

  chat(id: string): Promise<ListedChat> {
    return this._get(CHAT, { path: ['chats', id] });
  }

  async changeChat(id: string, change: ChatChange): Promise<void> {
    await send(this._settings, { path: ['chats', id] }, withBody('PATCH', change));
  }

  /** Keep a turn in the model's context however long the chat gets, or no longer; the chat then. */
  setPinned(id: string, run: string, isPinned: boolean): Promise<ListedChat> {
    const init = isPinned ? withBody('PUT', {}) : { method: 'DELETE' };
    return this._get(CHAT, { path: ['chats', id, 'pins', run] }, init);
  }

  /** Keep what the person thinks of an answer; null: nothing any more. The chat then. */
  setThumb(id: string, run: string, thumb: Thumb | null): Promise<ListedChat> {
    const init = thumb === null ? { method: 'DELETE' } : withBody('PUT', thumb);
    return this._get(CHAT, { path: ['chats', id, 'thumbs', run] }, init);
  }

  /** What the next question takes along. */
  async waitingNotes(id: string): Promise<readonly WaitingNote[]> {
    const notes = record<{ waiting: readonly WaitingNote[] }>({ waiting: list(NOTE) });
    const route = { path: ['chats', id, 'messages'], query: { waiting: '1' } };
    return (await this._get(notes, route)).waiting;
  }

  /** Let a text wait for the next question; nobody answers it before. */
  addNote(id: string, words: string): Promise<WaitingNote> {
    const body = withBody('POST', { role: 'user_later', text: words });
    return this._get(NOTE, { path: ['chats', id, 'messages'] }, body);
  }

  async takeNote(id: string, note: string): Promise<void> {
    await send(this._settings, { path: ['chats', id, 'messages', note] }, { method: 'DELETE' });
  }

  /** What the next request begins with, and what it costs. */
  context(id: string): Promise<ChatContext> {
    return this._get(CONTEXT, { path: ['chats', id, 'context'] });
  }

  /** Put these words above the summary of older turns. */
  changeSummary(id: string, words: string): Promise<ChatContext> {
    return this._get(CONTEXT, { path: ['chats', id, 'context'] }, withBody('PUT', { words }));
  }

  /** A new chat that goes on after this run. */
  branchChat(id: string, run: string): Promise<ListedChat> {
    return this._get(CHAT, { path: ['chats', id, 'branch'] }, withBody('POST', { run }));
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
    return this._get(VARIABLES, { path: ['kernels', kernelId, 'variables'] });
  }

  async variable(kernelId: string, name: string): Promise<string> {
    const value = record<{ text: string }>({ text });
    return (await this._get(value, { path: ['kernels', kernelId, 'variables', name] })).text;
  }

  runCells(run: string): Promise<readonly RunCell[]> {
    return this._get(RUN_CELLS, { path: ['runs', run, 'cells'] });
  }

  /** None while another page than `tab` has the notebook open. */
  missing(path: string, tab: string): Promise<readonly MissingCells[]> {
    return this._get(MISSING, { path: ['notebooks', 'missing'], query: { path, tab } });
  }

  async reportFates(run: string, fates: Readonly<Record<string, Fate>>): Promise<void> {
    await send(this._settings, { path: ['runs', run, 'fates'] }, withBody('POST', { fates }));
  }

  private _get<T>(answer: Shape<T>, route: Route, init: RequestInit = {}): Promise<T> {
    return requestJson(this._settings, answer, route, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
