import { beforeEach, describe, expect, it } from 'vitest';

import { RequestError } from '../../src/client/request';
import { Rest } from '../../src/client/panel_rest';
import { FakeServer } from '../fake_socket';

const SERVICE = {
  model: 'demo',
  base_url: '',
  has_key: false,
  key_source: '',
  is_demo: true,
  notice: '',
  mode: 'ask',
  modes: ['plan', 'ask'],
  models_allowed: [],
  endpoints_locked: false,
  recording: true,
  warnings: []
};

const CHAT = { id: 'c1', title: 'T', notebook_path: 'a.ipynb', updated_at: 12.5, runs: 3 };

const NOTE = { id: 'n', role: 'user_later', text: 'Mind the unit.' };

const CELL = {
  cell_id: 'x',
  source: '1',
  cell_type: 'code',
  after: '',
  outputs: [{ output_type: 'stream' }],
  execution_count: 2
};

let server: FakeServer;
let rest: Rest;

beforeEach(() => {
  server = new FakeServer();
  rest = new Rest(server.settings);
});

async function errorOf(promise: Promise<unknown>): Promise<RequestError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason
  );
  if (!(error instanceof RequestError)) {
    throw new Error(`not refused: ${String(error)}`);
  }
  return error;
}

describe('each route', () => {
  const calls: [string, object, (rest: Rest) => Promise<unknown>][] = [
    ['GET service', SERVICE, it => it.service()],
    ['PUT service', SERVICE, it => it.changeService({ model: 'm' })],
    [
      'POST service/test',
      [{ name: 'n', status: 'ok', text: 't', action: '' }],
      it => it.tryService({ model: 'm' })
    ],
    [
      'POST models',
      { models: ['m'] },
      it => it.modelsOf({ api_key: 'k' }).then(models => ({ models }))
    ],
    [
      'GET providers',
      { providers: [], any_address: true, set_model: '', new_key_place: 'file' },
      it => it.providers()
    ],
    ['GET chats', [CHAT, { ...CHAT, run: 'r' }], it => it.chats('a.ipynb', 'why?')],
    ['POST chats', CHAT, it => it.newChat('a.ipynb')],
    ['PUT chats/c1/pins/r1', { ...CHAT, pins: ['r1'] }, it => it.setPinned('c1', 'r1', true)],
    [
      'DELETE chats/c1/pins/r1',
      { ...CHAT, pins: [], text_filters: ['line_ends'] },
      it => it.setPinned('c1', 'r1', false)
    ],
    [
      'POST files',
      { file: 'f', name: 'n', size_bytes: 1, mime: 'm' },
      it => it.uploadFile(new Blob(['x']), 'n')
    ],
    [
      'GET kernels/k/variables',
      [{ name: 'df', type: 'DataFrame', text: '2 rows' }],
      it => it.variables('k')
    ],
    ['GET runs/r/cells', [{ ...CELL, fate: '' }], it => it.runCells('r')],
    [
      'GET assistants',
      { assistants: [{ name: 'a', description: '', model: '' }], problems: ['b.toml: no'] },
      it => it.assistants('a.ipynb')
    ],
    ['POST chats/c1/messages', NOTE, it => it.addNote('c1', 'Mind the unit.')],
    [
      'GET notebooks/missing',
      [{ run: 'r', chat: 'c', cells: [CELL] }],
      it => it.missing('a.ipynb', 'tab-1')
    ]
  ];

  it.each(calls)('gives what %s answers', async (route, answer, call) => {
    server.routes.set(route, () => answer);
    await expect(call(rest)).resolves.toMatchObject(answer);
  });

  it.each(calls)('does not believe %s when it answers something else', async (route, _, call) => {
    server.routes.set(route, () => ({ surprise: 1 }));
    const error = await errorOf(call(rest));
    expect(error.code).toBe('bad_answer');
  });

  it('asks for what waits in a chat and takes it back', async () => {
    server.routes.set('GET chats/c1/messages', () => ({ chat: 'c1', waiting: [NOTE] }));
    server.routes.set('DELETE chats/c1/messages/n', () => ({}));
    await expect(rest.waitingNotes('c1')).resolves.toEqual([NOTE]);
    await rest.takeNote('c1', 'n');
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'DELETE']);
    expect(server.requests[0]?.query.get('waiting')).toBe('1');
  });

  it('unpacks the models and the text of a variable', async () => {
    server.routes.set('GET models', () => ({ models: ['a', 'b'] }));
    server.routes.set('GET kernels/k/variables/df', () => ({ text: '2 rows' }));
    await expect(rest.models()).resolves.toEqual(['a', 'b']);
    await expect(rest.variable('k', 'df')).resolves.toBe('2 rows');
  });

  it('sends what changes as JSON', async () => {
    const nothing = (): Response => new Response(null, { status: 204 });
    server.routes.set('PATCH chats/c1', nothing);
    server.routes.set('DELETE chats/c1', nothing);
    server.routes.set('POST runs/r1/fates', nothing);
    await rest.changeChat('c1', { title: 'New' });
    await rest.deleteChat('c1');
    await rest.reportFates('r1', { x: 'saved' });
    expect(server.requests.map(({ body }) => body)).toEqual([
      '{"title":"New"}',
      '',
      '{"fates":{"x":"saved"}}'
    ]);
  });

  it('keeps names with slashes and questions in one part of the address', async () => {
    const asked: string[] = [];
    server.routes.set('GET kernels/k/variables/a/b?', request => {
      asked.push(request.path);
      return { text: '' };
    });
    await rest.variable('k', 'a/b?');
    expect(asked).toEqual(['kernels/k/variables/a/b?']);
  });

  it('leaves conditions that are empty out', async () => {
    server.routes.set('GET chats', () => []);
    await rest.chats('');
    expect(server.requests[0]?.query.has('notebook')).toBe(false);
    expect(server.requests[0]?.query.has('query')).toBe(false);
  });

  it('gives an exported chat as a file', async () => {
    server.routes.set('GET chats/c1/export', ({ query }) => new Response(query.get('to')));
    const blob = await rest.exportChat('c1', 'markdown');
    expect(await blob.text()).toBe('markdown');
  });
});

