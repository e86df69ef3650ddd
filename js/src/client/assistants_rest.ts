/** The one place that asks the server to list and change assistants, and what it answers. */
import type { ServerConnection } from '@jupyterlab/services';

import type {
  AssistantDetails,
  AssistantSummaries as AssistantsAnswer,
  JsonObject
} from '../wire/generated';
import { shape } from '../wire/shapes';
import { type Query, requestJson, send, withBody } from './request';

export type { AssistantSummary as ListedAssistant, SceneDetails as Scene } from '../wire/generated';
export type { AssistantDetails, AssistantsAnswer };

/** When a scene is chosen; the file says it, the page only shows it. */
export type SceneWhen = JsonObject;

/** What can be said of an assistant. */
export type AssistantFields = Omit<AssistantDetails, 'place' | 'file' | 'version'>;

/** The assistants that the server finds for a notebook; an empty path is none. */
export class AssistantRest {
  constructor(settings: ServerConnection.ISettings) {
    this._settings = settings;
  }

  list(notebook: string): Promise<AssistantsAnswer> {
    const query: Query = { notebook, no_track_activity: '1' };
    return requestJson(this._settings, shape('AssistantSummaries'), {
      path: ['assistants'],
      query
    });
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
    return (await requestJson(this._settings, shape('Models'), { path: ['models'] })).models;
  }

  private _details(
    path: readonly string[],
    query: Query,
    init: RequestInit = {}
  ): Promise<AssistantDetails> {
    return requestJson(this._settings, shape('AssistantDetails'), { path, query }, init);
  }

  private readonly _settings: ServerConnection.ISettings;
}
