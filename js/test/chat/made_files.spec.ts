import { expect, it } from 'vitest';

import type { FileChange } from '../../src/wire/generated';
import { madeFiles, placeOf } from '../../src/panel/made_files';
import { card } from '../panel/fakes';
import { complete } from '../complete';

const RAN = complete('Execution', { status: 'ok', duration_seconds: 0.1, execution_count: 1 });

function ran(files: readonly FileChange[], cwd = '') {
  return card({ execution: { ...RAN, files, cwd } });
}

function file(path: string, change: FileChange['change'], size = 10): FileChange {
  return { path, change, size_bytes: size };
}

it('lists what is left of the files of a turn, new ones first', () => {
  const found = madeFiles([
    ran([file('old.csv', 'modified'), file('best.csv', 'created'), file('draft', 'created')]),
    { kind: 'text', text: 'Done.', isStreaming: false },
    ran([file('best.csv', 'modified', 20), file('draft', 'deleted'), file('gone', 'deleted')])
  ]);
  expect(found).toEqual([
    { path: 'best.csv', folder: '', isNew: true, sizeBytes: 20 },
    { path: 'old.csv', folder: '', isNew: false, sizeBytes: 10 }
  ]);
});

it.each([
  ['a.csv', '', 'work/x.ipynb', 'work/a.csv'],
  ['a.csv', '', 'x.ipynb', 'a.csv'],
  ['a.csv', '/home/me/notes', 'x.ipynb', '/home/me/notes/a.csv'],
  ['/data/a.csv', '/home/me/notes', 'x.ipynb', '/data/a.csv']
])('finds %s of a kernel in "%s" beside %s', (path, folder, notebook, place) => {
  expect(placeOf({ path, folder, isNew: true, sizeBytes: 1 }, notebook)).toBe(place);
});

it('leaves out what a database keeps beside its file', () => {
  const files = ['a.sqlite', 'a.sqlite-wal', 'a.sqlite-shm', 'b.db-journal'];
  const found = madeFiles([ran(files.map(path => file(path, 'created')))]);
  expect(found.map(({ path }) => path)).toEqual(['a.sqlite']);
});
