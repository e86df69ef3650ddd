import type { TranslationBundle } from '@jupyterlab/translation';

import { RequestError } from '../client/request';

/** What went wrong with what the person did, and what to do. */
export interface Problem {
  /** A short name for programs. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof RequestError) {
    return { code: error.code, message: error.message, hint: error.hint };
  }
  return { code: 'unexpected', message: String(error), hint: '' };
}

export function disconnectedProblem(trans: TranslationBundle): Problem {
  return {
    code: 'disconnected',
    message: trans.__('The server is not connected, so nothing was sent.'),
    hint: trans.__('Wait until the connection is back and send it again.')
  };
}
