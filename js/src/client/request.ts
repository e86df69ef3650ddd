import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { isObject, type Shape } from '../wire/shapes';

/** Where the server extension answers, below the server's base URL. */
const ROOT = 'cellwright/v1';

const UNREACHED = 'The Jupyter server does not answer.';
const UNREACHED_HINT = 'See whether it still runs and whether you are connected, then try again.';

/** The server refused a request, was not reached, or answered what nobody understands. */
export class RequestError extends Error {
  /**
   * @param status - The HTTP status; 0: no answer came.
   * @param code - A short name for programs; empty: none.
   * @param message - What happened, for the person.
   * @param hint - What to do next; may be empty.
   */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string
  ) {
    super(message);
    this.name = 'RequestError';
  }
}

export type Query = Readonly<Record<string, string>>;

/** Where a request goes: names of the path, each taken as it is, and what to ask for. */
export interface Route {
  readonly path: readonly string[];
  readonly query?: Query;
}

/** Send a request and give the response of a success. */
export async function send(
  settings: ServerConnection.ISettings,
  route: Route,
  init: RequestInit = {}
): Promise<Response> {
  const path = route.path.map(encodeURIComponent).join('/');
  const url = URLExt.join(settings.baseUrl, ROOT, path) + queryOf(route.query);
  let response: Response;
  try {
    response = await ServerConnection.makeRequest(url, init, settings);
  } catch {
    // What the browser says of it differs from browser to browser, and tells nobody what to do.
    throw new RequestError(0, 'network', UNREACHED, UNREACHED_HINT);
  }
  if (!response.ok) {
    throw await refusal(response);
  }
  return response;
}

/** Send a request and give its answer, when it is what it should be. */
export async function requestJson<T>(
  settings: ServerConnection.ISettings,
  shape: Shape<T>,
  route: Route,
  init: RequestInit = {}
): Promise<T> {
  const response = await send(settings, route, init);
  const name = route.path.join('/');
  let answer: unknown;
  try {
    answer = await response.json();
  } catch (error) {
    throw new RequestError(response.status, 'bad_answer', `${name}: ${String(error)}`, '');
  }
  const complaint = shape(answer, name);
  if (complaint !== '') {
    throw new RequestError(response.status, 'bad_answer', complaint, '');
  }
  return answer as T;
}

/** What makes a request that changes something. */
export function withBody(method: 'POST' | 'PUT' | 'PATCH', body: object): RequestInit {
  return { method, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
}

function queryOf(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

async function refusal(response: Response): Promise<RequestError> {
  const body: unknown = await response.json().catch(() => null);
  const said = (name: string): string => {
    const value = isObject(body) ? body[name] : null;
    return typeof value === 'string' ? value : '';
  };
  const message = said('message') || `${String(response.status)} ${response.statusText}`;
  return new RequestError(response.status, said('code'), message, said('hint'));
}
