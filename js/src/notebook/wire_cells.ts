import type { WireCell } from '../server/frames';
import type { SharedCell } from './cell_lookup';

/** A cell as it goes over the wire. */
export function wireCell(cell: SharedCell): WireCell {
  // nbformat allows lists of lines and other cell types; the shared model has neither.
  return cell.toJSON() as unknown as WireCell;
}
