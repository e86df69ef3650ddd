import { act, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { row } from './kept';
import { details } from './kept_assistants';
import { findings, KeepingStage, press, write } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

async function form(): Promise<HTMLElement> {
  return screen.findByRole('form');
}

async function open(name: string): Promise<void> {
  await press(name);
  await form();
}

function box(name: string | RegExp): HTMLInputElement {
  return screen.getByRole<HTMLInputElement>('textbox', { name });
}

it('lists assistants with what they do, where they are from and what they took', async () => {
  stage.assistants.files = [
    details('reviewer', { model: 'gpt-5.6', is_default: true, is_public: true }),
    details('writer', { place: 'own' })
  ];
  stage.kept.rows = [row('reviewer', { label: 'reviewer' })];
  const { container } = await stage.show('assistants');
  const first = await screen.findByRole('row', { name: /^reviewer/ });
  expect(first.textContent).toBe(
    'reviewerDefaultGuests tooDoes reviewergpt-5.6Beside the notebookwork12.9K$0.25'
  );
  expect(screen.getByRole('row', { name: /^writer/ }).textContent).toBe(
    'writerDoes writerAs it is setYour own, in every project––'
  );
  expect(stage.server.requests.find(({ path }) => path === 'usage')?.query.get('by')).toBe(
    'assistant'
  );
  expect(await findings(container)).toEqual([]);
});

it('lists them also where nobody knows what they took', async () => {
  stage.server.routes.delete('GET usage');
  await stage.show('assistants');
  expect(await screen.findByRole('row', { name: /^reviewer.*– –$/ })).toBeTruthy();
});

it('says what is wrong with other files, and what to do where there is none', async () => {
  stage.assistants.files = [];
  stage.assistants.problems = ["odd.toml: 'tols' is not known, did you mean 'tools'?"];
  const { container } = await stage.show('assistants');
  expect(await screen.findByText(/There is none yet/)).toBeTruthy();
  expect(screen.getByText(/did you mean 'tools'/)).toBeTruthy();
  expect(await findings(container)).toEqual([]);
});

it('lets those only look who may write none', async () => {
  stage.assistants.places = [];
  await stage.show('assistants');
  expect(await screen.findByRole('rowheader', { name: 'reviewer' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: 'reviewer' })).toBeNull();
  expect(screen.queryByRole('button', { name: 'New assistant' })).toBeNull();
});

it('writes a new one where the person wants it, and leads back to its row', async () => {
  const { container } = await stage.show('assistants');
  await open('New assistant');
  expect(document.activeElement).toBe(box('Name'));
  write(box('Name'), ' plotter ');
  write(screen.getByRole('combobox', { name: 'Where its file is' }), 'own');
  expect(screen.getByText('~/.cellwright/assistants')).toBeTruthy();
  write(box('What it does'), 'Draws');
  write(box('Instructions'), 'Name the axes.');
  expect(screen.getByText('14 of 8,000')).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  fireEvent.submit(await form());
  const link = await screen.findByRole('button', { name: 'plotter' });
  expect(document.activeElement).toBe(link);
  expect(screen.getByText('"plotter" is saved.')).toBeTruthy();
  expect(stage.sent('POST', 'assistants')).toMatchObject({
    place: 'own',
    name: 'plotter',
    description: 'Draws',
    instructions: 'Name the axes.',
    temperature: null,
    tools: null,
    scenes: []
  });
  const made = stage.server.requests.find(({ method }) => method === 'POST');
  expect(made?.query.get('notebook')).toBe('work/a.ipynb');
  expect(stage.told).toEqual([{ from: '', to: 'plotter' }]);
});

it('sends only what was changed, with the version that was read', async () => {
  const { container } = await stage.show('assistants');
  await open('reviewer');
  expect(document.activeElement).toBe(box('Name'));
  expect(box('Instructions').value).toBe('Be careful.');
  write(box('What it does'), 'Looks twice');
  fireEvent.click(screen.getByRole('checkbox', { name: 'Remembers across chats' }));
  fireEvent.click(screen.getByRole('checkbox', { name: 'Answers where no other is chosen' }));
  write(screen.getByRole('combobox', { name: /^How the model/ }), 'json');
  expect(await findings(container)).toEqual([]);
  fireEvent.keyDown(box('Name'), { key: 'Enter', ctrlKey: true });
  expect(await screen.findByText('"reviewer" is saved.')).toBeTruthy();
  expect(stage.sent('PUT', 'assistants/reviewer')).toEqual({
    version: 'v1',
    description: 'Looks twice',
    adapter: 'json',
    is_default: true,
    disable_memory: true
  });
});

it('tells others of a new name', async () => {
  await stage.show('assistants');
  await open('reviewer');
  write(box('Name'), 'critic');
  await press('Save');
  expect(await screen.findByText('"critic" is saved.')).toBeTruthy();
  expect(stage.told).toEqual([{ from: 'reviewer', to: 'critic' }]);
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'critic' }));
});

