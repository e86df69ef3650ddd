import { NotebookActions } from '@jupyterlab/notebook';
import type { CodeCell } from '@jupyterlab/cells';
import { afterEach, describe, expect, it } from 'vitest';

import type { JsonObject, OutputMessage } from '../../src/wire/generated';
import { added, failed, finished, moved, output, printed, shown, started, updated } from './events';
import { code, type CellJson, closeAll, type Document, openDocument, Run } from './open_document';

const opened: Document[] = [];

afterEach(() => {
  closeAll(opened.splice(0));
});

interface Stage {
  readonly document: Document;
  readonly run: Run;
  /** What the cell shows now. */
  readonly outputs: (id?: string) => readonly JsonObject[];
  readonly draw: (message: OutputMessage, id?: string) => void;
}

/** A cell `a` that has begun to run. */
function running(cells: readonly CellJson[] = [code('a', 'x')]): Stage {
  const document = openDocument(cells);
  opened.push(document);
  const run = new Run(document.port);
  run.apply(started('a'));
  document.port.cells();
  return {
    document,
    run,
    outputs: (id = 'a') => document.port.cells().find(cell => cell.id === id)?.outputs ?? [],
    draw: (message, id = 'a') => {
      run.apply(output(id, message));
    }
  };
}

function codeCell(document: Document, index = 0): CodeCell {
  return document.panel.content.widgets[index] as CodeCell;
}

function prompt(document: Document): () => string | undefined {
  return () => document.panel.node.querySelector('.jp-InputPrompt')?.textContent;
}

function texts(outputs: readonly JsonObject[]): unknown[] {
  return outputs.map(each => each.text ?? (each.data as JsonObject)['text/plain']);
}

describe('a cell that begins to run', () => {
  const old = { output_type: 'stream', name: 'stdout', text: 'old' };

  it('loses its old outputs and is marked as running', async () => {
    const { document, outputs } = running([code('a', 'x', { outputs: [old], execution_count: 3 })]);
    expect(outputs()).toEqual([]);
    expect(codeCell(document).model.executionState).toBe('running');
    await expect.poll(prompt(document)).toBe('[*]:');
  });

  it('is cleared without a step of undo', () => {
    const { document } = running([code('a', 'x', { outputs: [old] })]);
    expect(document.model.sharedModel.canUndo()).toBe(false);
  });

  it('is trusted to show what it makes', () => {
    expect(codeCell(running().document).model.trusted).toBe(true);
  });

  it('unfolds its outputs', () => {
    const { document } = running([code('a', 'x', { metadata: { collapsed: true } })]);
    expect(codeCell(document).outputHidden).toBe(false);
  });
});

describe('outputs', () => {
  it('are drawn as the kernel sent them', () => {
    const { outputs, draw } = running();
    draw(printed('one\n'));
    draw(printed('two\n', 'stderr'));
    draw(shown('a figure'));
    const data = { 'text/plain': '42' };
    draw({ kind: 'execute_result', data, metadata: {}, execution_count: 7, display_id: '' });
    draw(failed('ValueError', 'no'));
    expect(outputs()).toEqual([
      { output_type: 'stream', name: 'stdout', text: 'one\n' },
      { output_type: 'stream', name: 'stderr', text: 'two\n' },
      { output_type: 'display_data', data: { 'text/plain': 'a figure' }, metadata: {} },
      { output_type: 'execute_result', data, metadata: {}, execution_count: 7 },
      { output_type: 'error', ename: 'ValueError', evalue: 'no', traceback: ['ValueError: no'] }
    ]);
  });

  it('show in the page at the end of their batch', async () => {
    const { document, draw } = running();
    draw(printed('hello'));
    const text = (): string => codeCell(document).outputArea.node.textContent;
    expect(text()).not.toContain('hello');
    await expect.poll(text).toContain('hello');
  });

  it('of one stream are one output, with carriage returns as in a terminal', () => {
    const { outputs, draw } = running();
    draw(printed('10 %\r'));
    draw(printed('20 %\r'));
    draw(printed('done\n'));
    expect(texts(outputs())).toEqual(['done\n']);
  });

  it('come as fast as 5,000 prints', () => {
    const { run, outputs } = running();
    const began = performance.now();
    for (let line = 0; line < 5_000; line++) {
      run.apply(output('a', printed(`line ${String(line)}\n`)));
    }
    expect(texts(outputs())[0]).toHaveLength(48_890);
    expect(performance.now() - began).toBeLessThan(1_000);
  });

  it('are cleared at once, or when the next one comes', () => {
    const { outputs, draw } = running();
    draw(printed('1'));
    draw({ kind: 'clear_output', wait: true });
    expect(texts(outputs())).toEqual(['1']);
    draw(printed('2'));
    expect(texts(outputs())).toEqual(['2']);
    draw({ kind: 'clear_output', wait: false });
    expect(outputs()).toEqual([]);
  });

  it('that come late belong to the cell they came from', () => {
    const { outputs, run, draw } = running([code('a', 'x'), code('b', 'y')]);
    run.apply(finished('a'));
    run.apply(started('b'));
    draw(printed('b'), 'b');
    draw(printed('late'), 'a');
    expect(texts(outputs('a'))).toEqual(['late']);
    expect(texts(outputs('b'))).toEqual(['b']);
  });

  it('of a cell that is gone are dropped', () => {
    const { document, draw, outputs } = running([code('a', 'x'), code('b', 'y')]);
    document.model.sharedModel.deleteCell(0);
    draw(printed('lost'));
    expect(outputs('b')).toEqual([]);
  });

  it('of a cell that never began here are not drawn', () => {
    const { draw, outputs } = running([code('a', 'x'), code('b', 'y')]);
    draw(printed('from before this page'), 'b');
    expect(outputs('b')).toEqual([]);
  });
});

