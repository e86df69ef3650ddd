import { type ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { DisposableSet, type IDisposable } from '@lumino/disposable';

import type { PanelOpener } from '../tokens';
import { type CellAction, cellPrompt, isSentAtOnce } from './cell_prompts';
import { hasError } from './outline';

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
          if (cell !== null) {
            act(command.action, cell, parts);
          }
        }
      })
    );
  }
  return added;
}

/** Say something about a cell to the agent. */
export function act(
  action: CellAction,
  cell: ICellModel,
  { panel, trans }: Pick<ActionParts, 'panel' | 'trans'>
): void {
  panel.open(cellPrompt(action, cell, trans), isSentAtOnce(action));
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
