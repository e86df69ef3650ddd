import { afterEach, describe, expect, it } from 'vitest';

import { Painter } from '../../../src/notebook/painting/painter';
import type { Add, Operation } from '../../../src/notebook/painting/protocol';
import { sourceHash } from '../../../src/notebook/source_hash';
import type { OutputMessage } from '../../../src/wire/generated';
import { failed, printed, shown } from '../events';
import {
  type CellJson,
  closeAll,
  code,
  type Document,
  ids,
  openDocument,
  sources
} from '../open_document';

const opened: Document[] = [];

afterEach(() => {
  closeAll(opened.splice(0));
});

interface Stage {
  readonly document: Document;
  readonly painter: Painter;
  readonly does: (...operations: readonly Operation[]) => void;
  readonly texts: (id: string) => readonly unknown[];
}

function stage(cells: readonly CellJson[] = [code('calling', '%agent'), code('b', 'y')]): Stage {
  const document = openDocument(cells);
  opened.push(document);
  const { port, model } = document;
  const painter = new Painter({ port, model, callingId: 'calling' });
  return {
    document,
    painter,
    does: (...operations) => {
      for (const operation of operations) {
        painter.handle(operation, 1_700_000_000);
      }
    },
    texts: id => {
      const cell = port.cells().find(each => each.id === id);
      return (cell?.outputs ?? []).map(each => each.text ?? each.data ?? each.ename);
    }
  };
}

function add(id: string, more: Partial<Add> = {}): Add {
  const rest = { run: 'r', call: `call-${id}`, cell_type: 'code', after: 'calling' } as const;
  return { op: 'add', cell_id: id, source: `# ${id}`, ...rest, ...more };
}

const BETTER = { source: 'better', previous_hash: sourceHash('# old') };
const start: Operation = { op: 'start', run: 'r' };
const done: Operation = { op: 'done', run: 'r' };

function begin(id: string): Operation {
  return { op: 'begin', cell_id: id };
}

function end(id: string): Operation {
  const execution = { status: 'ok', seconds: 0.5, execution_count: 7 } as const;
  return { op: 'end', cell_id: id, execution };
}

function painted(id: string, source: string, by: string, hash = sourceHash(source)): CellJson {
  const mark = { run: 'old', call: 'c', hash, painted_by: by };
  return code(id, source, { metadata: { cellwright: mark } });
}

function markOf({ document }: Stage, id: string): unknown {
  return document.port.cells().find(cell => cell.id === id)?.metadata?.cellwright;
}

describe('a painted cell', () => {
  it('stands under the calling cell, behind the ones before it', () => {
    const { document, does } = stage();
    does(start, add('one'), add('two', { after: 'one' }), add('three', { after: 'gone' }));
    expect(ids(document)).toEqual(['calling', 'one', 'two', 'three', 'b']);
  });

  it('stays under the calling cell when what it follows was deleted', () => {
    const { document, does } = stage();
    does(start, add('one'));
    document.model.sharedModel.deleteCell(1);
    does(add('two', { after: 'one' }));
    expect(ids(document)).toEqual(['calling', 'two', 'b']);
  });

  it('says which run and which cell painted it', () => {
    const scene = stage();
    scene.does(start, add('one'));
    const hash = sourceHash('# one');
    expect(markOf(scene, 'one')).toMatchObject({
      run: 'r',
      call: 'call-one',
      hash,
      painted_by: 'calling'
    });
  });

  it('shows what comes between begin and end, and is marked meanwhile', () => {
    const { document, painter, does, texts } = stage();
    does(start, add('one'), begin('one'));
    expect(painter.output(printed('hi'))).toBe(true);
    expect(painter.output(failed('E', 'x'))).toBe(true);
    expect(texts('one')).toEqual(['hi', 'E']);
    const model = document.panel.content.widgets[1]?.model as { executionState?: string };
    expect(model.executionState).toBe('running');
    does(end('one'));
    expect(document.port.cells()[1]?.execution_count).toBe(7);
    expect(model.executionState).toBe('idle');
  });

  it('is cleared alone', () => {
    const { painter, does, texts } = stage();
    does(start, add('one'), begin('one'));
    painter.output(printed('gone'));
    does({ op: 'clear', cell_id: 'one', wait: true });
    expect(texts('one')).toEqual(['gone']);
    painter.output(printed('kept'));
    expect(texts('one')).toEqual(['kept']);
  });

  it('runs no longer when its end never came', () => {
    const { document, painter, does } = stage();
    does(start, add('one'), begin('one'));
    painter.close();
    const model = document.panel.content.widgets[1]?.model as { executionState?: string };
    expect(model.executionState).toBe('idle');
  });
});

