/** What the routes about assistants take and answer. */
import type { AssistantPlace, AssistantSummary } from '../../server/answers';

/** When a scene is chosen; the file says it, the page only shows it. */
export type SceneWhen = Readonly<Record<string, unknown>>;

export interface Scene {
  readonly label: string;
  readonly prompt: string;
  /** Null: the label says when. */
  readonly when: SceneWhen | null;
}

/** What can be said of an assistant. */
export interface AssistantFields {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** Empty: the set one. */
  readonly model: string;
  /** Null: the provider's default. */
  readonly temperature: number | null;
  /** Names or patterns; null: all. */
  readonly tools: readonly string[] | null;
  /** How the model is talked with at first; empty: as it is set. */
  readonly adapter: string;
  /** Names, places or patterns of documents; null: all. */
  readonly library: readonly string[] | null;
  readonly is_public: boolean;
  readonly is_default: boolean;
  readonly disable_memory: boolean;
  /** Guests who ask it are told what its owner had remembered. */
  readonly memory_for_guests: boolean;
  readonly disable_default_prompt: boolean;
  readonly disable_web_browsing: boolean;
  readonly scenes: readonly Scene[];
}

export interface AssistantDetails extends AssistantFields {
  readonly place: string;
  /** Where it is written, as it is shown. */
  readonly file: string;
  /** Another one: the file was changed meanwhile. */
  readonly version: string;
}

/** The assistants of a notebook. */
export interface AssistantsAnswer {
  readonly assistants: readonly ListedAssistant[];
  readonly problems: readonly string[];
  /** Where one can be written; guests can write none. */
  readonly places: readonly AssistantPlace[];
}

export interface ListedAssistant extends AssistantSummary {
  readonly is_public: boolean;
  readonly is_default: boolean;
  /** `notebook`, `root` or `own`. */
  readonly place: string;
}
