import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { type FilterChoice, TEXT_FILTERS, type TextFilter } from '../models/text_filters';
import { useTrans } from './scope';

interface TextFiltersProps {
  /** Those that are on, as the server has them. */
  readonly names: readonly string[];
  /** What the person switched and did not save. */
  readonly choice: FilterChoice;
  readonly onChoose: (choice: FilterChoice) => void;
}

/** What is done to a person's words before the model is given them. */
export function TextFilters({ names, choice, onChoose }: TextFiltersProps) {
  const trans = useTrans();
  const note = React.useId();
  return (
    <fieldset className="cw-text-filters" aria-describedby={note}>
      <legend>{trans.__('Before your words are sent')}</legend>
      {TEXT_FILTERS.map(filter => (
        <label key={filter}>
          <input
            type="checkbox"
            checked={choice[filter] ?? names.includes(filter)}
            onChange={event => {
              onChoose({ ...choice, [filter]: event.target.checked });
            }}
          />
          <span>{filterWords(filter, trans)}</span>
        </label>
      ))}
      <p id={note} className="cw-muted">
        {trans.__('Code between fences is never changed.')}
      </p>
    </fieldset>
  );
}

function filterWords(filter: TextFilter, trans: TranslationBundle): string {
  const words: Record<TextFilter, string> = {
    line_ends: trans.__('Windows line ends become plain ones'),
    terminal_colours: trans.__('Terminal colours are taken out'),
    blank_lines: trans.__('At most one blank line in a row')
  };
  return words[filter];
}
