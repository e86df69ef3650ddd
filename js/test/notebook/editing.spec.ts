import { started as runStarted } from '../chat/events';
import { afterEach, describe, expect, it } from 'vitest';

import { sourceHash } from '../../src/notebook/source_hash';
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

describe('a cell that is added', () => {
  it('is not shown where it is run without a place', () => {
    const document = open();
    new Run(document.port).apply(added('scratch', { is_scratch: true }));
    expect(ids(document)).toEqual(['a', 'b']);
  });

  it('goes behind the cell it names', () => {
    const document = open();
    new Run(document.port).apply(added('new', { after: 'a' }));
    expect(ids(document)).toEqual(['a', 'new', 'b']);
  });

  it('goes to the end when it names none, and the next one behind it', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(added('one'));
    document.model.sharedModel.insertCell(3, { cell_type: 'code', id: 'mine' });
    run.apply(added('two'));
    expect(ids(document)).toEqual(['a', 'b', 'one', 'two', 'mine']);
  });

  it('goes to the end when the run’s other cells are gone', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(added('one', { after: 'a' }));
    document.model.sharedModel.deleteCell(1);
    run.apply(added('two'));
    expect(ids(document)).toEqual(['a', 'b', 'two']);
  });

  it('says in its metadata which run and call wrote it', () => {
    const document = open();
    new Run(document.port).apply(added('new', { source: 'z' }));
    expect(document.port.cells().at(-1)?.metadata?.cellwright).toEqual({
      run: 'run-1',
      call: 'call-1',
      hash: sourceHash('z'),
      added: 'call-1'
    });
  });

  it('leaves a trusted notebook trusted', () => {
    const document = open([code('a', 'x', { metadata: { trusted: true } })]);
    new Run(document.port).apply(added('new'));
    expect(Array.from(document.model.cells, cell => cell.trusted)).toEqual([true, true]);
  });

  it('is not added again when it is there', () => {
    const document = open();
    new Run(document.port).apply(added('new'));
    new Run(document.port, 'the same after a reload').apply(added('new'), true);
    expect(ids(document)).toEqual(['a', 'b', 'new']);
  });

  it('may be text', () => {
    const document = open();
    new Run(document.port).apply(added('new', { cell_type: 'markdown', source: '# Title' }));
    expect(document.port.cells().at(-1)).toMatchObject({
      cell_type: 'markdown',
      source: '# Title'
    });
  });
});

describe('a cell that is edited', () => {
  it('gets the new text and the mark of who wrote it', () => {
    const document = open();
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'));
    expect(sources(document)).toEqual(['x = 10', 'y = 2']);
    expect(document.port.cells()[0]?.metadata?.cellwright).toMatchObject({ run: 'run-1' });
  });

  it('keeps the person’s text when they changed it meanwhile', () => {
    const document = open();
    document.model.sharedModel.getCell(0).setSource('x = 3');
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'));
    expect(sources(document)).toEqual(['x = 3', 'y = 2']);
  });

  it('keeps its text when the person made it read-only', () => {
    const document = open([code('a', 'x = 1', { metadata: { editable: false } })]);
    new Run(document.port).apply(edited('a', 'x = 1', 'x = 10'));
    expect(sources(document)).toEqual(['x = 1']);
  });

  it('keeps the person’s text when a branch is kept, and shows nothing of that', () => {
    const document = open();
    document.model.sharedModel.getCell(0).setSource('mine');
    const run = new Run(document.port);
    const branch = { group: 'g', number: 2, count: 3, label: '' };
    run.apply(runStarted('go', { branch }));
    expect(run.apply(edited('a', 'x = 1', 'x = 10'))).toBe(false);
    for (const id of ['a', 'b']) {
      run.apply(started(id));
      run.apply(output(id, printed('of the branch')));
      run.apply(finished(id));
    }
    const cells = document.port.cells() as unknown as readonly CellJson[];
    expect(cells.map(cell => cell.execution_count)).toEqual([null, 1]);
    expect(cells.map(cell => cell.outputs)).toEqual([[], [expect.anything()]]);
    expect(run.apply(removed('b', 'y = 3'))).toBe(false);
  });

  it('is left alone when it is gone', () => {
    const document = open();
    new Run(document.port).apply(edited('gone', '', 'x'));
    expect(ids(document)).toEqual(['a', 'b']);
  });
});

