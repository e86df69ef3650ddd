/** What a person has typed about an assistant, and what of it is new. */
import type { AssistantDetails, AssistantFields, Scene } from './answers';

/** From the lowest to the highest that every model with a temperature takes. */
export const TEMPERATURES = [0.1, 1] as const;

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