describe('output between two cells', () => {
  const prose: OutputMessage = shown('prose', 'cellwright-1');

  it('is the calling cell’s own before anything was painted and after the run', () => {
    const { painter, does } = stage();
    expect(painter.output(printed('before'))).toBe(false);
    does(start);
    expect(painter.output(printed('before'))).toBe(false);
    does(add('one'), begin('one'), end('one'), done);
    expect(painter.output(printed('after'))).toBe(false);
  });

  it('is a thread’s, unless it is the model’s prose', () => {
    const { painter, does, texts } = stage();
    does(start, add('one'), begin('one'), end('one'));
    expect(painter.output(prose)).toBe(false);
    expect(painter.output(printed('late'))).toBe(true);
    expect(painter.output(shown('late, too'))).toBe(true);
    expect(texts('one')).toHaveLength(2);
  });

  it('is a thread’s again when the calling cell is over', () => {
    const { painter, does, texts } = stage();
    does(start, add('one'), begin('one'), end('one'), done);
    painter.close();
    expect(painter.output(printed('very late'))).toBe(true);
    expect(texts('one')).toEqual(['very late']);
  });

  it('stays in the calling cell when the painted one was deleted', () => {
    const { document, painter, does } = stage();
    does(start, add('one'), begin('one'), end('one'));
    document.model.sharedModel.deleteCell(1);
    expect(painter.output(printed('late'))).toBe(false);
  });
});

describe('a run that begins', () => {
  const cells = [
    code('calling', '%agent'),
    painted('old', 'x', 'calling'),
    painted('edited', 'mine', 'calling', sourceHash('theirs')),
    painted('other', 'y', 'another')
  ];

  it('takes out what the cell painted before, and nothing that somebody changed', () => {
    const { document, does } = stage(cells);
    does(start);
    expect(ids(document)).toEqual(['calling', 'edited', 'other']);
  });

  it('leaves the copies that somebody made of what the cell painted', () => {
    const first = stage();
    first.does(start, add('old'), { op: 'edit', run: 'r', call: 'e', cell_id: 'old', ...BETTER });
    const metadata = { cellwright: markOf(first, 'old') };
    const both = ['old', 'copy'].map(id => code(id, 'better', { metadata }));
    const { document, does } = stage([code('calling', '%agent'), ...both]);
    does({ op: 'start', run: 'later' });
    expect(ids(document)).toEqual(['calling', 'copy']);
  });

  it('leaves what an earlier run of the same execution painted', () => {
    const { document, does } = stage();
    does(start, add('one'), done, { op: 'start', run: 'r2' }, add('two', { run: 'r2' }));
    expect(ids(document)).toEqual(['calling', 'two', 'one', 'b']);
  });
});

describe('an edit', () => {
  function edit(id: string, before: string, source: string): Operation {
    const previous_hash = sourceHash(before);
    return { op: 'edit', run: 'r', call: 'e', cell_id: id, source, previous_hash };
  }

  it('changes the cell and keeps the note of who painted it', () => {
    const scene = stage();
    scene.does(start, add('one'), edit('one', '# one', 'better'));
    expect(sources(scene.document)).toEqual(['%agent', 'better', 'y']);
    expect(markOf(scene, 'one')).toMatchObject({
      painted_by: 'calling',
      hash: sourceHash('better')
    });
  });

  it('of a cell that the person wrote does not make it a painted one', () => {
    const scene = stage();
    scene.does(start, edit('b', 'y', 'z'));
    expect(sources(scene.document)).toEqual(['%agent', 'z']);
    expect(markOf(scene, 'b')).not.toHaveProperty('painted_by');
  });

  it('that does not fit any more becomes a cell of its own, with its outputs', () => {
    const { document, painter, does, texts } = stage();
    does(start, edit('b', 'what it was once', 'z'), begin('b'));
    painter.output(printed('shown'));
    does(end('b'));
    expect(sources(document)).toEqual(['%agent', 'y', 'z']);
    expect(texts(ids(document)[2] ?? '')).toEqual(['shown']);
    expect(texts('b')).toEqual([]);
  });

  it('never changes the calling cell', () => {
    const { document, does } = stage();
    does(start, edit('calling', '%agent', 'z'));
    expect(sources(document)).toEqual(['%agent', 'z', 'y']);
  });
});

describe('a cell that is moved or removed', () => {
  function remove(id: string, source: string): Operation {
    return { op: 'remove', run: 'r', call: 'd', cell_id: id, previous_hash: sourceHash(source) };
  }

  it('goes', () => {
    const { document, does } = stage();
    does(start, add('one'), remove('one', '# one'));
    expect(ids(document)).toEqual(['calling', 'b']);
    does(add('two'), { op: 'move', run: 'r', call: 'm', cell_id: 'two', after: 'b' });
    expect(ids(document)).toEqual(['calling', 'b', 'two']);
  });

  it('is never the calling cell', () => {
    const { document, does } = stage();
    does(start, remove('calling', '%agent'));
    does({ op: 'move', run: 'r', call: 'm', cell_id: 'calling', after: 'b' });
    expect(ids(document)).toEqual(['calling', 'b']);
  });
});

describe('Markdown that loads from elsewhere', () => {
  const note = { cell_type: 'markdown', source: '![x](http://evil.test/x.png)' } as const;

  it('is drawn where the kernel asks before it sends such, and raw where it does not', () => {
    const { document, does } = stage();
    does(start, add('asked', { ...note, asks: true }), add('old', note), done);
    const types = document.port.cells().map(({ id, cell_type }) => [id, cell_type]);
    expect(types).toContainEqual(['asked', 'markdown']);
    expect(types).toContainEqual(['old', 'raw']);
  });
});
