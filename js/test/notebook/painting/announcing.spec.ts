import type { CodeCell } from '@jupyterlab/cells';
import { NotebookActions } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';
import { PromiseDelegate } from '@lumino/coreutils';
import { afterEach, describe, expect, it } from 'vitest';

import { Announcing } from '../../../src/notebook/painting/announcing';
import { sourceHash } from '../../../src/notebook/source_hash';
import { type CellJson, closeAll, code, type Document, ids, openDocument } from '../open_document';

type Hook = (message: KernelMessage.IIOPubMessage) => boolean | PromiseLike<boolean>;

/** A comm whose messages go nowhere. */
class PaperComm {
  static count = 0;
  readonly commId = `comm-${String((PaperComm.count += 1))}`;
  commsOverSubshells = 'perCommTarget';
  onMsg: (message: unknown) => void = () => undefined;

  open(data: unknown): void {
    this.opened = data;
  }

  opened: unknown = null;
}

/** A kernel connection that runs nothing. */
class PaperKernel {
  readonly comms: PaperComm[] = [];
  readonly hooks = new Map<string, Hook>();
  clientId = 'client';
  isDead = false;

  createComm(): PaperComm {
    if (this.isDead) {
      throw new Error('Kernel is dead');
    }
    const comm = new PaperComm();
    this.comms.push(comm);
    return comm;
  }

  registerMessageHook(id: string, hook: Hook): void {
    this.hooks.set(id, hook);
  }
}

const opened: Document[] = [];
const listening: Announcing[] = [];

afterEach(() => {
  for (const announcing of listening.splice(0)) {
    announcing.dispose();
  }
  closeAll(opened.splice(0));
});

interface Stage {
  readonly document: Document;
  readonly kernel: PaperKernel;
  /** Queue a cell, as JupyterLab does; what ends its execution. */
  readonly execute: (index: number) => PromiseDelegate<void>;
  readonly says: (data: unknown) => void;
}

function stage(cells: readonly CellJson[], isWanted = true): Stage {
  const document = openDocument(cells);
  opened.push(document);
  const kernel = new PaperKernel();
  document.context.sessionContext.session = { kernel };
  const { panel, port } = document;
  const tracker = { find: (test: (open: unknown) => boolean) => (test(panel) ? panel : undefined) };
  const notebooks = { find: () => port };
  listening.push(
    new Announcing({
      tracker: tracker as never,
      notebooks: notebooks as never,
      isWanted: () => isWanted
    })
  );
  return {
    document,
    kernel,
    execute: index => {
      const cell = panel.content.widgets[index] as CodeCell;
      const signal = NotebookActions.executionScheduled as unknown as {
        emit: (args: unknown) => void;
      };
      signal.emit({ notebook: panel.content, cell });
      const done = new PromiseDelegate<void>();
      cell.outputArea.reattachFuture({ done: done.promise, dispose: () => undefined } as never);
      return done;
    },
    says: data => {
      kernel.comms.at(-1)?.onMsg({
        header: { date: '2026-11-01T00:00:00Z' },
        parent_header: { msg_id: 'request' },
        content: { data }
      });
    }
  };
}

function stream(text: string): KernelMessage.IIOPubMessage {
  return KernelMessage.createMessage({
    channel: 'iopub',
    msgType: 'stream',
    session: 's',
    content: { name: 'stdout', text }
  });
}

const ASK = code('calling', '%agent go');

describe('a cell that calls the agent', () => {
  it('is announced before it is sent, over the shell and not a subshell', () => {
    const { kernel, execute } = stage([ASK, code('b', 'y')]);
    execute(0);
    execute(1);
    expect(kernel.comms).toHaveLength(1);
    expect(kernel.comms[0]?.opened).toEqual({ protocol: 1, cell_id: 'calling', painted: [] });
    expect(kernel.comms[0]?.commsOverSubshells).toBe('disabled');
  });

  it('is not announced where nobody wants cells painted', () => {
    const { kernel, execute } = stage([ASK], false);
    execute(0);
    expect(kernel.comms).toEqual([]);
  });

  it('is not announced to a kernel of another language', () => {
    const { document, kernel, execute } = stage([ASK]);
    document.model.setMetadata('language_info', { name: 'R' });
    execute(0);
    expect(kernel.comms).toEqual([]);
  });

  it('is not announced in a notebook that may not be changed', () => {
    const { document, kernel, execute } = stage([ASK]);
    document.context.contentsModel = { writable: false };
    execute(0);
    expect(kernel.comms).toEqual([]);
  });

  it('is left to JupyterLab when the kernel is gone', () => {
    const { kernel, execute } = stage([ASK]);
    kernel.isDead = true;
    execute(0);
    expect(kernel.comms).toEqual([]);
  });

  it('keeps its prose and hands the rest to the painted cell', () => {
    const { document, kernel, execute, says } = stage([ASK]);
    execute(0);
    says({ op: 'nonsense' });
    says({ op: 'start', run: 'r' });
    const hook = kernel.hooks.get('request');
    expect(hook?.(stream('before'))).toBe(true);
    const cell = { cell_id: 'one', cell_type: 'code', source: 'x', after: 'calling' };
    says({ op: 'add', run: 'r', call: 'c', ...cell });
    says({ op: 'begin', cell_id: 'one' });
    expect(hook?.(stream('hi'))).toBe(false);
    expect(document.port.cells()[1]?.outputs).toMatchObject([{ text: 'hi' }]);
    expect(kernel.hooks.size).toBe(1);
  });
});

describe('a cell that was painted and is queued behind the one that paints it again', () => {
  const mark = { run: 'old', call: 'c', hash: sourceHash('x'), painted_by: 'calling' };
  const old = code('old', 'x', { metadata: { cellwright: mark } });
  const markOf = ({ document }: Stage): unknown =>
    document.port.cells().find(cell => cell.id === 'old')?.metadata?.cellwright;

  it('is marked, so that the kernel leaves it out', () => {
    const scene = stage([ASK, old]);
    scene.execute(0);
    scene.execute(1);
    expect(markOf(scene)).toEqual({ ...mark, replaced_by: scene.kernel.comms[0]?.commId });
    scene.says({ op: 'start', run: 'r' });
    expect(ids(scene.document)).toEqual(['calling']);
  });

  it('is not marked any more when the run never began', async () => {
    const scene = stage([ASK, old]);
    const done = scene.execute(0);
    scene.execute(1);
    done.reject(new Error('Canceled'));
    await new Promise(resolve => setTimeout(resolve));
    expect(markOf(scene)).toEqual(mark);
  });

  it('is told to the kernel only when it stays', () => {
    const edited = code('edited', 'mine', { metadata: { cellwright: mark } });
    const scene = stage([ASK, old, edited]);
    scene.execute(0);
    expect(scene.kernel.comms[0]?.opened).toMatchObject({
      painted: [{ cell_id: 'edited', source: 'mine', painted_by: 'calling' }]
    });
    scene.execute(2);
    expect(scene.document.port.cells()[2]?.metadata?.cellwright).toEqual(mark);
  });

  it('runs when the person runs it by itself, whatever it was marked with once', () => {
    const stale = { ...mark, replaced_by: 'some comm' };
    const scene = stage([ASK, code('old', 'x', { metadata: { cellwright: stale } })]);
    scene.execute(1);
    expect(markOf(scene)).toEqual(mark);
  });
});
