/** What was typed about assistants and not saved, for when the page is opened again. */
import { readText, type TextStore, writeText } from '../../models/text_store';
import { fits, list, nullable, number, record, type Shape, text } from '../../server/shapes';
import type { AssistantDetails } from './answers';
import type { AssistantForm } from './assistant_form';
import type { AssistantDraft, SceneDraft } from './draft';
import { DETAIL_SHAPES, DETAILS, SCENE_SHAPES } from './requests';

const KEY = 'cellwright:assistants';

export interface KeptDraft {
  readonly notebook: string;
  /** What the file had; null: there is none yet. */
  readonly saved: AssistantDetails | null;
  readonly draft: AssistantDraft;
}

const DRAFTS: Shape<readonly KeptDraft[]> = list(
  record<KeptDraft>({
    notebook: text,
    saved: nullable(DETAILS),
    draft: record<AssistantDraft>({
      ...DETAIL_SHAPES,
      temperature: text,
      scenes: list(record<SceneDraft>({ ...SCENE_SHAPES, key: number }))
    })
  })
);

/** Keeps drafts for as long as the browser's tab lives. */
export class DraftStore {
  constructor(private readonly _store: TextStore) {}

  /** What another version has kept and this one does not understand is left out. */
  read(): readonly KeptDraft[] {
    try {
      const kept: unknown = JSON.parse(readText(this._store, KEY) || '[]');
      return fits(DRAFTS, kept) ? kept : [];
    } catch {
      return [];
    }
  }

  write(forms: readonly AssistantForm[]): void {
    const kept = forms.map(({ notebook, state: { saved, draft } }): KeptDraft => ({
      notebook,
      saved,
      draft
    }));
    writeText(this._store, KEY, kept.length === 0 ? '' : JSON.stringify(kept));
  }
}
