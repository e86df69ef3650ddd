import { expect, it } from 'vitest';

import { documentAt } from '../../../src/pages/page_opener';

it.each([
  ['notes/a.md', '', 'notes/a.md'],
  ['./a.md', '', 'a.md'],
  ['a#b.csv', '', 'a#b.csv'],
  ['/home/me/notes/a.md', '/home/me/notes/', 'a.md'],
  ['/home/me/notes/a.md', '~/notes', 'a.md'],
  ['/home/me/a.md', '~', 'a.md'],
  ['C:\\work\\sub\\a.md', 'C:\\work', 'sub/a.md']
])('finds %s below %s as the file browser names it', (place, root, found) => {
  expect(documentAt(place, root)).toBe(found);
});

it.each([
  ['/etc/passwd', '/home/me/notes'],
  ['/home/me/notesbook/a.md', '/home/me/notes'],
  ['/etc/notes/a.md', '~/notes'],
  ['~/a.md', '/home/me'],
  ['../a.md', ''],
  ['a/../../b.md', ''],
  ['/a.md', ''],
  ['', '']
])('does not open %s, which a server at %s does not show', (place, root) => {
  expect(documentAt(place, root)).toBe('');
});
