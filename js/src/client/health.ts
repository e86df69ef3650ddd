/** What is asked of the server before the panel is loaded; the rest is in `panel_rest.ts`. */
import type { ServerConnection } from '@jupyterlab/services';

import { optional, record, text, truth } from '../wire/shapes';
import { requestJson } from './request';

/** What the server extension says about itself. */
export interface Health {
  readonly version: string;
  /** False: somebody switched cellwright off; servers that cannot be switched off leave it out. */
  readonly enabled?: boolean;
}

export const HEALTH = record<Health>({ version: text, enabled: optional(truth) });

/** The version of this labextension; a test holds it to package.json. */
export const VERSION = '0.1.0';

/** Ask the server extension how it is; rejects when it does not answer as it should. */
export function fetchHealth(settings: ServerConnection.ISettings): Promise<Health> {
  return requestJson(settings, HEALTH, { path: ['health'] });
}
