import type { TranslationBundle } from '@jupyterlab/translation';

import type { VariableSummary } from '../wire/generated';
import type { OutlineEntry } from './notebooks';
import type { ContextItem } from './types';

const LIMIT = 4;

/** Something to begin with. */
export interface Suggestion {
  /** What it says on the button. */
  readonly label: string;
  readonly prompt: string;
  readonly context: readonly ContextItem[];
}

/** What is known of the notebook. */
interface Surroundings {
  readonly outline: readonly OutlineEntry[];
  readonly variables: readonly VariableSummary[];
}

/** What a person may want to ask first, the most likely one first. */
export function suggestionsFor(
  { outline, variables }: Surroundings,
  trans: TranslationBundle
): readonly Suggestion[] {
  const suggestions = [...forErrors(outline, trans), ...forVariables(variables, trans)];
  if (outline.length > 0) {
    const prompt = trans.__('Explain what this notebook does, step by step.');
    suggestions.push({ label: trans.__('Explain this notebook'), prompt, context: [] });
  }
  if (suggestions.length < LIMIT) {
    const prompt = trans.__('Load the data files of this folder and show what is in them.');
    suggestions.push({ label: trans.__('Look at the data in this folder'), prompt, context: [] });
  }
  return suggestions.slice(0, LIMIT);
}

function forErrors(outline: readonly OutlineEntry[], trans: TranslationBundle): Suggestion[] {
  const failing = outline.filter(entry => entry.hasError).at(-1);
  if (failing === undefined) {
    return [];
  }
  const { id, label } = failing;
  return [
    {
      label: trans.__('Fix the failing cell'),
      prompt: trans.__('Find out why this cell fails and fix it.'),
      context: [{ kind: 'error', cell_id: id, text: label }]
    }
  ];
}

function forVariables(
  variables: readonly VariableSummary[],
  trans: TranslationBundle
): Suggestion[] {
  const table = variables.find(({ type }) => type === 'DataFrame');
  if (table === undefined) {
    return [];
  }
  const { name } = table;
  const context: ContextItem[] = [{ kind: 'variable', name }];
  return [
    {
      label: trans.__('Summarise %1', name),
      prompt: trans.__('Summarise %1: columns, missing values, and what stands out.', name),
      context
    },
    {
      label: trans.__('Plot %1', name),
      prompt: trans.__('Plot what is most telling in %1.', name),
      context
    }
  ];
}