describe('a cell that is removed', () => {
  it('goes', () => {
    const document = open();
    new Run(document.port).apply(removed('a', 'x = 1'));
    expect(ids(document)).toEqual(['b']);
  });

  it.each([
    ['the person changed it', {}, 'x = 3'],
    ['it must not be deleted', { deletable: false }, 'x = 1']
  ])('stays when %s', (_, metadata, source) => {
    const document = open([code('a', source, { metadata })]);
    new Run(document.port).apply(removed('a', 'x = 1'));
    expect(ids(document)).toEqual(['a']);
  });
});

describe('a cell that is moved', () => {
  it.each([
    ['first', 'c', '', ['c', 'a', 'b']],
    ['behind another', 'a', 'b', ['b', 'a', 'c']],
    ['nowhere when the other is gone', 'a', 'gone', ['a', 'b', 'c']],
    ['nowhere when it is there', 'b', 'a', ['a', 'b', 'c']]
  ])('goes %s', (_, id, after, expected) => {
    const document = open([code('a', ''), code('b', ''), code('c', '')]);
    new Run(document.port).apply(moved(id, after));
    expect(ids(document)).toEqual(expected);
  });
});

describe('an event', () => {
  it('that was applied before changes nothing', () => {
    const { port } = open();
    const event = { sequence: 1, time: 0, event: added('new') };
    port.apply('run-1', event, false);
    port.panel.content.model?.sharedModel.deleteCell(2);
    port.apply('run-1', event, true);
    expect(port.cells()).toHaveLength(2);
  });

  it('changes nothing in a read-only notebook', () => {
    const document = open();
    document.context.contentsModel = { writable: false };
    new Run(document.port).apply(added('new'));
    expect(document.port.editable).toBe(false);
    expect(ids(document)).toEqual(['a', 'b']);
  });
});

describe('Undo in the notebook', () => {
  it('takes back one call at a time, apart from what the person typed just before', () => {
    const document = open();
    const shared = document.model.sharedModel;
    shared.insertCell(0, { cell_type: 'code', id: 'mine' });
    const run = new Run(document.port);
    run.apply(added('one'));
    run.apply(added('two', { call_id: 'call-2' }));
    shared.undo();
    expect(ids(document)).toEqual(['mine', 'a', 'b', 'one']);
    shared.undo();
    expect(ids(document)).toEqual(['mine', 'a', 'b']);
    shared.redo();
    expect(ids(document)).toEqual(['mine', 'a', 'b', 'one']);
  });

  it('takes back all of a branch together, which came when it was kept', () => {
    const document = open();
    const shared = document.model.sharedModel;
    const run = new Run(document.port);
    const branch = { group: 'g', number: 2, count: 3, label: '' };
    run.apply(runStarted('go', { branch }));
    run.apply(added('one'));
    run.apply(added('two', { call_id: 'call-2' }));
    shared.undo();
    expect(ids(document)).toEqual(['a', 'b']);
  });

  it('takes back all of a call together', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply(edited('a', 'x = 1', 'x = 10'));
    run.apply(added('one'));
    document.model.sharedModel.undo();
    expect(sources(document)).toEqual(['x = 1', 'y = 2']);
  });

  it('inside an edited cell takes the edit back, too', () => {
    const document = open();
    const cell = document.model.sharedModel.getCell(0);
    cell.setSource('x = 5');
    new Run(document.port).apply(edited('a', 'x = 5', 'x = 10'));
    cell.undo();
    expect(sources(document)).toEqual(['x = 5', 'y = 2']);
  });
});
