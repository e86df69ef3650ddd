import type { INotebookTracker } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { afterEach, describe, expect, it } from 'vitest';

import type { Draft } from '../../src/chat/types';
import { addCellCommands, CellCommandIDs } from '../../src/notebook/actions';
import { code, closeAll, type Document, openDocument, trans } from './open_document';

const opened: Document[] = [];
const ERROR = {
  output_type: 'error',
  ename: 'NameError',
  evalue: "name 'x' is not defined",
  traceback: []
};

interface Said {
  readonly draft: Partial<Draft>;
  readonly send: boolean | undefined;
  readonly notebook: string | undefined;
}

function offered(): {
  readonly commands: CommandRegistry;
  readonly said: Said[];
  readonly choose: (index: number) => void;
  readonly off: () => void;
} {
  const document = openDocument([
    code('good', '1'),
    code('bad', 'x', { outputs: [ERROR] }),
    { id: 'text', cell_type: 'markdown', source: '# Title', metadata: {} }
  ]);
  opened.push(document);
  const { content } = document.panel;
  const tracker = {
    get activeCell() {
      return content.activeCell;
    },
    currentWidget: document.panel
  } as INotebookTracker;
  const said: Said[] = [];
  const commands = new CommandRegistry();
  const added = addCellCommands(commands, {
    tracker,
    trans,
    panel: { open: (draft, send, notebook) => said.push({ draft, send, notebook }) }
  });
  return {
    commands,
    said,
    choose: index => {
      content.activeCellIndex = index;
    },
    off: () => {
      added.dispose();
    }
  };
}

afterEach(() => {
  closeAll(opened.splice(0));
});

describe('the commands about a cell', () => {
  it.each([
    ['a cell', 0, [CellCommandIDs.explain, CellCommandIDs.continueFrom, CellCommandIDs.add]],
    ['a failing cell', 1, Object.values(CellCommandIDs)],
    ['text', 2, [CellCommandIDs.add]]
  ])('suit %s', (_, index, expected) => {
    const { commands, choose } = offered();
    choose(index);
    const visible = commands.listCommands().filter(id => commands.isVisible(id));
    expect(visible).toEqual(Object.values(CellCommandIDs).filter(id => expected.includes(id)));
  });

  it('ask for a fix at once, with the error, in a chat of the notebook', async () => {
    const { commands, said, choose } = offered();
    choose(1);
    await commands.execute(CellCommandIDs.fix);
    const context = [{ kind: 'error', cell_id: 'bad', text: "NameError: name 'x' is not defined" }];
    const draft = { text: 'Fix the error in this cell.', context };
    expect(said).toEqual([{ draft, send: true, notebook: 'folder/notebook.ipynb' }]);
  });

  it('wait for more words before they continue', async () => {
    const { commands, said, choose } = offered();
    choose(0);
    await commands.execute(CellCommandIDs.explain);
    await commands.execute(CellCommandIDs.continueFrom);
    await commands.execute(CellCommandIDs.add);
    expect(said.map(({ send }) => send)).toEqual([true, false, false]);
    expect(said[2]?.draft).toEqual({ context: [{ kind: 'cell', cell_id: 'good', text: '1' }] });
  });

  it('are gone when cellwright is switched off', () => {
    const { commands, off } = offered();
    off();
    expect(commands.listCommands()).toEqual([]);
  });
});
