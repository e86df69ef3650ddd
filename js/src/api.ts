/** What is asked of the server before the panel is loaded; the rest is in `server/rest.ts`. */
import type { ServerConnection } from '@jupyterlab/services';

import type { Health } from './server/answers';
import { requestJson } from './server/request';
import { HEALTH } from './server/health';

/** Ask the server extension how it is; rejects when it does not answer as it should. */
export function fetchHealth(settings: ServerConnection.ISettings): Promise<Health> {
  return requestJson(settings, HEALTH, { path: ['health'] });
}