it('keeps what was typed when the server refuses it, and says why', async () => {
  stage.server.routes.set('PUT assistants/reviewer', () =>
    Response.json({ message: 'model: has 201 characters.', hint: 'Shorten it.' }, { status: 400 })
  );
  await stage.show('assistants');
  await open('reviewer');
  write(box('Instructions'), 'Another way.');
  await press('Save');
  expect((await screen.findByRole('alert')).textContent).toBe(
    'model: has 201 characters. Shorten it.'
  );
  expect(box('Instructions').value).toBe('Another way.');
});

it('names what is missing or too long beside its field, and goes to the first one', async () => {
  const { container } = await stage.show('assistants');
  await open('New assistant');
  write(box('Instructions'), 'x'.repeat(8001));
  expect(screen.getByText('8,001 characters, at most 8,000 are allowed.')).toBeTruthy();
  expect(screen.queryByText('This is needed.')).toBeNull();
  await press('Save');
  expect(screen.getByText('This is needed.')).toBeTruthy();
  await expect.poll(() => document.activeElement).toBe(box('Name'));
  expect(box('Name').getAttribute('aria-invalid')).toBe('true');
  const ids = box('Instructions').getAttribute('aria-describedby')?.split(' ') ?? [];
  expect(ids.map(id => document.getElementById(id)?.textContent)).toEqual([
    '8,001 characters, at most 8,000 are allowed.',
    '8,001 of 8,000'
  ]);
  expect(await findings(container)).toEqual([]);
  write(box('Name'), '../etc');
  expect(screen.getByText(/the first one a letter/)).toBeTruthy();
  write(box('Name'), 'reviewer');
  expect(screen.getByText('There is an assistant of this name in this place.')).toBeTruthy();
  write(box('Name'), 'writer');
  expect(screen.getByText(/There is one of this name in another place: Your own/)).toBeTruthy();
  write(box('Temperature'), 'warm');
  expect(screen.getByText('A number from 0.1 to 1, or nothing.')).toBeTruthy();
  write(box('Temperature'), '3');
  expect(screen.getByText('Counts as 1: it goes from 0.1 to 1.')).toBeTruthy();
  expect(stage.server.requests.some(({ method }) => method === 'POST')).toBe(false);
});

it('leaves a form in which nothing was typed with Escape', async () => {
  await stage.show('assistants');
  await open('writer');
  fireEvent.keyDown(await form(), { key: 'Escape' });
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'writer' }));
});

it('asks before what was typed goes', async () => {
  const { container } = await stage.show('assistants');
  await open('writer');
  write(box('What it does'), 'Writes');
  await press('Cancel');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Keep' }));
  expect(await findings(container)).toEqual([]);
  fireEvent.keyDown(screen.getByRole('button', { name: 'Keep' }), { key: 'Escape' });
  expect(screen.queryByText('Discard what you typed?')).toBeNull();
  const button = screen.getByRole('button', { name: 'Save' });
  await expect.poll(() => document.activeElement).toBe(button);
  expect(box('What it does').value).toBe('Writes');
  await press('Cancel');
  await press('Discard');
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'writer' }));
  await open('writer');
  expect(box('What it does').value).toBe('Does writer');
});

it('keeps what was typed while the person looks at something else', async () => {
  const { container } = await stage.show('assistants');
  await open('New assistant');
  write(box('Name'), 'plotter');
  fireEvent.click(screen.getByRole('tab', { name: 'Memory' }));
  await screen.findByText('Fact 1');
  fireEvent.click(screen.getByRole('tab', { name: 'Assistants' }));
  expect(document.activeElement).not.toBe(box('Name'));
  await press('All assistants');
  expect(await screen.findByRole('row', { name: /^plotter Not saved/ })).toBeTruthy();
  await open('reviewer');
  write(box('Instructions'), 'Twice.');
  await press('All assistants');
  expect(screen.getByRole('row', { name: /^reviewer Not saved/ })).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  await open('reviewer');
  expect(box('Instructions').value).toBe('Twice.');
  await press('All assistants');
  await open('plotter');
  expect(box('Name').value).toBe('plotter');
});

it('has what was typed when the page is opened again', async () => {
  await stage.show('assistants');
  await open('New assistant');
  write(box('Name'), 'plotter');
  await press('All assistants');
  await open('reviewer');
  write(box('Instructions'), 'Twice.');
  stage.reopen();
  await stage.show('assistants');
  expect(await screen.findByRole('row', { name: /^plotter Not saved/ })).toBeTruthy();
  await open('reviewer');
  expect(box('Instructions').value).toBe('Twice.');
  await press('Save');
  await screen.findByText('"reviewer" is saved.');
  expect(stage.sent('PUT', 'assistants/reviewer')).toEqual({
    version: 'v1',
    instructions: 'Twice.'
  });
  await open('plotter');
  await press('Cancel');
  await press('Discard');
  stage.reopen();
  await stage.show('assistants');
  await screen.findByRole('button', { name: 'reviewer' });
  expect(screen.queryByText('Not saved')).toBeNull();
});

