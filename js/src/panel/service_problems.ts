import type { TranslationBundle } from '@jupyterlab/translation';

import { hintHere } from '../client/problems';

/** Why a model service does not answer, in the panel's words. */
export interface ServiceProblem {
  readonly title: string;
  /** What to do next. */
  readonly action: string;
  /** In the words of the server and the service. */
  readonly detail: string;
}

/** Who was asked for what. */
export interface AskedService {
  /** What the person calls it, such as the name of a provider. */
  readonly name: string;
  readonly base_url: string;
  readonly model: string;
  readonly hasKey: boolean;
}

/** An error as the server names it. */
interface NamedError {
  /** The name of its class, as the record has it. */
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const ADDRESS_HINT = /^(?:$|Check the address)/;

export function describeProblem(
  error: NamedError,
  { name, base_url: address, model, hasKey }: AskedService,
  trans: TranslationBundle
): ServiceProblem {
  const titles: Partial<Record<string, string>> = {
    LMAccessError: hasKey
      ? trans.__('%1 refuses the key.', name)
      : trans.__('%1 wants a key.', name),
    LMQuotaError: trans.__('Your account at %1 has no credit left.', name),
    LMNotFoundError: trans.__('%1 has no model named %2.', name, model),
    LMConnectionError: trans.__('Nothing answers at %1.', address),
    LMTimeoutError: trans.__('%1 did not answer in time.', name),
    LMRateLimitError: trans.__('%1 asks to slow down.', name),
    LMServerError: trans.__('%1 has a fault of its own at the moment.', name),
    LMStreamError: trans.__('What answers at %1 is no model service.', address),
    LMToolsUnsupportedError: trans.__(
      '%1 calls no tools: it is talked with in words, and goes wrong more often.',
      model
    )
  };
  // A stream breaks at the right address, too; then the server does not point there.
  const isKnown = error.code !== 'LMStreamError' || ADDRESS_HINT.test(error.hint);
  const title = isKnown ? titles[error.code] : undefined;
  return title === undefined
    ? { title: error.message, action: ownAction(error, hasKey, trans), detail: '' }
    : { title, action: nextStep(error.code, hasKey, trans), detail: error.message };
}

/** The last sentence of a reason that says how to raise a limit in a notebook or a shell. */
const RAISING = /\s*Raise it with (?:%agent|--)[^\n]*\.$/;

/** Why a run ended, with what can be done about it here. */
export function reasonHere(cause: string, reason: string, trans: TranslationBundle): string {
  return RAISING.test(reason)
    ? [reason.replace(RAISING, ''), nextStep(cause, true, trans)].filter(Boolean).join(' ')
    : reason;
}

/** What the server says is to be done, unless it names what only a notebook or a shell has. */
export function ownAction(
  { code, hint }: Pick<NamedError, 'code' | 'hint'>,
  hasKey: boolean,
  trans: TranslationBundle
): string {
  return hintHere(hint) || (hint === '' ? '' : nextStep(code, hasKey, trans));
}

/** What to do about an error of the model service; empty: nothing that the panel knows of. */
export function nextStep(code: string, hasKey: boolean, trans: TranslationBundle): string {
  const steps: Partial<Record<string, string>> = {
    LMAccessError: hasKey
      ? trans.__('Copy the key again from your account there. It may have expired, or lack rights.')
      : trans.__('Make one in your account there and paste it above.'),
    LMQuotaError: trans.__('Add credit in your account there, or choose another provider.'),
    LMNotFoundError: trans.__('Choose another model, or check the address.'),
    LMConnectionError: trans.__('Start the server there, or check the address and the network.'),
    LMTimeoutError: trans.__('Try again: a model that is being loaded can take minutes.'),
    LMRateLimitError: trans.__('Wait a minute and try again.'),
    LMServerError: trans.__('Try again in a while.'),
    LMStreamError: trans.__('Check the address. It usually ends in /v1.'),
    LMToolsUnsupportedError: trans.__('Choose a model that can call tools.'),
    month_budget: trans.__('Raise it under More, “Memory, Library and Usage”.'),
    step_limit: trans.__('Ask it to go on: each question has limits of its own.'),
    time_limit: trans.__('Ask it to go on: each question has limits of its own.'),
    token_limit: trans.__('Ask it to go on: each question has limits of its own.'),
    cost_limit: trans.__('Ask it to go on: each question has limits of its own.'),
    store_read_only: trans.__(
      'Make that folder writable; whoever runs this server can choose another.'
    ),
    store_network: trans.__('Whoever runs this server can choose a folder on a local disk.'),
    store_newer: trans.__('Update cellwright on this server.'),
    store_failed: trans.__('Check that folder; whoever runs this server can choose another.')
  };
  return steps[code] ?? '';
}
