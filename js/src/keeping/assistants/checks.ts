/** What is wrong with what was typed, told before the server is asked. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { AssistantPlace } from '../../server/answers';
import type { ListedAssistant } from './answers';
import { type AssistantDraft, temperatureIn } from './draft';

/** Most characters of a field. */
export const LIMITS = {
  name: 255,
  description: 255,
  instructions: 8000,
  model: 200,
  label: 20,
  prompt: 512
} as const;

export const MOST_SCENES = 10;

const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_ .-]*$/u;

/** What is wrong, by the field that it is about; of a scene, `label 0` or `prompt 0` by its key. */
export type Complaints = Readonly<Partial<Record<string, string>>>;

/** Among what an assistant is, or is going to be. */
export interface FormSurroundings {
  readonly assistants: readonly ListedAssistant[];
  readonly places: readonly AssistantPlace[];
  /** What it was called before; empty: it is new. */
  readonly name: string;
}

/** As people count them. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

/**
 * What is wrong with a draft.
 *
 * @param isTried - The person wants to save it: what is missing is named too.
 */
export function complaintsAbout(
  draft: AssistantDraft,
  around: FormSurroundings,
  isTried: boolean,
  trans: TranslationBundle
): Complaints {
  const temperature = temperatureIn(draft.temperature);
  const found: Record<string, string> = {
    name: nameComplaint(draft, around, isTried, trans),
    description: lengthComplaint(draft.description.trim(), LIMITS.description, trans),
    instructions: lengthComplaint(draft.instructions, LIMITS.instructions, trans),
    model: lengthComplaint(draft.model.trim(), LIMITS.model, trans),
    temperature: Number.isNaN(temperature) ? trans.__('A number from 0.1 to 1, or nothing.') : ''
  };
  for (const { key, label, prompt } of draft.scenes) {
    const labels = draft.scenes.filter(scene => scene.label.trim() === label.trim());
    found[`label ${String(key)}`] =
      missing(label, isTried, trans) ||
      lengthComplaint(label.trim(), LIMITS.label, trans) ||
      (label.trim() !== '' && labels.length > 1
        ? trans.__('There are two scenes with this label.')
        : '');
    found[`prompt ${String(key)}`] =
      missing(prompt, isTried, trans) || lengthComplaint(prompt.trim(), LIMITS.prompt, trans);
  }
  return Object.fromEntries(Object.entries(found).filter(([, words]) => words !== ''));
}

function nameComplaint(
  draft: AssistantDraft,
  { assistants, name: before }: FormSurroundings,
  isTried: boolean,
  trans: TranslationBundle
): string {
  const name = draft.name.trim();
  if (name === '') {
    return missing(name, isTried, trans);
  }
  if (!NAME.test(name)) {
    return trans.__(
      'Letters, digits, "-", "_", "." and blanks, the first one a letter or a digit.'
    );
  }
  const isTaken = assistants.some(
    other => other.place === draft.place && other.name === name && name !== before
  );
  return isTaken
    ? trans.__('There is an assistant of this name in this place.')
    : lengthComplaint(name, LIMITS.name, trans);
}

/** Where another one of the same name lies, which counts before it or after it; empty: nowhere. */
export function namesakePlace(draft: AssistantDraft, around: FormSurroundings): string {
  const name = draft.name.trim();
  const other = around.assistants.find(listed => listed.name === name && name !== around.name);
  return other === undefined || other.place === draft.place ? '' : other.place;
}

function missing(text: string, isTried: boolean, trans: TranslationBundle): string {
  return isTried && text.trim() === '' ? trans.__('This is needed.') : '';
}

function lengthComplaint(text: string, limit: number, trans: TranslationBundle): string {
  const length = lengthOf(text);
  return length > limit
    ? trans.__('%1 characters, at most %2 are allowed.', counted(length), counted(limit))
    : '';
}

/** `8,000`. */
export function counted(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',');
}
