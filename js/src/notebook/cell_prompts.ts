import { type ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import type { IError, IOutput } from '@jupyterlab/nbformat';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Draft } from '../models/types';
import type { ContextItem } from '../server/frames';
import { label } from './outline';

/** What can be asked about a cell with one click. */
export type CellAction = 'fix' | 'explain' | 'continue' | 'add';

/** What to say to the agent about a cell. */
export function cellPrompt(
  action: CellAction,
  cell: ICellModel,
  trans: TranslationBundle
): Partial<Draft> {
  const about: ContextItem = { kind: 'cell', cell_id: cell.id, text: label(cell) };
  switch (action) {
    case 'fix':
      return { text: trans.__('Fix the error in this cell.'), context: [errorOf(cell) ?? about] };
    case 'explain':
      return { text: trans.__('Explain what this cell does.'), context: [about] };
    case 'continue':
      return { text: trans.__('Continue from this cell.'), context: [about] };
    case 'add':
      return { context: [about] };
  }
}

/** Whether it goes out at once, or waits for more words. */
export function isSentAtOnce(action: CellAction): boolean {
  return action === 'fix' || action === 'explain';
}

function errorOf(cell: ICellModel): ContextItem | null {
  const outputs = isCodeCellModel(cell) ? cell.outputs.toJSON().reverse() : [];
  const error = outputs.find(isError);
  if (error === undefined) {
    return null;
  }
  return { kind: 'error', cell_id: cell.id, text: `${error.ename}: ${error.evalue}` };
}

function isError(output: IOutput): output is IError {
  return output.output_type === 'error';
}
