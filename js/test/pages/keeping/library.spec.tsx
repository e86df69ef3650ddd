import { fireEvent, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { document as text } from './kept';
import { findings, KeepingStage, press, write } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

it('says what to do where it is empty', async () => {
  stage.kept.library = { documents: [], libraries: [], indexing: null };
  await stage.show('library');
  expect(await screen.findByText(/The library is empty/)).toBeTruthy();
  expect(screen.queryByRole('searchbox')).toBeNull();
});

it('adds a place and follows the reading of it', async () => {
  const { container } = await stage.show('library');
  const field = await screen.findByRole('textbox', { name: 'File, folder or address' });
  write(field, 'notes');
  await press('Add to the library');
  await expect.poll(() => stage.sent('POST', 'library')).toEqual({ place: 'notes' });
  expect(await screen.findByText('Reading 1 of 2: b.md')).toBeTruthy();
  expect(screen.getByRole('progressbar').getAttribute('max')).toBe('2');
  expect(await findings(container)).toEqual([]);
});

it('takes the next place while the one before is being added', async () => {
  await stage.show('library');
  const field = await screen.findByRole('textbox', { name: 'File, folder or address' });
  for (const place of ['notes', 'papers']) {
    write(field, place);
    await press('Add to the library');
  }
  const added = (): unknown[] =>
    stage.server.requests
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => JSON.parse(body) as unknown);
  await expect.poll(added).toEqual([{ place: 'notes' }, { place: 'papers' }]);
  await expect.poll(() => (field as HTMLInputElement).value).toBe('');
});

it('takes a document out after a second yes, and says what is wrong with one', async () => {
  stage.kept.library = {
    documents: [text('a'), text('b', { problem: 'It holds no text.', place: '/far/b.pdf' })],
    libraries: [],
    indexing: null
  };
  await stage.show('library');
  expect(await screen.findByText('It holds no text.')).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'b.md' })).toBeNull();
  await press('Remove "a.md"');
  await press('Remove');
  expect(await screen.findByText(/The library is empty/)).toBeTruthy();
});

it('uploads chosen and dropped files, and tells which were not taken', async () => {
  const { container } = await stage.show('library');
  await screen.findByRole('table');
  stage.server.routes.set('POST library', ({ body }) =>
    body.includes('.zip')
      ? Response.json({ message: 'It cannot be read.', hint: 'Use text.' }, { status: 400 })
      : {}
  );
  const large = new File(['x'], 'large.pdf');
  Object.defineProperty(large, 'size', { value: 30_000_000 });
  const files = [new File(['x'], 'a.md'), new File(['x'], 'b.zip'), large];
  const part = container.querySelector('.cw-keeping-frame') ?? container;
  fireEvent.dragOver(part, { dataTransfer: { types: ['Files'], files: [] } });
  expect(screen.getByText('Drop files to add them')).toBeTruthy();
  fireEvent.drop(part, { dataTransfer: { types: ['Files'], files } });
  expect(await screen.findByText('Uploading 1 of 3: a.md')).toBeTruthy();
  expect((await screen.findByRole('alert')).textContent).toBe(
    'b.zip It cannot be read. Use text.large.pdf It is larger than 20 MB. Put it into a folder of the server and add that.'
  );
  expect(stage.sent('POST', 'library')).toEqual({ place: '0a1b-b.zip', name: 'b.zip' });
  expect(stage.server.requests.filter(({ path }) => path === 'files')).toHaveLength(2);
  expect(await findings(container)).toEqual([]);
  const chooser = container.querySelector('input[type=file]') ?? container;
  fireEvent.change(chooser, { target: { files: [new File(['x'], 'c.md')] } });
  await expect
    .poll(() => stage.sent('POST', 'library'))
    .toEqual({ place: '0a1b-c.md', name: 'c.md' });
  expect(screen.queryByRole('alert')).toBeNull();
});

it('takes all documents of a library out after a second yes', async () => {
  const library = { id: 'l1', name: 'default', place: '', is_default: true, documents: 2 };
  const documents = [text('a'), text('b', { place: '' })];
  stage.kept.library = { documents, libraries: [library], indexing: null };
  await stage.show('library');
  expect(await screen.findByText('Uploaded')).toBeTruthy();
  await press('Remove all documents');
  expect(screen.getByText(/Take 2 documents out/)).toBeTruthy();
  await press('Remove');
  expect(await screen.findByText(/The library is empty/)).toBeTruthy();
  const asked = stage.server.requests.find(({ method }) => method === 'DELETE');
  expect([asked?.query.get('library'), asked?.query.get('all')]).toEqual(['l1', '1']);
});

it('lists several libraries, to take one of them out', async () => {
  const library = { id: 'l1', name: 'default', place: '', is_default: true, documents: 1 };
  const other = { ...library, id: 'l2', name: 'papers', place: 'work', is_default: false };
  stage.kept.library = {
    documents: [text('a'), text('b')],
    libraries: [library, other],
    indexing: null
  };
  const { container } = await stage.show('library');
  await press('Remove "papers"');
  await press('Keep');
  expect(await findings(container)).toEqual([]);
  expect(screen.getByRole('button', { name: 'Remove "papers"' })).toBeTruthy();
});

it('finds numbered passages that lead to a file or a cell', async () => {
  const { container } = await stage.show('library');
  write(await screen.findByRole('searchbox', { name: 'Search the library' }), 'price');
  expect(await screen.findByText('2 passages')).toBeTruthy();
  const items = within(screen.getByRole('list')).getAllByRole('listitem');
  expect(items.map(item => item.getAttribute('value'))).toEqual(['1', '2']);
  expect(items.map(item => item.textContent)).toEqual([
    '1a.md Prices · line 1Passage 1',
    '2work.ipynb cell 3f2aPassage 2'
  ]);
  await press('work.ipynb');
  expect(stage.opened).toEqual(['work.ipynb cell 3f2a']);
  expect(await findings(container)).toEqual([]);
  write(screen.getByRole('searchbox'), '');
  await expect.poll(() => screen.queryByText('2 passages')).toBeNull();
});

it('says when nothing fits, or why nothing could be looked for', async () => {
  stage.kept.hits = [];
  await stage.show('library');
  write(await screen.findByRole('searchbox'), 'x');
  expect(await screen.findByText('No passage fits')).toBeTruthy();
  stage.server.routes.set('GET library/search', () =>
    Response.json({ message: 'The index is being built.' }, { status: 409 })
  );
  write(screen.getByRole('searchbox'), 'xy');
  expect((await screen.findByRole('alert')).textContent).toBe('The index is being built.');
});
