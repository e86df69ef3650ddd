import { type ICellModel, type ICodeCellModel, isCodeCellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';

import type { OutlineEntry } from '../models/notebooks';

const LABEL_CHARACTERS = 60;

/** What each cell is about, in a line. */
export function outline(model: INotebookModel): readonly OutlineEntry[] {
  return Array.from(model.cells, cell => ({
    id: cell.id,
    label: label(cell),
    hasError: isCodeCellModel(cell) && hasError(cell)
  }));
}

/** Whether a cell's last run failed. */
export function hasError(cell: ICodeCellModel): boolean {
  const { outputs } = cell;
  for (let index = outputs.length - 1; index >= 0; index--) {
    if (outputs.get(index).type === 'error') {
      return true;
    }
  }
  return false;
}

/** The first line that is not empty, shortened. */
export function label(cell: ICellModel): string {
  const lines = cell.sharedModel.getSource().split('\n');
  const line = lines.map(text => text.trim()).find(text => text !== '') ?? '';
  return line.length > LABEL_CHARACTERS ? `${line.slice(0, LABEL_CHARACTERS - 1)}…` : line;
}
