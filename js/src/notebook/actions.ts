import { type ICellModel, type ICodeCellModel, isCodeCellModel } from '@jupyterlab/cells';
import type { IError, IOutput } from '@jupyterlab/nbformat';
import type { INotebookModel, INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet, type IDisposable } from '@lumino/disposable';

import type { OutlineEntry } from '../chat/notebooks';
import type { ContextItem, Draft } from '../chat/types';
import type { PanelOpener } from '../tokens';

const LABEL_CHARACTERS = 60;

/** What each cell is about, in a line. */
export function outline(model: INotebookModel): readonly OutlineEntry[] {
  return Array.from(model.cells, cell => ({
    id: cell.id,
    label: label(cell),
    hasError: isCodeCellModel(cell) && hasError(cell),
    count: isCodeCellModel(cell) ? cell.executionCount : null
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
function label(cell: ICellModel): string {
  const lines = cell.sharedModel.getSource().split('\n');
  const line = lines.map(text => text.trim()).find(text => text !== '') ?? '';
  return line.length > LABEL_CHARACTERS ? `${line.slice(0, LABEL_CHARACTERS - 1)}…` : line;
}

/** What can be asked about a cell with one click. */
type CellAction = 'fix' | 'explain' | 'continue' | 'add';

/** What to say to the agent about a cell. */
function cellPrompt(
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
function isSentAtOnce(action: CellAction): boolean {
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

/** The commands about a cell. */
export namespace CellCommandIDs {
  export const fix = 'cellwright:fix-cell';
  export const explain = 'cellwright:explain-cell';
  export const continueFrom = 'cellwright:continue-from-cell';
  export const add = 'cellwright:add-cell-to-chat';
}

interface CellCommand {
  readonly id: string;
  readonly action: CellAction;
  readonly label: string;
  readonly caption: string;
  readonly suits: (cell: ICellModel) => boolean;
}

export interface ActionParts {
  readonly tracker: INotebookTracker;
  readonly panel: PanelOpener;
  readonly trans: TranslationBundle;
}

/** Register the commands about the active cell. */
export function addCellCommands(commands: CommandRegistry, parts: ActionParts): IDisposable {
  const { tracker } = parts;
  const active = (): ICellModel | null => tracker.activeCell?.model ?? null;
  const added = new DisposableSet();
  for (const command of cellCommands(parts.trans)) {
    const isOffered = (): boolean => {
      const cell = active();
      return cell !== null && command.suits(cell);
    };
    added.add(
      commands.addCommand(command.id, {
        label: command.label,
        caption: command.caption,
        describedBy: { args: { type: 'object', properties: {} } },
        isEnabled: isOffered,
        isVisible: isOffered,
        execute: () => {
          const cell = active();
          const path = tracker.currentWidget?.context.localPath;
          if (cell !== null && path !== undefined) {
            act(command.action, cell, path, parts);
          }
        }
      })
    );
  }
  return added;
}

/** Say something about a cell of a notebook to the agent. */
export function act(
  action: CellAction,
  cell: ICellModel,
  path: string,
  { panel, trans }: Pick<ActionParts, 'panel' | 'trans'>
): void {
  panel.open(cellPrompt(action, cell, trans), isSentAtOnce(action), path);
}

function cellCommands(trans: TranslationBundle): readonly CellCommand[] {
  return [
    {
      id: CellCommandIDs.fix,
      action: 'fix',
      label: trans.__('Fix with Agent'),
      caption: trans.__('Ask the agent to fix the error of this cell'),
      suits: cell => isCodeCellModel(cell) && hasError(cell)
    },
    {
      id: CellCommandIDs.explain,
      action: 'explain',
      label: trans.__('Explain Cell'),
      caption: trans.__('Ask the agent what this cell does'),
      suits: isCodeCellModel
    },
    {
      id: CellCommandIDs.continueFrom,
      action: 'continue',
      label: trans.__('Continue From Here'),
      caption: trans.__('Let the agent go on from this cell'),
      suits: isCodeCellModel
    },
    {
      id: CellCommandIDs.add,
      action: 'add',
      label: trans.__('Add Cell to Chat'),
      caption: trans.__('Put this cell into the context of the next prompt'),
      suits: () => true
    }
  ];
}
