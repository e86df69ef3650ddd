/** The one place that asks the server about memory, library, usage and tools; its answers. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  KeptMemory as Memory,
  LibraryHits as Found,
  LibraryState as LibraryAnswer,
  ListedSignIn as SignIn,
  ListedTool as KeptTool,
  MemoryList as MemoryAnswer,
  ToolList,
  UsageTotals as UsageAnswer,
  WantedBudgets as BudgetChange
} from '../wire/generated';
import { type Shape, shape } from '../wire/shapes';
import { type Query, requestJson, send, withBody } from './request';

export type {
  Budget as MonthBudget,
  IndexingState as Indexing,
  LibraryDocument,
  LibraryHit as Hit,
  LibrarySummary as Library,
  Proposed as MemoryProposal,
  UsageLine as UsageRow
} from '../wire/generated';
export type { BudgetChange, KeptTool, LibraryAnswer, Memory, MemoryAnswer, SignIn, UsageAnswer };

/** Where a fact holds. */
export type Scope = Memory['scope'];

export const GROUPINGS = ['month', 'model', 'assistant', 'chat', 'run'] as const;

/** What usage is added up by. */
export type Grouping = (typeof GROUPINGS)[number];

/** A look that is repeated does not keep a server awake that is stopped when nobody uses it. */
const QUIETLY: Query = { no_track_activity: '1' };

/** What the server keeps for the agent, and what it has used. */
export class KeepingRest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  memories(query: string): Promise<MemoryAnswer> {
    return this._get(shape('MemoryList'), ['memories'], { query, ...QUIETLY });
  }

  /** Keep a fact, for the project of a notebook or for all. */
  addMemory(words: string, scope: Scope, notebook: string): Promise<void> {
    return this._send(['memories'], withBody('POST', { text: words, scope, notebook }));
  }

  changeMemory(id: string, words: string): Promise<void> {
    return this._send(['memories', id], withBody('PATCH', { text: words }));
  }

  forgetMemory(id: string): Promise<void> {
    return this._send(['memories', id], { method: 'DELETE' });
  }

  /** Use what is kept, and propose more; or neither. */
  switchMemory(isOn: boolean): Promise<void> {
    return this._send(['memory-setting'], withBody('PUT', { is_on: isOn }));
  }

  answerProposal(id: string, accept: boolean): Promise<void> {
    return this._send(['proposals', id], withBody('POST', { accept }));
  }

  library(): Promise<LibraryAnswer> {
    return this._get(shape('LibraryState'), ['library'], QUIETLY);
  }

  /** Read a file, a folder or an address; the server goes on with it after it has answered. */
  addPlace(place: string): Promise<void> {
    return this._send(['library'], withBody('POST', { place }));
  }

  /** Send a file to the server and have it read; the server goes on with it as with a place. */
  async upload(file: File): Promise<void> {
    const headers = { 'Content-Type': file.type || 'application/octet-stream' };
    const route = { path: ['files'], query: { name: file.name } };
    const init = { method: 'POST', body: file, headers };
    const { file: place, name } = await requestJson(
      this._settings,
      shape('TakenFile'),
      route,
      init
    );
    await this._send(['library'], withBody('POST', { place, name }));
  }

  /** Forget a library with all of its documents; without a name, all that are listed. */
  async forgetLibrary(id: string): Promise<void> {
    const route = { path: ['library'], query: { library: id, all: '1' } };
    await send(this._settings, route, { method: 'DELETE' });
  }

  removeDocument(id: string): Promise<void> {
    return this._send(['library', id], { method: 'DELETE' });
  }

  search(query: string): Promise<Found> {
    return this._get(shape('LibraryHits'), ['library', 'search'], { query });
  }

  usage(by: Grouping): Promise<UsageAnswer> {
    return this._get(shape('UsageTotals'), ['usage'], { by, ...QUIETLY });
  }

  setBudgets(change: BudgetChange): Promise<void> {
    return this._send(['budgets'], withBody('PUT', change));
  }

  /** The tools that were added, those of the folder of a notebook among them. */
  tools(notebook: string): Promise<ToolList> {
    return this._get(shape('ToolList'), ['tools'], { notebook, ...QUIETLY });
  }

  /** Begin to sign in to an MCP server; the list then has the address of the page to open. */
  signIn(name: string, notebook: string): Promise<void> {
    // The address under which this browser reaches the server: the person comes back to it.
    const origin = new URL(this._settings.baseUrl, location.href).href;
    return this._send(['tools', 'sign-in'], withBody('POST', { name, notebook, origin }));
  }

  async signOut(name: string, notebook: string): Promise<void> {
    const route = { path: ['tools', 'sign-in'], query: { name, notebook } };
    await send(this._settings, route, { method: 'DELETE' });
  }

  private _get<T>(answer: Shape<T>, path: readonly string[], query: Query): Promise<T> {
    return requestJson(this._settings, answer, { path, query });
  }

  private async _send(path: readonly string[], init: RequestInit): Promise<void> {
    await send(this._settings, { path }, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
