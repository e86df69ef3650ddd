/** What a person has typed about an assistant, and what of it is new. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type {
  AssistantDetails,
  AssistantFields,
  ListedAssistant,
  Scene
} from '../../client/assistants_rest';
import type { AssistantPlace } from '../../client/panel_rest';

/** From the lowest to the highest that every model with a temperature takes. */
const TEMPERATURES = [0.1, 1] as const;

/** How a model can be talked with at first; empty: as it is set. */
export const ADAPTERS = ['', 'native', 'chat', 'json', 'xml'] as const;

export interface SceneDraft extends Scene {
  /** Stays the same while it is typed in. */
  readonly key: number;
}

/** All fields as they are typed. */
export interface AssistantDraft extends Omit<AssistantFields, 'temperature' | 'scenes'> {
  readonly temperature: string;
  readonly scenes: readonly SceneDraft[];
  /** Where a new one is written. */
  readonly place: string;
}

/** A field that can be changed. */
export type FieldName = keyof AssistantFields;

const EMPTY: AssistantFields = {
  name: '',
  description: '',
  instructions: '',
  model: '',
  temperature: null,
  effort: '',
  parameters: {},
  tools: null,
  adapter: '',
  library: null,
  is_public: false,
  is_default: false,
  disable_memory: false,
  memory_for_guests: false,
  disable_default_prompt: false,
  disable_web_browsing: false,
  scenes: []
};

export const FIELDS = Object.keys(EMPTY) as readonly FieldName[];

/** Nothing typed yet. */
export function emptyDraft(place: string): AssistantDraft {
  return draftOf({ ...EMPTY, place });
}

/** How what the server has looks in the form. */
export function draftOf(
  details: AssistantFields & Pick<AssistantDetails, 'place'>
): AssistantDraft {
  const { temperature, scenes, place } = details;
  return {
    ...fieldsOf({ ...details, temperature: '', scenes: [] }),
    temperature: temperature === null ? '' : String(temperature),
    scenes: scenes.map(({ label, prompt, when }, key) => ({ key, label, prompt, when })),
    place
  };
}

/** What the server is to have. */
export function fieldsOf(draft: AssistantDraft): AssistantFields {
  return {
    name: draft.name.trim(),
    description: draft.description.trim(),
    instructions: draft.instructions,
    model: draft.model.trim(),
    temperature: clamped(temperatureIn(draft.temperature)),
    effort: draft.effort.trim(),
    parameters: draft.parameters,
    tools: draft.tools,
    adapter: draft.adapter,
    library: draft.library,
    is_public: draft.is_public,
    is_default: draft.is_default,
    disable_memory: draft.disable_memory,
    memory_for_guests: draft.memory_for_guests,
    disable_default_prompt: draft.disable_default_prompt,
    disable_web_browsing: draft.disable_web_browsing,
    scenes: draft.scenes.map(({ label, prompt, when }) => ({
      label: label.trim(),
      prompt: prompt.trim(),
      when
    }))
  };
}

/** Null: none was typed; NaN: what was typed is none. */
export function temperatureIn(text: string): number | null {
  const typed = text.trim().replace(',', '.');
  return typed === '' ? null : Number(typed);
}

/** The nearest one that counts. */
export function clamped(temperature: number | null): number | null {
  const [least, most] = TEMPERATURES;
  return temperature === null ? null : Math.min(most, Math.max(least, temperature));
}

/** The fields in which `mine` differs from `base`. */
export function changeOf(base: AssistantDraft, mine: AssistantDraft): Partial<AssistantFields> {
  const [before, after] = [fieldsOf(base), fieldsOf(mine)];
  const changed = FIELDS.filter(field => !isSame(before[field], after[field]));
  return Object.fromEntries(changed.map(field => [field, after[field]]));
}

export function isChanged(base: AssistantDraft, mine: AssistantDraft): boolean {
  return FIELDS.some(field => !isSame(raw(base, field), raw(mine, field)));
}

/** What was typed in the fields that a person changed, what the server has now in all others. */
export function merged(
  base: AssistantDraft,
  mine: AssistantDraft,
  theirs: AssistantDraft
): AssistantDraft {
  const kept = FIELDS.filter(field => !isSame(raw(base, field), raw(mine, field)));
  return { ...theirs, ...picked(mine, kept) };
}

/** The fields that both have changed, and not alike. */
export function contested(
  base: AssistantDraft,
  mine: AssistantDraft,
  theirs: AssistantDraft
): readonly FieldName[] {
  const [mineChanged, theirsChanged] = [changeOf(base, mine), changeOf(base, theirs)];
  return FIELDS.filter(
    field =>
      field in mineChanged &&
      field in theirsChanged &&
      !isSame(mineChanged[field], theirsChanged[field])
  );
}

/** Some fields of a draft. */
export function picked(
  draft: AssistantDraft,
  fields: readonly FieldName[]
): Partial<AssistantDraft> {
  return Object.fromEntries(fields.map(field => [field, draft[field]]));
}

/** A field as typed, without what only the form needs. */
function raw(draft: AssistantDraft, field: FieldName): unknown {
  return field === 'scenes' ? fieldsOf(draft).scenes : draft[field];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

// What is wrong with what was typed, told before the server is asked.

/** Most characters of a field. */
export const LIMITS = {
  name: 255,
  description: 255,
  instructions: 8000,
  model: 200,
  effort: 40,
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
    effort: lengthComplaint(draft.effort.trim(), LIMITS.effort, trans),
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
