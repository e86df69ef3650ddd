import { afterEach, describe, expect, it } from 'vitest';

import { added, edited, finished, moved, output, printed, removed, started } from './events';
import {
  code,
  type CellJson,
  closeAll,
  type Document,
  ids,
  openDocument,
  Run,
  sources
} from './open_document';

const opened: Document[] = [];

function open(cells: readonly CellJson[] = [code('a', 'x = 1'), code('b', 'y = 2')]): Document {
  const document = openDocument(cells);
  opened.push(document);
  return document;
}

afterEach(() => {
  closeAll(opened.splice(0));
});

/** A run of two calls: one edits `a` and adds a cell, the other moves `b` and takes `c` away. */
function work(document: Document): void {
  const run = new Run(document.port);
  run.apply(edited('a', 'x = 1', 'x = 10', 'call-1'));
  run.apply(added('new', { call_id: 'call-1', source: 'z' }));
  run.apply(moved('b', '', 'call-2'));
  run.apply(removed('c', 'w = 3', 'call-2'));
}

const THREE = [code('a', 'x = 1'), code('b', 'y = 2'), code('c', 'w = 3')];

describe('undoing a run', () => {
  it('takes back all it did', () => {
    const document = open(THREE);
    work(document);
    expect(ids(document)).toEqual(['b', 'a', 'new']);
    expect(document.port.undo('run-1').kept).toEqual([]);
    expect(ids(document)).toEqual(['a', 'b', 'c']);
    expect(sources(document)).toEqual(['x = 1', 'y = 2', 'w = 3']);
    expect(document.port.cells()[0]?.metadata).not.toHaveProperty('cellwright');
  });

  it('takes back one call and leaves the others', () => {
    const document = open(THREE);
    work(document);
    expect(document.port.undo('run-1', 'call-2').changed).toEqual(['c', 'b']);
    expect(ids(document)).toEqual(['a', 'b', 'c', 'new']);
    expect(document.port.undo('run-1', 'call-1').changed).toEqual(['new', 'a']);
    expect(ids(document)).toEqual(['a', 'b', 'c']);
  });

  it('takes back a call with all later ones, and brings them back', () => {
    const document = open(THREE);
    const run = new Run(document.port);
    run.apply(edited('a', 'x = 1', 'x = 10', 'call-1'));
    run.apply(removed('c', 'w = 3', 'call-2'));
    run.apply(edited('b', 'y = 2', 'y = 20', 'call-3'));
    expect([...document.port.undo('run-1', 'call-2', true).changed].sort()).toEqual(['b', 'c']);
    expect(sources(document)).toEqual(['x = 10', 'y = 2', 'w = 3']);
    expect([...document.port.redo('run-1', 'call-2', true).changed].sort()).toEqual(['b', 'c']);
    expect(sources(document)).toEqual(['x = 10', 'y = 20']);
    expect(document.port.undo('run-1', 'call-9', true).changed).toEqual([]);
  });

  it('is one undo of the notebook itself', () => {
    const document = open(THREE);
    work(document);
    document.port.undo('run-1');
    document.model.sharedModel.undo();
    expect(ids(document)).toEqual(['b', 'a', 'new']);
    expect(sources(document)).toEqual(['y = 2', 'x = 10', 'z']);
  });

  it('keeps cells that the person changed, and says so', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(edited('a', 'x = 1', 'x = 10'));
    run.apply(added('new', { source: 'z' }));
    document.model.sharedModel.getCell(0).setSource('x = 11');
    document.model.sharedModel.getCell(2).setSource('z + 1');
    expect(document.port.undo('run-1')).toEqual({ changed: [], kept: ['new', 'a'] });
    expect(sources(document)).toEqual(['x = 11', 'y = 2', 'z + 1']);
  });

  it('takes back what it kept before once the person has taken their change back', () => {
    const document = open();
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'));
    const cell = document.model.sharedModel.getCell(0);
    cell.setSource('x = 11');
    expect(document.port.undo('run-1').kept).toEqual(['a']);
    cell.setSource('x = 10');
    expect(document.port.undo('run-1').changed).toEqual(['a']);
    expect(sources(document)[0]).toBe('x = 1');
  });

  it('brings a cell back near where it was when the one before it is gone', () => {
    const document = open(THREE);
    const run = new Run(document.port);
    run.apply(added('last', { after: 'c' }));
    run.apply(removed('c', 'w = 3', 'call-2'));
    document.model.sharedModel.deleteCell(1);
    document.port.undo('run-1', 'call-2');
    expect(ids(document)).toEqual(['a', 'c', 'last']);
  });

  it('keeps a cell that the person moved', () => {
    const document = open(THREE);
    new Run(document.port).apply(moved('a', 'c'));
    document.model.sharedModel.moveCell(2, 0);
    expect(document.port.undo('run-1').kept).toEqual(['a']);
  });

  it('says nothing of cells that the person took away', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(added('new'));
    run.apply(edited('a', 'x = 1', 'x = 10'));
    run.apply(moved('b', ''));
    document.model.sharedModel.deleteCellRange(0, 3);
    expect(document.port.undo('run-1')).toEqual({ changed: [], kept: [] });
  });

  it('goes back through several edits of one cell', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(edited('a', 'x = 1', 'x = 10', 'call-1'));
    run.apply(edited('a', 'x = 10', 'x = 100', 'call-2'));
    document.port.undo('run-1');
    expect(sources(document)[0]).toBe('x = 1');
  });

  it('brings back what the old text had shown', () => {
    const old = { output_type: 'stream', name: 'stdout', text: 'old' };
    const document = open([code('a', 'x = 1', { outputs: [old], execution_count: 1 })]);
    const run = new Run(document.port);
    run.apply(edited('a', 'x = 1', 'x = 10'));
    run.apply(started('a'));
    run.apply(output('a', printed('new')));
    run.apply(finished('a', { execution_count: 2 }));
    document.port.undo('run-1');
    expect(document.port.cells()[0]).toMatchObject({ outputs: [old], execution_count: 1 });
    document.port.redo('run-1');
    expect(document.port.cells()[0]).toMatchObject({
      outputs: [{ text: 'new' }],
      execution_count: 2
    });
  });

  it('can do nothing about a run it never saw', () => {
    const nothing = { changed: [], kept: [], isLate: true };
    expect(open().port.undo('another run')).toEqual(nothing);
  });

  it('takes back what the run added before the notebook was opened, and nothing else', () => {
    const before = open(THREE);
    work(before);
    const run = new Run(before.port, 'run-2');
    run.apply(added('two', { call_id: 'call-1', source: '2' }));
    run.apply(edited('two', '2', '22', 'call-2'));
    run.apply(added('mine', { call_id: 'call-1', source: '3' }));
    before.model.sharedModel.getCell(4).setSource('changed');
    const saved = before.port.cells() as unknown as readonly CellJson[];
    expect(ids(before)).toEqual(['b', 'a', 'new', 'two', 'mine']);
    const later = open(saved);
    expect(later.port.undo('run-1')).toEqual({ changed: ['new'], kept: [], isLate: true });
    expect(later.port.undo('run-2')).toEqual({ changed: ['two'], kept: [], isLate: true });
    expect(ids(later)).toEqual(['b', 'a', 'mine']);
    expect(later.port.redo('run-1').changed).toEqual(['new']);
    expect(ids(later)).toEqual(['b', 'a', 'new', 'mine']);
  });

  it('knows the text a cell got from the same run after a reload', () => {
    const document = open([code('new', 'z = 2')]);
    const run = new Run(document.port);
    run.apply(added('new', { source: 'z = 1' }), true);
    run.apply(edited('new', 'z = 1', 'z = 2', 'call-2'), true);
    document.port.undo('run-1', 'call-2');
    expect(sources(document)).toEqual(['z = 1']);
  });

  it('keeps a person’s cell whose old text it never saw', () => {
    const document = open([code('a', 'x = 10')]);
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'), true);
    expect(document.port.undo('run-1')).toEqual({ changed: [], kept: ['a'] });
  });
});

