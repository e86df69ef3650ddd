import type { NotebookPanel } from '@jupyterlab/notebook';
import { afterEach, expect, it } from 'vitest';

import { restartAndRun } from '../../src/notebook/restarting';
import { code, closeAll, type Document, openDocument } from './open_document';

const opened: Document[] = [];

afterEach(() => {
  closeAll(opened.splice(0));
});

/** A kernel that writes down what it is told, and fails where it is told to. */
class ScriptedKernel {
  readonly done: string[] = [];
  readonly info = Promise.resolve({});
  /** Called with the code that is run, before it ends. */
  onRun: (code: string) => void = () => undefined;

  interrupt(): Promise<void> {
    this.done.push('interrupt');
    return Promise.resolve();
  }

  requestExecute({ code: source }: { code: string }): object {
    this.done.push(source);
    this.onRun(source);
    const isBad = source.startsWith('raise');
    const error = { status: 'error', ename: 'ValueError', evalue: 'no', traceback: [] };
    const content = isBad ? error : { status: 'ok', execution_count: this.done.length };
    const reply = { content, header: {}, metadata: {} };
    const nothing = (): void => undefined;
    return { done: Promise.resolve(reply), registerMessageHook: nothing, dispose: nothing };
  }
}

/** The panel of a notebook with these cells, whose session has this kernel. */
function notebookWith(kernel: ScriptedKernel, ...sources: string[]): NotebookPanel {
  const document = openDocument(
    sources.map((source, index) => code(`cell-${String(index)}`, source))
  );
  opened.push(document);
  Object.assign(document.context.sessionContext, {
    session: { kernel },
    restartKernel: () => {
      kernel.done.push('restart');
      return Promise.resolve();
    }
  });
  return document.panel;
}

function counts({ content }: NotebookPanel): unknown[] {
  return content.widgets.map(({ model }) => model.sharedModel.toJSON().execution_count);
}

it('runs each source in its cell, and without one what the notebook does not hold', async () => {
  const kernel = new ScriptedKernel();
  const panel = notebookWith(kernel, 'y = 2', 'x = 1', 'x = 1', 'never ran');
  const told: unknown[] = [];
  const result = await restartAndRun(panel, ['x = 1', 'gone = 3', 'x = 1', 'y = 2', 'x = 1'], {
    onProgress: (done, of) => told.push([done, of]),
    signal: new AbortController().signal
  });
  expect(result).toEqual({ ran: 5, of: 5, problem: '' });
  expect(kernel.done).toEqual(['restart', 'x = 1', 'gone = 3', 'x = 1', 'y = 2', 'x = 1']);
  expect(told).toEqual([null, 0, 1, 2, 3, 4].map(done => [done, 5]));
  expect(counts(panel)).toEqual([5, 6, 4, null]);
});

it('ends at what fails, in a cell or without one, and says why', async () => {
  const kernel = new ScriptedKernel();
  const watch = { onProgress: () => undefined, signal: new AbortController().signal };
  const panel = notebookWith(kernel, "raise ValueError('no')");
  const alone = await restartAndRun(panel, ['x = 1', "raise ValueError('gone')", 'y'], watch);
  expect(alone).toEqual({ ran: 1, of: 3, problem: 'ValueError: no' });
  const inCell = await restartAndRun(panel, ["raise ValueError('no')", 'y'], watch);
  expect([inCell.ran, inCell.of]).toEqual([0, 2]);
  expect(kernel.done).not.toContain('y');
});

it('is interrupted and runs nothing more once the person stops it', async () => {
  const kernel = new ScriptedKernel();
  const stop = new AbortController();
  kernel.onRun = source => {
    if (source === 'x = 1') {
      stop.abort();
    }
  };
  const panel = notebookWith(kernel, 'x = 1');
  const watch = { onProgress: () => undefined, signal: stop.signal };
  expect(await restartAndRun(panel, ['x = 1', 'y = 2'], watch)).toEqual({
    ran: 1,
    of: 2,
    problem: ''
  });
  expect(kernel.done).toEqual(['restart', 'x = 1', 'interrupt']);
});
