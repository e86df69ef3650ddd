/** Where assistants are written, for those who show them. */
import * as React from 'react';

import type { ISignal } from '@lumino/signaling';

/** What became of an assistant; both empty: somebody else changed the files. */
export interface AssistantChange {
  /** What it was called; empty: it is new. */
  readonly from: string;
  /** What it is called now; empty: it was deleted. */
  readonly to: string;
}

export interface AssistantEditor {
  /** One was written, changed or deleted there. */
  readonly changed: ISignal<unknown, AssistantChange>;
  /** Show those of a notebook by its path; empty: none. */
  readonly list: (notebook: string) => void;
  /**
   * Open one.
   *
   * @param name - Which one; empty: a new one.
   * @param notebook - Path of the notebook whose assistants are meant; empty: none.
   */
  readonly edit: (name: string, notebook: string) => void;
}

const EditorContext = React.createContext<AssistantEditor | null>(null);

export const AssistantEditorProvider = EditorContext.Provider;

/** Null: there is no page for them here. */
export function useAssistantEditor(): AssistantEditor | null {
  return React.useContext(EditorContext);
}