describe('redoing a run', () => {
  it('does again what was undone, with the outputs', () => {
    const document = open(THREE);
    work(document);
    const run = new Run(document.port, 'run-2');
    run.apply(added('shown'));
    run.apply(started('shown'));
    run.apply(output('shown', printed('hello')));
    run.apply(finished('shown', { execution_count: 3 }));
    document.port.undo('run-2');
    document.port.undo('run-1');
    document.port.redo('run-1');
    document.port.redo('run-2');
    expect(ids(document)).toEqual(['b', 'a', 'new', 'shown']);
    expect(sources(document).slice(0, 3)).toEqual(['y = 2', 'x = 10', 'z']);
    expect(document.port.cells()[3]).toMatchObject({
      execution_count: 3,
      outputs: [{ text: 'hello' }]
    });
  });

  it('brings back outputs that were cleared, and clears them again', () => {
    const document = open([code('a', 'x = 1')]);
    const run = new Run(document.port);
    run.apply(started('a'));
    run.apply(output('a', printed('hello')));
    run.apply(finished('a', { execution_count: 3 }));
    run.apply({ ...edited('a', 'x = 1', 'x = 1'), outputs: [] });
    const shown = { execution_count: 3, outputs: [{ text: 'hello' }] };
    const cleared = { execution_count: null, outputs: [] };
    expect(document.port.cells()[0]).toMatchObject(cleared);
    expect(document.port.undo('run-1')).toEqual({ changed: ['a'], kept: [] });
    expect(document.port.cells()[0]).toMatchObject(shown);
    document.port.redo('run-1');
    expect(document.port.cells()[0]).toMatchObject(cleared);
    run.apply({
      ...edited('a', 'x = 1', 'x = 1'),
      outputs: [{ kind: 'stream', name: 'stdout', text: 'back' }],
      execution_count: 4
    });
    expect(document.port.cells()[0]).toMatchObject({ execution_count: 4 });
    expect(document.port.cells()[0]).toMatchObject({ outputs: [{ text: 'back' }] });
  });

  it('leaves alone what was not undone', () => {
    const document = open(THREE);
    work(document);
    expect(document.port.redo('run-1')).toEqual({ changed: [], kept: [] });
  });

  it('leaves a cell that the person has changed since', () => {
    const document = open();
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'));
    document.port.undo('run-1');
    document.model.sharedModel.getCell(0).setSource('mine');
    expect(document.port.redo('run-1')).toEqual({ changed: [], kept: ['a'] });
    expect(sources(document)[0]).toBe('mine');
  });
});

describe('cells that were made while the notebook was closed', () => {
  const wire = (id: string) => ({
    id,
    cell_type: 'code' as const,
    source: `# ${id}`,
    metadata: {},
    outputs: [{ output_type: 'stream', name: 'stdout', text: id }],
    execution_count: 5
  });

  it('are put where they belong, outputs included, as one undo', () => {
    const document = open();
    document.port.insert('run-1', [
      { cell: wire('one'), after: 'a' },
      { cell: wire('two'), after: 'one' },
      { cell: wire('three'), after: '' },
      { cell: wire('b'), after: '' }
    ]);
    expect(ids(document)).toEqual(['a', 'one', 'two', 'b', 'three']);
    expect(document.port.cells()[1]).toMatchObject({
      execution_count: 5,
      outputs: [{ text: 'one' }],
      metadata: { cellwright: { run: 'run-1' } }
    });
    document.model.sharedModel.undo();
    expect(ids(document)).toEqual(['a', 'b']);
  });

  it('can be taken back with their run', () => {
    const document = open();
    document.port.insert('run-1', [{ cell: wire('one'), after: 'a' }]);
    expect(document.port.undo('run-1').changed).toEqual(['one']);
    expect(ids(document)).toEqual(['a', 'b']);
  });
});
