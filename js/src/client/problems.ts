import type { TranslationBundle } from '@jupyterlab/translation';

import { RequestError } from './request';

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

/** Why something could not be read or done, and what to do about it, in words for the person. */
export function complaintOf(error: unknown): string {
  if (error instanceof RequestError) {
    return [error.message, error.hint].filter(text => text !== '').join(' ');
  }
  return String(error);
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