describe('an output with a display id', () => {
  it('is changed by a message of a later cell', () => {
    const { run, draw, outputs } = running([code('a', 'x'), code('b', 'y')]);
    draw(printed('before'));
    draw(shown('old', 'id'));
    run.apply(finished('a'));
    run.apply(started('b'));
    draw(updated('new', 'id'), 'b');
    expect(texts(outputs('a'))).toEqual(['before', 'new']);
    expect(outputs('b')).toEqual([]);
  });

  it('is changed by a second display with the same id', () => {
    const { draw, outputs } = running();
    draw(shown('1', 'id'));
    draw(shown('2', 'id'));
    draw(updated('3', 'id'));
    expect(texts(outputs())).toEqual(['3', '3']);
  });

  it('is forgotten when its cell is cleared', () => {
    const { draw, outputs } = running();
    draw(shown('old', 'id'));
    draw({ kind: 'clear_output', wait: false });
    draw(shown('other'));
    draw(updated('new', 'id'));
    expect(texts(outputs())).toEqual(['other']);
  });

  it('keeps its place when the person cleared the outputs', () => {
    const { document, draw, outputs } = running();
    draw(shown('old', 'id'));
    document.port.cells();
    codeCell(document).model.outputs.clear();
    draw(printed('text'));
    draw(updated('new', 'id'));
    expect(texts(outputs())).toEqual(['text']);
  });

  it('is changed by a cell that the person runs', () => {
    const { document, draw, outputs } = running();
    const { sessionContext } = document.context;
    sessionContext.session = { kernel: { clientId: 'this page' } };
    draw(shown('old', 'id'));
    document.port.cells();
    for (const session of ['the server', 'this page']) {
      sessionContext.iopubMessage.emit({
        header: { msg_type: 'update_display_data' },
        parent_header: { session },
        content: {
          data: { 'text/plain': session },
          metadata: {},
          transient: { display_id: 'id' }
        }
      });
      expect(texts(outputs())).toEqual([session === 'this page' ? session : 'old']);
    }
  });
});

