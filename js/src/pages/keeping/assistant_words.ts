/** What things about assistants are called. */
import type { TranslationBundle } from '@jupyterlab/translation';

import type { SceneWhen } from '../../client/assistants_rest';
import type { AssistantPlace } from '../../client/panel_rest';
import type { JsonObject } from '../../wire/generated';
import type { AssistantDraft, FieldName, SceneDraft } from './assistant_draft';

/** Where an assistant lies. */
export function placeWords(place: string, trans: TranslationBundle): string {
  const words: Partial<Record<string, string>> = {
    notebook: trans.__('Beside the notebook'),
    root: trans.__('Project'),
    own: trans.__('Your own, in every project')
  };
  return words[place] ?? place;
}

/** The folder of a project, without what all of them have; empty: there is nothing to tell. */
export function folderWords(place: string, places: readonly AssistantPlace[]): string {
  const folder = places.find(known => known.place === place)?.folder ?? '';
  return place === 'own' ? '' : folder.replace(/\/?\.cellwright\/assistants\/?$/, '');
}

export function fieldWords(field: FieldName, trans: TranslationBundle): string {
  const words: Record<FieldName, string> = {
    name: trans.__('Name'),
    description: trans.__('What it does'),
    instructions: trans.__('Instructions'),
    model: trans.__('Model'),
    temperature: trans.__('Temperature'),
    effort: trans.__('Effort'),
    parameters: trans.__('Parameters'),
    tools: trans.__('Tools'),
    adapter: trans.__('How the model is talked with'),
    library: trans.__('Library'),
    is_public: trans.__('Guests may choose it'),
    is_default: trans.__('Answers where no other is chosen'),
    disable_memory: trans.__('Remembers across chats'),
    memory_for_guests: trans.__('Guests are told what you had it remember'),
    disable_default_prompt: trans.__('Our advice how to work'),
    disable_web_browsing: trans.__('May look into the web'),
    scenes: trans.__('Scenes')
  };
  return words[field];
}

export function adapterWords(adapter: string, trans: TranslationBundle): string {
  const words: Partial<Record<string, string>> = {
    '': trans.__('As it is set'),
    native: trans.__('Function calls'),
    chat: trans.__('Marked text'),
    json: 'JSON',
    xml: 'XML'
  };
  return words[adapter] ?? adapter;
}

/** When a scene is chosen, as its file says. */
export function whenWords(when: SceneWhen, trans: TranslationBundle): string {
  const parts: readonly (readonly [words: string, value: unknown])[] = [
    [trans.__('the prompt says'), when.prompt],
    [trans.__('imported:'), when.imports],
    [trans.__('a variable is of type'), when.types],
    [trans.__('the error says'), when.error]
  ];
  return parts
    .map(([words, value]) => ({ words, said: Array.isArray(value) ? value.join(', ') : value }))
    .filter(({ said }) => typeof said === 'string' && said !== '')
    .map(({ words, said }) => `${words} ${String(said)}`)
    .join('; ');
}

/** What a field holds. */
export function valueWords(
  field: FieldName,
  draft: Partial<AssistantDraft>,
  trans: TranslationBundle
): string {
  if (field === 'scenes') {
    return (draft.scenes ?? []).map(scene => sceneWords(scene, trans)).join('\n');
  }
  if (field === 'parameters') {
    return parameterWords(draft.parameters);
  }
  const { [field]: value = '' } = draft;
  if (typeof value === 'boolean') {
    // the form shows what it does, the file what it leaves out
    return field.startsWith('disable_') !== value ? trans.__('Yes') : trans.__('No');
  }
  if (typeof value === 'string') {
    return field === 'adapter' ? adapterWords(value, trans) : value;
  }
  return value === null ? trans.__('All') : value.join(', ');
}

function parameterWords(parameters: JsonObject = {}): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join(', ');
}

function sceneWords({ label, prompt, when }: SceneDraft, trans: TranslationBundle): string {
  const words = `${label}: ${prompt}`;
  return when === null ? words : `${words} (${whenWords(when, trans)})`;
}
