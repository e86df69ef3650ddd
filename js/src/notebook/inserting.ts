import type { NotebookEdit } from '../models/notebooks';
import type { WireCell } from '../server/frames';
import { CellBatch, type NewCell } from './cell_batch';
import { type EditingParts, undrawn } from './editing';
import { METADATA_KEY, provenanceMetadata } from './provenance';

/** Put cells of an earlier run where they belong, as one undo; those there are left. */
export function insertCells(parts: EditingParts, run: string, cells: NotebookEdit['cells']): void {
  const { shared, log, own, steps } = parts;
  own.run(() => {
    steps.run(`insert ${run}`, () => {
      const batch = new CellBatch(shared);
      for (const { cell, after } of cells) {
        if (batch.get(cell.id) === null) {
          const json = restored(run, cell);
          if (after === '') {
            batch.append(cell.id, json);
          } else {
            batch.insert(cell.id, json, after);
          }
          log.note(run, 'insert', {
            kind: 'added',
            cellId: cell.id,
            json,
            after: batch.before(cell.id)
          });
        }
      }
    });
  });
}

function restored(run: string, cell: WireCell): NewCell {
  const trust = cell.cell_type === 'code' ? { trusted: true } : {};
  const mark = provenanceMetadata(run, '', cell.source);
  const metadata = { [METADATA_KEY]: mark, ...cell.metadata, ...trust };
  // Where it was asked about is not known here: the person turns it into Markdown.
  const cell_type = undrawn(cell.cell_type, cell.source);
  // The file format's outputs are plain JSON; JupyterLab's type for them is narrower.
  return { ...cell, cell_type, metadata } as unknown as NewCell;
}
