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

export function forgottenProblem(trans: TranslationBundle): Problem {
  return {
    code: 'forgotten',
    message: trans.__('The server was started again, so the prompts that waited were not asked.'),
    hint: trans.__('They stand in the field again: send what you still want.')
  };
}

export function leftProblem(trans: TranslationBundle): Problem {
  return {
    code: 'left',
    message: trans.__(
      'Cells that you changed or deleted meanwhile stay as you left them: what the way did to them is not in the notebook.'
    ),
    hint: trans.__('The variables are as the way left them.')
  };
}

/** What a notebook or a shell is told to set or type. */
const ELSEWHERE = /CELLWRIGHT_|_API_KEY|%agent|\bcellwright \w+ --|(^|\s)-m\b/;

/** What is to be done, without the sentences that name what only a notebook or a shell has. */
export function hintHere(hint: string): string {
  const sentences = hint.split(/(?<=[.!?])\s+/);
  return sentences.filter(sentence => !ELSEWHERE.test(sentence)).join(' ');
}

/** Why something could not be read or done, and what to do about it, in words for the person. */
export function complaintOf(error: unknown): string {
  if (error instanceof RequestError) {
    return [error.message, hintHere(error.hint)].filter(text => text !== '').join(' ');
  }
  return messageOf(error);
}

/** What an error says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
