import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

/** Where the server extension answers, below the server's base URL. */
const ROOT = 'cellwright/v1';

/** What the server extension says about itself. */
export interface Health {
  readonly version: string;
}

function isHealth(value: unknown): value is Health {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    typeof value.version === 'string'
  );
}

/** Ask the server extension how it is; rejects when it does not answer as it should. */
export async function fetchHealth(settings: ServerConnection.ISettings): Promise<Health> {
  const url = URLExt.join(settings.baseUrl, ROOT, 'health');
  const response = await ServerConnection.makeRequest(url, {}, settings);
  if (!response.ok) {
    throw await ServerConnection.ResponseError.create(response);
  }
  const body: unknown = await response.json();
  if (!isHealth(body)) {
    throw new TypeError(`${url} answered without a version: ${JSON.stringify(body)}`);
  }
  return body;
}
