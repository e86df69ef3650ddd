/** The one place that asks the server about memory, library, usage and tools; its answers. */
import type { ServerConnection } from '@jupyterlab/services';

import {
  list,
  nullable,
  number,
  oneOf,
  optional,
  record,
  type Shape,
  text,
  truth
} from '../wire/shapes';
import { type Query, requestJson, send, withBody } from './request';

// What the routes about memory, library, usage and tools answer.

/** Where a fact holds. */
export type Scope = 'user' | 'project';

/** A fact that the agent is given in later chats. */
export interface Memory {
  readonly id: string;
  readonly text: string;
  readonly scope: Scope;
  /** Name of the folder it is kept for; empty or left out: it is not told. */
  readonly folder?: string | undefined;
  readonly created_at: number;
  readonly updated_at: number;
  /** The run it comes from; empty: a person wrote it. */
  readonly source_run: string;
}

/** What the agent would like to remember, change or forget. */
export interface MemoryProposal {
  readonly id: string;
  readonly action: 'add' | 'update' | 'delete';
  readonly text: string;
  /** Which fact it changes; empty: none. */
  readonly memory_id: string;
  readonly reason: string;
  readonly source_run: string;
  readonly created_at: number;
}

export interface MemoryAnswer {
  readonly memories: readonly Memory[];
  readonly proposals: readonly MemoryProposal[];
  /** False: nothing that is kept is used. */
  readonly is_on?: boolean | undefined;
}

/** A document that answers are looked up in. */
export interface LibraryDocument {
  readonly id: string;
  readonly name: string;
  /** A path or an address; empty: it was uploaded. */
  readonly place: string;
  readonly kind: string;
  readonly chunks: number;
  /** It is found by meaning too, not only by its words. */
  readonly is_embedded: boolean;
  readonly indexed_at: number;
  /** Why it could not be read; empty: it could. */
  readonly problem: string;
}

/** How far the reading of new documents is. */
export interface Indexing {
  readonly done: number;
  readonly total: number;
  readonly name: string;
}

/** A library of this folder's projects. */
export interface Library {
  readonly id: string;
  readonly name: string;
  /** The folder of its project; empty or `.`: the server's own. */
  readonly place: string;
  readonly is_default: boolean;
  readonly documents: number;
}

export interface LibraryAnswer {
  readonly documents: readonly LibraryDocument[];
  /** Left out by an older server. */
  readonly libraries?: readonly Library[] | undefined;
  /** Null: nothing is being read. */
  readonly indexing: Indexing | null;
}

/** A passage that fits a question. */
export interface Hit {
  readonly number: number;
  readonly document_id: string;
  readonly name: string;
  readonly place: string;
  readonly heading: string;
  /** Where in the document, such as `line 12`, `cell 3f2a`, `page 4`; empty: its start. */
  readonly anchor?: string | undefined;
  readonly text: string;
  readonly score: number;
}

export const GROUPINGS = ['month', 'model', 'assistant', 'chat', 'run'] as const;

/** What usage is added up by. */
export type Grouping = (typeof GROUPINGS)[number];

export interface UsageRow {
  readonly key: string;
  readonly label: string;
  readonly runs: number;
  readonly calls: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** Null: the price of a model is not known. */
  readonly cost_dollars: number | null;
}

/** A limit of a month, in dollars or in tokens. */
export interface MonthBudget {
  readonly name: string;
  readonly limit_dollars?: number | null | undefined;
  readonly limit_tokens?: number | null | undefined;
  readonly used: number;
  readonly month: string;
  /** Calls that a limit in dollars does not see: their price is not known. */
  readonly unpriced_calls?: number | undefined;
}

export interface UsageAnswer {
  readonly rows: readonly UsageRow[];
  readonly budgets: readonly MonthBudget[];
}

/** What to set; 0: no limit. */
export interface BudgetChange {
  readonly month_dollars?: number;
  readonly month_tokens?: number;
}

