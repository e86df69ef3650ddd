/** What the REST routes answer. */
import type { JsonObject, VariableSummary } from '../events';
import type { Mode, WireCell } from './frames';

/** What the server extension says about itself. */
export interface Health {
  readonly version: string;
  /** False: somebody switched cellwright off; servers that cannot be switched off leave it out. */
  readonly enabled?: boolean;
}

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
  readonly warnings: readonly string[];
}

/** What to change of the service; an empty key is forgotten. */
export interface ServiceChange {
  readonly model?: string;
  readonly base_url?: string;
  readonly api_key?: string;
}

/** One finding of the service test. */
export interface ServiceCheck {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'blocked';
  readonly text: string;
  readonly action: string;
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
}

/** What waits in a chat for its next question. */
export interface WaitingNote {
  readonly id: string;
  /** `user_later`, or `system` and `assistant` where another program brought it. */
  readonly role: string;
  readonly text: string;
}

/** Instructions, a model and tools under a name. */
export interface AssistantSummary {
  readonly name: string;
  readonly description: string;
  /** Empty: the set one. */
  readonly model: string;
  /** It answers where no other is chosen. */
  readonly is_default?: boolean | undefined;
}

/** An assistant that does not answer, because its file cannot be read. */
export interface UnusableAssistant {
  readonly name: string;
  /** What asking it is answered with. */
  readonly problem: string;
  /** As it is shown; empty for guests. */
  readonly file: string;
}

/** A folder that assistants are written in. */
export interface AssistantPlace {
  /** `notebook`, `root` or `own`. */
  readonly place: string;
  /** As it is shown. */
  readonly folder: string;
}

export interface AssistantChoices {
  readonly assistants: readonly AssistantSummary[];
  /** What is wrong with the files of others. */
  readonly problems: readonly string[];
  /** Where one can be written; left out by an older server, which writes none. */
  readonly places?: readonly AssistantPlace[] | undefined;
  /** Left out by an older server. */
  readonly unusable?: readonly UnusableAssistant[] | undefined;
}

export interface UploadedFile {
  /** What a context item names it by. */
  readonly file: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly mime: string;
  /** Name of the library that would take it; empty or left out: none. */
  readonly library?: string;
}

/** Where a file is uploaded: what decides which library would take it. */
export interface UploadPlace {
  /** Path of the chat's notebook; empty: none. */
  readonly notebook: string;
  /** Name of the assistant that answers; empty: none was chosen. */
  readonly assistant: string;
}

/** An uploaded file that goes into a library. */
export interface NewDocument {
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

export interface ContextPart {
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

export type { VariableSummary };