it.each(['{', '[{"notebook": 3}]'])('begins anew where the browser has kept %s', async kept => {
  stage.browser.setItem('cellwright:assistants', kept);
  stage.reopen();
  await stage.show('assistants');
  expect(await screen.findByRole('button', { name: 'reviewer' })).toBeTruthy();
});

it('deletes one only after a second yes', async () => {
  await stage.show('assistants');
  await open('reviewer');
  await press('Delete');
  expect(screen.getByText(/Delete "reviewer" with its file/)).toBeTruthy();
  await press('Keep');
  await press('Delete');
  await press('Delete');
  expect(await screen.findByText('"reviewer" is deleted.')).toBeTruthy();
  expect(screen.queryByRole('row', { name: /^reviewer/ })).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole('button', { name: 'New assistant' }));
  expect(stage.told).toEqual([{ from: 'reviewer', to: '' }]);
});

it('makes a new one of another, under a name that is free', async () => {
  stage.assistants.files = [
    details('reviewer', { is_default: true, tools: ['read_*'] }),
    details('reviewer copy')
  ];
  await stage.show('assistants');
  await open('reviewer');
  await press('Duplicate');
  await expect.poll(() => box('Name').value).toBe('reviewer copy 2');
  await press('Save');
  await screen.findByText('"reviewer copy 2" is saved.');
  expect(stage.sent('POST', 'assistants')).toMatchObject({
    name: 'reviewer copy 2',
    tools: ['read_*'],
    is_default: false,
    place: 'notebook'
  });
});

it('tells of a file that was changed meanwhile, and loses nothing that was typed', async () => {
  const { container } = await stage.show('assistants');
  await open('reviewer');
  write(box('Instructions'), 'Mine.');
  stage.assistants.touch('reviewer', { instructions: 'Theirs.', description: 'New words' });
  await press('Save');
  expect((await screen.findByRole('alert')).textContent).toMatch(/changed meanwhile/);
  expect(box('Instructions').value).toBe('Mine.');
  expect(await findings(container)).toEqual([]);
  await press('Load it again');
  expect(await screen.findByText(/Changed here and in the file: Instructions/)).toBeTruthy();
  expect(box('Instructions').value).toBe('Mine.');
  expect(box('What it does').value).toBe('New words');
  expect(screen.getByText('Theirs.')).toBeTruthy();
  expect(await findings(container)).toEqual([]);
  await press('Save');
  await screen.findByText('"reviewer" is saved.');
  expect(stage.assistants.files[0]).toMatchObject({
    instructions: 'Mine.',
    description: 'New words'
  });
});

it('takes what the file has where the person wants that', async () => {
  await stage.show('assistants');
  await open('reviewer');
  write(box('Instructions'), 'Mine.');
  fireEvent.click(screen.getByRole('checkbox', { name: 'May look into the web' }));
  stage.assistants.touch('reviewer', { instructions: 'Theirs.' });
  await press('Save');
  await press('Load it again');
  await press('Take what the file has: Instructions');
  expect(box('Instructions').value).toBe('Theirs.');
  expect(screen.queryByText(/Changed here and in the file/)).toBeNull();
  await press('Save');
  await screen.findByText('"reviewer" is saved.');
  expect(stage.sent('PUT', 'assistants/reviewer')).toEqual({
    version: 'v2',
    disable_web_browsing: true
  });
});

it('keeps what was typed about one whose file is gone', async () => {
  await stage.show('assistants');
  await open('reviewer');
  write(box('Instructions'), 'Mine.');
  stage.assistants.files = [];
  await press('Save');
  expect((await screen.findByRole('alert')).textContent).toMatch(/not there any more/);
  await press('Duplicate');
  await expect.poll(() => box('Name').value).toBe('reviewer copy');
  expect(box('Instructions').value).toBe('Mine.');
});

it('shows the assistants of the notebook that it was opened for', async () => {
  await stage.show('assistants');
  act(() => {
    stage.page.assistants.lookAt('other/b.ipynb');
  });
  await act(() => stage.page.assistants.edit('writer'));
  expect(box('Name').value).toBe('writer');
  const asked = stage.server.requests.find(({ path }) => path === 'assistants/writer');
  expect(asked?.query.get('notebook')).toBe('other/b.ipynb');
});

it('says why one cannot be opened', async () => {
  await stage.show('assistants');
  await screen.findByRole('button', { name: 'reviewer' });
  stage.server.routes.delete('GET assistants/reviewer');
  await press('reviewer');
  expect((await screen.findByRole('alert')).textContent).toBe('Not Found');
});

it('tells others when a file is written or taken away elsewhere', async () => {
  await stage.show('assistants');
  await screen.findByRole('button', { name: 'writer' });
  await act(() => stage.page.assistants.refresh());
  expect(stage.told).toEqual([]);
  stage.assistants.files = stage.assistants.files.slice(1);
  await act(() => stage.page.assistants.refresh());
  expect(stage.told).toEqual([{ from: '', to: '' }]);
});
