/** The one place that asks the server to list and change assistants, and what it answers. */
import type { ServerConnection } from '@jupyterlab/services';

import { list, nullable, number, opaque, record, text, truth } from '../wire/shapes';
import type { AssistantPlace, AssistantSummary } from './panel_rest';
import { type Query, requestJson, send, withBody } from './request';

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

const ASSISTANTS = record<AssistantsAnswer>({
  assistants: list(
    record<ListedAssistant>({
      name: text,
      description: text,
      model: text,
      is_public: truth,
      is_default: truth,
      place: text
    })
  ),
  problems: list(text),
  places: list(record<AssistantPlace>({ place: text, folder: text }))
});

export const SCENE_SHAPES = { label: text, prompt: text, when: nullable(opaque<SceneWhen>()) };

/** Of the fields that a form has as they are. */
export const DETAIL_SHAPES = {
  name: text,
  description: text,
  instructions: text,
  model: text,
  tools: nullable(list(text)),
  adapter: text,
  library: nullable(list(text)),
  is_public: truth,
  is_default: truth,
  disable_memory: truth,
  memory_for_guests: truth,
  disable_default_prompt: truth,
  disable_web_browsing: truth,
  place: text
};

export const DETAILS = record<AssistantDetails>({
  ...DETAIL_SHAPES,
  temperature: nullable(number),
  scenes: list(record<Scene>(SCENE_SHAPES)),
  file: text,
  version: text
});

const MODELS = record<{ readonly models: readonly string[] }>({ models: list(text) });

/** The assistants that the server finds for a notebook; an empty path is none. */
export class AssistantRest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  list(notebook: string): Promise<AssistantsAnswer> {
    const query: Query = { notebook, no_track_activity: '1' };
    return requestJson(this._settings, ASSISTANTS, { path: ['assistants'], query });
  }

  read(name: string, notebook: string): Promise<AssistantDetails> {
    return this._details(['assistants', name], { notebook });
  }

  /** Write the file of a new one. */
  create(fields: AssistantFields, place: string, notebook: string): Promise<AssistantDetails> {
    return this._details(['assistants'], { notebook }, withBody('POST', { place, ...fields }));
  }

  /** Change what is given and leave the rest of its file as it is; a new name renames it. */
  change(
    { name, version }: Pick<AssistantDetails, 'name' | 'version'>,
    change: Partial<AssistantFields>,
    notebook: string
  ): Promise<AssistantDetails> {
    const body = withBody('PUT', { version, ...change });
    return this._details(['assistants', name], { notebook }, body);
  }

  /** Delete its file. */
  async remove(
    { name, version }: Pick<AssistantDetails, 'name' | 'version'>,
    notebook: string
  ): Promise<void> {
    const route = { path: ['assistants', name], query: { notebook, version } };
    await send(this._settings, route, { method: 'DELETE' });
  }

  /** What the service offers. */
  async models(): Promise<readonly string[]> {
    return (await requestJson(this._settings, MODELS, { path: ['models'] })).models;
  }

  private _details(
    path: readonly string[],
    query: Query,
    init: RequestInit = {}
  ): Promise<AssistantDetails> {
    return requestJson(this._settings, DETAILS, { path, query }, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