/** A tool that the agent may use. */
export interface KeptTool {
  readonly name: string;
  readonly kind: string;
  readonly source: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly problem: string;
}

/** A look that is repeated does not keep a server awake that is stopped when nobody uses it. */
const QUIETLY: Query = { no_track_activity: '1' };

const MEMORIES = record<MemoryAnswer>({
  memories: list(
    record<Memory>({
      id: text,
      text,
      scope: oneOf('user', 'project'),
      folder: optional(text),
      created_at: number,
      updated_at: number,
      source_run: text
    })
  ),
  proposals: list(
    record<MemoryProposal>({
      id: text,
      action: oneOf('add', 'update', 'delete'),
      text,
      memory_id: text,
      reason: text,
      source_run: text,
      created_at: number
    })
  ),
  is_on: optional(truth)
});

const LIBRARY = record<LibraryAnswer>({
  documents: list(
    record<LibraryDocument>({
      id: text,
      name: text,
      place: text,
      kind: text,
      chunks: number,
      is_embedded: truth,
      indexed_at: number,
      problem: text
    })
  ),
  libraries: optional(
    list(
      record<Library>({
        id: text,
        name: text,
        place: text,
        is_default: truth,
        documents: number
      })
    )
  ),
  indexing: nullable(record<Indexing>({ done: number, total: number, name: text }))
});

/** A file that was uploaded, as far as it matters here. */
const UPLOADED = record<{ readonly file: string; readonly name: string }>({
  file: text,
  name: text
});

/** What fits some words. */
interface Found {
  readonly hits: readonly Hit[];
  /** What stood in the way of a better search; empty or left out: nothing. */
  readonly problem?: string | undefined;
}

const HITS = record<Found>({
  hits: list(
    record<Hit>({
      number,
      document_id: text,
      name: text,
      place: text,
      heading: text,
      anchor: optional(text),
      text,
      score: number
    })
  ),
  problem: optional(text)
});

const USAGE = record<UsageAnswer>({
  rows: list(
    record<UsageRow>({
      key: text,
      label: text,
      runs: number,
      calls: number,
      input_tokens: number,
      cached_tokens: number,
      output_tokens: number,
      cost_dollars: nullable(number)
    })
  ),
  budgets: list(
    record<MonthBudget>({
      name: text,
      limit_dollars: optional(nullable(number)),
      limit_tokens: optional(nullable(number)),
      used: number,
      month: text,
      unpriced_calls: optional(number)
    })
  )
});

const TOOLS = record<{ readonly tools: readonly KeptTool[] }>({
  tools: list(
    record<KeptTool>({
      name: text,
      kind: text,
      source: text,
      description: text,
      enabled: truth,
      problem: text
    })
  )
});

/** What the server keeps for the agent, and what it has used. */
export class KeepingRest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  memories(query: string): Promise<MemoryAnswer> {
    return this._get(MEMORIES, ['memories'], { query, ...QUIETLY });
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
    return this._get(LIBRARY, ['library'], QUIETLY);
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
    const { file: place, name } = await requestJson(this._settings, UPLOADED, route, init);
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
    return this._get(HITS, ['library', 'search'], { query });
  }

  usage(by: Grouping): Promise<UsageAnswer> {
    return this._get(USAGE, ['usage'], { by, ...QUIETLY });
  }

  setBudgets(change: BudgetChange): Promise<void> {
    return this._send(['budgets'], withBody('PUT', change));
  }

  /** The tools that were added, those of the folder of a notebook among them. */
  async tools(notebook: string): Promise<readonly KeptTool[]> {
    return (await this._get(TOOLS, ['tools'], { notebook, ...QUIETLY })).tools;
  }

  private _get<T>(shape: Shape<T>, path: readonly string[], query: Query): Promise<T> {
    return requestJson(this._settings, shape, { path, query });
  }

  private async _send(path: readonly string[], init: RequestInit): Promise<void> {
    await send(this._settings, { path }, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
