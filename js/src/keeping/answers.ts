/** What the routes about memory, library, usage and tools answer. */

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
