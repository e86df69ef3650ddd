/** What is asked of the server before the panel is loaded; the rest is in `panel_rest.ts`. */
import type { ServerConnection } from '@jupyterlab/services';

import type { Health } from '../wire/generated';
import { shape } from '../wire/shapes';
import { requestJson } from './request';

/** The version of this labextension; a test holds it to package.json. */
export const VERSION = '0.1.0';

/** Ask the server extension how it is; rejects when it does not answer as it should. */
export function fetchHealth(settings: ServerConnection.ISettings): Promise<Health> {
  return requestJson(settings, shape('Health'), { path: ['health'] });
}
