import { ServerConnection } from '@jupyterlab/services';
import { describe, expect, it } from 'vitest';

import manifest from '../../../package.json?raw';
import { fetchHealth, VERSION } from '../../src/client/health';

interface Server {
  readonly settings: ServerConnection.ISettings;
  readonly requested: string[];
}

/** A server that gives every request the same answer. */
function serverAnswering(body: string, status = 200): Server {
  const requested: string[] = [];
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://127.0.0.1/hub/',
    fetch: request => {
      requested.push(request instanceof Request ? request.url : request);
      return Promise.resolve(new Response(body, { status }));
    }
  });
  return { settings, requested };
}

describe('fetchHealth', () => {
  it('gives the version that the server extension reports', async () => {
    const { settings, requested } = serverAnswering('{"version": "1.2.3"}');
    await expect(fetchHealth(settings)).resolves.toEqual({ version: '1.2.3', enabled: true });
    expect(requested).toHaveLength(1);
    expect(new URL(requested[0] ?? '').pathname).toBe('/hub/cellwright/v1/health');
  });

  it('rejects an answer that is not a success', async () => {
    const { settings } = serverAnswering('{"message": "Forbidden"}', 403);
    await expect(fetchHealth(settings)).rejects.toThrow('Forbidden');
  });

  it.each(['{}', 'null', '{"version": 3}'])('rejects %s, which has no version', async body => {
    const { settings } = serverAnswering(body);
    await expect(fetchHealth(settings)).rejects.toThrow(/^health(\.version)? is .*, not /);
  });
});

it('compares with the version of the package', () => {
  expect(JSON.parse(manifest)).toHaveProperty('version', VERSION);
});
