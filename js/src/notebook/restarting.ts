import type { CodeCell } from '@jupyterlab/cells';
import { NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';

import type { RestartResult, RestartWatch } from '../chat/notebooks';

/**
 * Start a notebook's kernel anew and run cells in it, in order, until one fails.
 *
 * A source that a cell of the notebook has runs in that cell, so that its outputs are seen; what the
 * notebook does not hold any more runs without a cell.
 */
export async function restartAndRun(
  panel: NotebookPanel,
  sources: readonly string[],
  { onProgress, signal }: RestartWatch
): Promise<RestartResult> {
  const { sessionContext } = panel;
  const interrupt = (): void => {
    void sessionContext.session?.kernel?.interrupt();
  };
  const isStopped = (): boolean => signal.aborted;
  const used = new Set<CodeCell>();
  onProgress(null, sources.length);
  await sessionContext.restartKernel();
  await sessionContext.session?.kernel?.info; // until then JupyterLab runs no cell
  signal.addEventListener('abort', interrupt);
  try {
    for (const [index, source] of sources.entries()) {
      if (isStopped()) {
        return { ran: index, of: sources.length, problem: '' };
      }
      onProgress(index, sources.length);
      const cell = cellWith(panel, source, used);
      const problem = cell === null ? await runAlone(panel, source) : await runIn(panel, cell);
      if (problem !== null) {
        return { ran: index, of: sources.length, problem: isStopped() ? '' : problem };
      }
    }
    return { ran: sources.length, of: sources.length, problem: '' };
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}

/** A code cell with this source, one that has not run yet if there is one; null: there is none. */
function cellWith(panel: NotebookPanel, source: string, used: Set<CodeCell>): CodeCell | null {
  const cells = panel.content.widgets.filter(
    (cell): cell is CodeCell =>
      cell.model.type === 'code' && cell.model.sharedModel.getSource() === source
  );
  const cell = cells.find(one => !used.has(one)) ?? cells[0] ?? null;
  if (cell !== null) {
    used.add(cell);
  }
  return cell;
}

/** Why a cell failed; null: it did not. */
async function runIn(panel: NotebookPanel, cell: CodeCell): Promise<string | null> {
  if (await NotebookActions.runCells(panel.content, [cell], panel.sessionContext)) {
    return null;
  }
  const error = cell.model.outputs.toJSON().find(({ output_type: type }) => type === 'error');
  return [error?.ename, error?.evalue].filter(text => typeof text === 'string').join(': ');
}

async function runAlone({ sessionContext }: NotebookPanel, code: string): Promise<string | null> {
  const future = sessionContext.session?.kernel?.requestExecute({ code, allow_stdin: false });
  const content = (await future?.done)?.content;
  if (content?.status === 'ok') {
    return null;
  }
  return content?.status === 'error' ? `${content.ename}: ${content.evalue}` : '';
}
