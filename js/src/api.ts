/** What talks to the server: requests here, the one WebSocket of a tab in `server/socket.ts`. */
import type { ServerConnection } from '@jupyterlab/services';

import type { Health } from './server/answers';
import { Rest } from './server/rest';

export { RequestError } from './server/request';
export { Rest } from './server/rest';
export { ServerSocket } from './server/socket';

/** Ask the server extension how it is; rejects when it does not answer as it should. */
export function fetchHealth(settings: ServerConnection.ISettings): Promise<Health> {
  return new Rest(settings).health();
}
