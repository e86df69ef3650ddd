/** Files of assistants on a server, in small. */
import type { AssistantDetails, AssistantFields } from '../../../src/client/assistants_rest';
import type { AssistantPlace } from '../../../src/client/panel_rest';
import type { FakeRequest, FakeServer } from '../../fake_socket';

export function details(name: string, change: Partial<AssistantDetails> = {}): AssistantDetails {
  return {
    name,
    description: `Does ${name}`,
    instructions: 'Be careful.',
    model: '',
    temperature: null,
    effort: '',
    parameters: {},
    tools: null,
    adapter: '',
    library: null,
    is_public: false,
    is_default: false,
    disable_memory: false,
    memory_for_guests: false,
    disable_default_prompt: false,
    disable_web_browsing: false,
    scenes: [],
    place: 'notebook',
    file: `work/.cellwright/assistants/${name}.toml`,
    version: 'v1',
    ...change
  };
}

/** What the server has; it changes as it is asked to. */
export class KeptAssistants {
  files: AssistantDetails[] = [details('reviewer'), details('writer', { place: 'own' })];
  problems: string[] = [];
  places: AssistantPlace[] = [
    { place: 'notebook', folder: 'work/.cellwright/assistants' },
    { place: 'root', folder: '.cellwright/assistants' },
    { place: 'own', folder: '~/.cellwright/assistants' }
  ];
  models = ['gpt-5.6', 'qwen3-coder'];

  /** Somebody writes the file of one while a form is open. */
  touch(name: string, change: Partial<AssistantDetails>): void {
    this._put(name, { ...change, version: `v${String(++this._versions)}` });
  }

  serve(server: FakeServer): void {
    this._server = server;
    const { routes } = server;
    routes.set('GET assistants', () => ({
      assistants: this.files.map(
        ({ name, description, model, scenes, is_public, is_default, place }) => ({
          ...{ name, description, model, is_public, is_default, place },
          scenes: scenes.map(({ label }) => label)
        })
      ),
      problems: this.problems,
      places: this.places
    }));
    routes.set('POST assistants', ({ body }) => {
      const { name, ...fields } = JSON.parse(body) as AssistantFields;
      if (this._find(name) !== undefined) {
        return Response.json({ message: `There is one of the name '${name}'.` }, { status: 409 });
      }
      this.files = [...this.files, details(name, fields)];
      this._serveFiles();
      return Response.json(details(name, fields), { status: 201 });
    });
    routes.set('GET models', () => ({ models: this.models }));
    this._serveFiles();
  }

  private _serveFiles(): void {
    for (const { name } of this.files) {
      const routes = this._server?.routes;
      routes?.set(`GET assistants/${name}`, () => this._find(name) ?? gone(name));
      routes?.set(`PUT assistants/${name}`, request => this._change(name, request));
      routes?.set(`DELETE assistants/${name}`, ({ query }) => {
        if (this._find(name)?.version !== query.get('version')) {
          return changed();
        }
        this.files = this.files.filter(file => file.name !== name);
        return new Response(null, { status: 204 });
      });
    }
  }

  private _change(name: string, { body }: FakeRequest): AssistantDetails | Response {
    const file = this._find(name);
    const { version, ...fields } = JSON.parse(body) as Partial<AssistantDetails>;
    if (file === undefined) {
      return gone(name);
    }
    if (file.version !== version) {
      return changed();
    }
    this.touch(name, fields);
    this._serveFiles();
    return this._find(fields.name ?? name) ?? gone(name);
  }

  private _put(name: string, change: Partial<AssistantDetails>): void {
    this.files = this.files.map(file => (file.name === name ? { ...file, ...change } : file));
  }

  private _find(name: string): AssistantDetails | undefined {
    return this.files.find(file => file.name === name);
  }

  private _versions = 1;
  private _server: FakeServer | null = null;
}

function gone(name: string): Response {
  return Response.json({ message: `There is no assistant '${name}'.` }, { status: 404 });
}

function changed(): Response {
  const body = { code: 'changed', message: 'The file was changed meanwhile.' };
  return Response.json(body, { status: 409 });
}
