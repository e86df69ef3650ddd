import { afterEach, describe, expect, it } from 'vitest';

import { added, edited } from './events';
import {
  code,
  type CellJson,
  closeAll,
  type Document,
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

const PICTURE = '![x](http://evil.test/x.png)';
const ALLOWED = {
  kind: 'approval_answered',
  call_id: 'call-1',
  allowed: true,
  previewed: false,
  adopted: false
} as const;

describe('Markdown that would load something from elsewhere', () => {
  const note = added('new', { cell_type: 'markdown', source: PICTURE });

  function types(document: Document): string[] {
    return document.port.cells().map(cell => cell.cell_type);
  }

  it('comes as a raw cell where nobody has allowed it, and stays one', () => {
    const document = open();
    new Run(document.port).apply(note);
    expect(types(document)).toEqual(['code', 'code', 'raw']);
    expect(sources(document)[2]).toBe(PICTURE);
    document.port.undo('run-1');
    document.port.redo('run-1');
    expect(types(document)).toEqual(['code', 'code', 'raw']);
  });

  it('comes as Markdown where the person has allowed the call, and no other', () => {
    const document = open();
    const run = new Run(document.port);
    run.apply({ ...ALLOWED, by: 'person', reason: '' });
    run.apply(note);
    run.apply({ ...note, cell_id: 'more', call_id: 'call-2' });
    expect(types(document)).toEqual(['code', 'code', 'markdown', 'raw']);
  });

  it('is not written into a Markdown cell that nobody has allowed it for', () => {
    const document = open([{ ...code('a', '# Title'), cell_type: 'markdown' }, code('b', 'y')]);
    const run = new Run(document.port);
    run.apply(edited('a', '# Title', PICTURE));
    run.apply(edited('b', 'y', PICTURE));
    expect(sources(document)).toEqual(['# Title', PICTURE]);
    run.apply({ ...ALLOWED, by: 'person', reason: '' });
    run.apply(edited('a', '# Title', PICTURE));
    expect(sources(document)).toEqual([PICTURE, PICTURE]);
  });

  it('is inserted as a raw cell from an earlier run', () => {
    const document = open();
    const cell = { id: 'old', cell_type: 'markdown', source: PICTURE, metadata: {} } as const;
    document.port.insert('run-0', [
      { cell, after: 'a' },
      { cell: { ...cell, id: 'fine', source: '# Title' }, after: 'old' }
    ]);
    expect(types(document)).toEqual(['code', 'raw', 'markdown', 'code']);
  });
});