describe('a cell that ends', () => {
  it('has its number and is no longer marked', async () => {
    const { document, run } = running();
    run.apply(finished('a', { execution_count: 12 }));
    expect(document.port.cells()[0]?.execution_count).toBe(12);
    expect(codeCell(document).model.executionState).toBe('idle');
    await expect.poll(prompt(document)).toBe('[12]:');
  });

  it('says when it ran if the person wants that', () => {
    const { document, run } = running();
    const { content } = document.panel;
    content.notebookConfig = { ...content.notebookConfig, recordTiming: true };
    run.apply(finished('a', { duration_seconds: 1.5 }));
    expect(document.port.cells()[0]?.metadata?.execution).toEqual({
      'iopub.status.busy': '2023-11-14T22:13:20.500Z',
      'iopub.execute_input': '2023-11-14T22:13:20.500Z',
      'shell.execute_reply.started': '2023-11-14T22:13:20.500Z',
      'shell.execute_reply': '2023-11-14T22:13:22.000Z',
      'iopub.status.idle': '2023-11-14T22:13:22.000Z'
    });
  });

  it('says nothing of the kind otherwise', () => {
    const { document, run } = running();
    run.apply(finished('a'));
    expect(document.port.cells()[0]?.metadata).not.toHaveProperty('execution');
  });

  it('is unmarked with its run when nobody told its end', () => {
    const { document } = running();
    document.port.endRun('run-1');
    expect(codeCell(document).model.executionState).toBe('idle');
  });
});

describe('a running cell', () => {
  it('that is moved goes on showing what it makes, and stays marked', () => {
    const { document, run, draw, outputs } = running([code('a', 'x'), code('b', 'y')]);
    draw(printed('1'));
    run.apply(moved('a', 'b'));
    draw(printed('2'));
    expect(texts(outputs())).toEqual(['12']);
    expect(codeCell(document, 1).model.executionState).toBe('running');
  });

  it('that is undone and redone goes on, too', () => {
    const document = openDocument([code('a', 'x')]);
    opened.push(document);
    const run = new Run(document.port);
    run.apply(added('new'));
    run.apply(started('new'));
    run.apply(output('new', printed('1')));
    document.port.cells();
    document.model.sharedModel.undo();
    document.model.sharedModel.redo();
    run.apply(output('new', printed('2')));
    expect(document.port.cells()[1]?.outputs?.at(-1)?.text).toContain('2');
    expect(codeCell(document, 1).model.executionState).toBe('running');
  });

  it('that the person runs themselves is theirs', () => {
    const { document, run, draw, outputs } = running();
    draw(printed('the agent’s'));
    const cell = codeCell(document);
    personRuns(document, cell);
    draw(printed('more of the agent’s'));
    run.apply(finished('a'));
    expect(texts(outputs())).toEqual(['the person’s']);
    expect(cell.model.executionState).toBe('running');
  });
});

/** What JupyterLab does when a cell is run by hand. */
function personRuns(document: Document, cell: CodeCell): void {
  const scheduled = NotebookActions.executionScheduled as unknown as {
    emit(args: { notebook: unknown; cell: unknown }): void;
  };
  scheduled.emit({ notebook: document.panel.content, cell });
  cell.model.clearExecution();
  cell.model.executionState = 'running';
  cell.model.outputs.add({ output_type: 'stream', name: 'stdout', text: 'the person’s' });
}

describe('a page that comes back', () => {
  it('draws a cell that it has saved anew, once', () => {
    const saved = { output_type: 'stream', name: 'stdout', text: '12' };
    const document = openDocument([code('a', 'x', { outputs: [saved], execution_count: 4 })]);
    opened.push(document);
    const run = new Run(document.port);
    run.apply(started('a'), true);
    run.apply(output('a', printed('1')), true);
    run.apply(output('a', printed('2')), true);
    run.apply(finished('a', { execution_count: 4 }), true);
    expect(document.port.cells()[0]?.outputs).toEqual([saved]);
  });

  it('leaves a cell that the person has run again since', () => {
    const theirs = { output_type: 'stream', name: 'stdout', text: 'theirs' };
    const document = openDocument([code('a', 'x', { outputs: [theirs], execution_count: 9 })]);
    opened.push(document);
    const run = new Run(document.port);
    run.apply(started('a'), true);
    run.apply(output('a', printed('ours')), true);
    run.apply(finished('a', { execution_count: 4 }), true);
    expect(document.port.cells()[0]).toMatchObject({ outputs: [theirs], execution_count: 9 });
  });

  it('marks a cell that still runs', () => {
    const document = openDocument([code('a', 'x', { execution_count: 2 })]);
    opened.push(document);
    const run = new Run(document.port);
    run.apply(started('a'), true);
    run.apply(output('a', printed('so far')), true);
    expect(document.port.cells()[0]?.outputs).toHaveLength(1);
    expect(codeCell(document).model.executionState).toBe('running');
  });
});
