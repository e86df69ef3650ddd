import type { TranslationBundle } from '@jupyterlab/translation';

import type { UndoResult } from '../models/notebooks';

/** What taking back, or bringing back, did to the notebook. */
export function undoWords(result: UndoResult, isUndone: boolean, trans: TranslationBundle): string {
  const changed = result.changed.length;
  const kept = result.kept.length;
  const done = isUndone
    ? trans._n('Took back %1 cell.', 'Took back %1 cells.', changed)
    : trans._n('Brought back %1 cell.', 'Brought back %1 cells.', changed);
  const words = [done];
  if (kept > 0) {
    words.push(
      trans._n(
        'Left %1 cell as it is, because you changed it.',
        'Left %1 cells as they are, because you changed them.',
        kept
      )
    );
  }
  if (isUndone) {
    words.push(trans.__('Variables and files keep their values.'));
  }
  return words.join(' ');
}