describe('a refusal', () => {
  it('carries what happened and what to do', async () => {
    const body = { message: 'The kernel is busy.', hint: 'Wait.', code: 'busy' };
    server.routes.set('GET kernels/k/variables', () => Response.json(body, { status: 409 }));
    const error = await errorOf(rest.variables('k'));
    expect(error).toMatchObject({ status: 409, code: 'busy', hint: 'Wait.' });
    expect(error.message).toBe('The kernel is busy.');
  });

  it('says the status when the server says nothing', async () => {
    server.routes.set('GET service', () => new Response('<html>', { status: 502 }));
    const error = await errorOf(rest.service());
    expect(error.message).toContain('502');
    expect(error.hint).toBe('');
  });

  it('is told apart from an answer that is no JSON', async () => {
    server.routes.set('GET service', () => new Response('<html>'));
    expect((await errorOf(rest.service())).code).toBe('bad_answer');
  });

  it('is told apart from a network that is down', async () => {
    const down = (): Promise<Response> => Promise.reject(new TypeError('no route'));
    const error = await errorOf(new Rest({ ...server.settings, fetch: down }).service());
    expect(error).toMatchObject({ status: 0, code: 'network' });
    expect(error.message).toBe('The Jupyter server does not answer.');
    expect(error.hint).toContain('then try again');
  });

  it('names the field that is wrong', async () => {
    server.routes.set('GET service', () => ({ ...SERVICE, modes: ['ask', 'yolo'] }));
    const error = await errorOf(rest.service());
    expect(error.message).toBe('service.modes[1] is "yolo", not one of plan, ask, edits, auto');
  });
});
