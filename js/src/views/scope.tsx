import * as React from 'react';

import { nullTranslator, type TranslationBundle } from '@jupyterlab/translation';

const Translation = React.createContext<TranslationBundle>(nullTranslator.load('cellwright'));

export const TranslationProvider = Translation.Provider;

/** The words of the panel in the person's language. */
export function useTrans(): TranslationBundle {
  return React.useContext(Translation);
}
