import type { JsonObject } from '../../events';
import type { SharedCell, SharedNotebook } from '../cell_lookup';
import { isEdited, METADATA_KEY, provenanceOf } from '../provenance';

/** A cell that was painted under a calling cell. */
export interface PaintedCell {
  readonly cell: SharedCell;
  readonly run: string;
  /** Id of the calling cell. */
  readonly paintedBy: string;
  /** Somebody changed it since: it stays. */
  readonly isEdited: boolean;
}

/** What the metadata of a cell says of its being painted; null: it was not. */
export function paintedCell(cell: SharedCell): PaintedCell | null {
  const paintedBy = mark(cell, 'painted_by');
  const provenance = provenanceOf(cell);
  if (paintedBy === '' || provenance === null) {
    return null;
  }
  const edited = isEdited(provenance, cell.getSource());
  return { cell, run: provenance.run, paintedBy, isEdited: edited };
}

export function paintedCells(shared: SharedNotebook): readonly PaintedCell[] {
  return shared.cells.map(paintedCell).filter(painted => painted !== null);
}

/** Note something beside who wrote the cell; null takes the note away. Nobody undoes that. */
export function note(cell: SharedCell, key: string, value: string | null): void {
  const known = (cell.getMetadata(METADATA_KEY) ?? {}) as JsonObject;
  const others = Object.entries(known).filter(([name]) => name !== key);
  cell.setMetadata(
    METADATA_KEY,
    Object.fromEntries(value === null ? others : [...others, [key, value]])
  );
}

/** A note of a cell; empty: there is none. */
export function mark(cell: SharedCell, key: string): string {
  const known: unknown = cell.getMetadata(METADATA_KEY);
  const found: unknown =
    typeof known === 'object' && known !== null ? Reflect.get(known, key) : undefined;
  return typeof found === 'string' ? found : '';
}
