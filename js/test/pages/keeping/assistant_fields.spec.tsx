/** The parts of an assistant's form that are more than a line of text. */
import {
  act,
  type BoundFunctions,
  fireEvent,
  type queries,
  render,
  screen,
  within
} from '@testing-library/react';
import * as React from 'react';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { AssistantDetails } from '../../../src/client/assistants_rest';
import {
  changeOf,
  contested,
  draftOf,
  emptyDraft,
  fieldsOf,
  isChanged,
  merged
} from '../../../src/pages/keeping/assistant_draft';
import { FormView } from '../../../src/pages/keeping/assistant_form_view';
import { tool } from './kept';
import { details } from './kept_assistants';
import { findings, KeepingStage, press, write } from './keeping_stage';

let stage: KeepingStage;

beforeEach(() => {
  stage = new KeepingStage();
});

afterEach(() => {
  stage.dispose();
});

/** The form of an assistant whose file says this. */
async function show(change: Partial<AssistantDetails> = {}): Promise<HTMLElement> {
  stage.assistants.files = [details('reviewer', change)];
  const { assistants } = stage.page;
  await assistants.edit('reviewer');
  const form = assistants.state.open;
  if (form === null) {
    throw new Error('it is not open');
  }
  return render(<FormView list={assistants} form={form} />).container;
}

async function save(): Promise<unknown> {
  await press('Save');
  await expect.poll(() => stage.page.assistants.state.done?.kind).toBe('saved');
  return stage.sent('PUT', 'assistants/reviewer');
}

function group(name: string): BoundFunctions<typeof queries> {
  return within(screen.getByRole('group', { name }));
}

function chips(name: string): string[] {
  const list = group(name).queryByRole('list');
  return list === null
    ? []
    : within(list)
        .getAllByRole('listitem')
        .map(({ textContent }) => textContent);
}

function offered(field: HTMLElement): string[] {
  const list = document.getElementById(field.getAttribute('list') ?? '');
  return [...(list?.querySelectorAll('option') ?? [])].map(({ value }) => value);
}

it('takes names and patterns of tools, by Enter, by comma and by leaving the line', async () => {
  stage.kept.tools = [tool('forecast')];
  const container = await show();
  const tools = group('Tools');
  fireEvent.click(tools.getByRole('radio', { name: 'Only these' }));
  expect(tools.getByText('None is named: it can only talk.')).toBeTruthy();
  const field = tools.getByRole('combobox', { name: 'Name or pattern of a tool' });
  await expect.poll(() => offered(field)).toContain('forecast');
  expect(offered(field)).toContain('read_*');
  expect(offered(field)).toContain('run_cell');
  write(field, 'run_cell');
  fireEvent.keyDown(field, { key: 'Enter' });
  write(field, 'read_*, list_variables');
  fireEvent.click(tools.getByRole('button', { name: 'Add' }));
  write(field, 'forecast');
  fireEvent.blur(field);
  write(field, 'run_cell');
  fireEvent.blur(field);
  expect(chips('Tools')).toEqual(['run_cell', 'read_*', 'list_variables', 'forecast']);
  expect(offered(field)).not.toContain('forecast');
  fireEvent.click(tools.getByRole('button', { name: 'Take out "run_cell"' }));
  expect(document.activeElement).toBe(field);
  expect(await findings(container)).toEqual([]);
  expect(await save()).toEqual({ version: 'v1', tools: ['read_*', 'list_variables', 'forecast'] });
});

it('has the names again when the person turns from all tools back to some', async () => {
  await show({ tools: ['read_*'] });
  const tools = group('Tools');
  fireEvent.click(tools.getByRole('radio', { name: 'All tools' }));
  expect(chips('Tools')).toEqual([]);
  fireEvent.click(tools.getByRole('radio', { name: 'Only these' }));
  expect(chips('Tools')).toEqual(['read_*']);
});

it('looks into all documents, into none or into those that are named', async () => {
  await show({ library: [] });
  const library = group('Library');
  const isOn = (name: string): boolean =>
    library.getByRole<HTMLInputElement>('radio', { name }).checked;
  expect(isOn('None')).toBe(true);
  fireEvent.click(library.getByRole('radio', { name: 'Only these' }));
  expect(library.getByText('None is named: it looks nothing up.')).toBeTruthy();
  const field = library.getByRole('combobox', { name: /of a document$/ });
  await expect.poll(() => offered(field)).toEqual(['a.md']);
  write(field, 'a.md');
  fireEvent.keyDown(field, { key: 'Enter' });
  expect(await save()).toEqual({ version: 'v1', library: ['a.md'] });
});

it('asks for all documents as the file does that names none', async () => {
  await show({ library: ['a.md'] });
  fireEvent.click(group('Library').getByRole('radio', { name: 'All documents' }));
  expect(await save()).toEqual({ version: 'v1', library: null });
});

it('writes scenes with what they are told, and keeps when they are chosen', async () => {
  const when = { prompt: 'revenue|cost', types: ['DataFrame'] };
  const container = await show({ scenes: [{ label: 'money', prompt: 'In thousands.', when }] });
  expect(
    group('money').getByText(
      'Only when: the prompt says revenue|cost; a variable is of type DataFrame. The file says so; it is changed there.'
    )
  ).toBeTruthy();
  await press('Add a scene');
  const added = group('Scene 2');
  const label = added.getByRole('textbox', { name: 'Label' });
  await expect.poll(() => document.activeElement).toBe(label);
  await press('Save');
  expect(added.getAllByText('This is needed.')).toHaveLength(2);
  await expect.poll(() => document.activeElement).toBe(label);
  write(label, 'x'.repeat(21));
  expect(screen.getByText('21 characters, at most 20 are allowed.')).toBeTruthy();
  write(label, 'money');
  expect(screen.getAllByText('There are two scenes with this label.')).toHaveLength(2);
  write(label, 'plot');
  const told = group('plot').getByRole('textbox', { name: 'What it is told then' });
  write(told, 'x'.repeat(513));
  expect(screen.getByText('513 characters, at most 512 are allowed.')).toBeTruthy();
  write(told, 'Name the axes.');
  expect(await findings(container)).toEqual([]);
  expect(await save()).toEqual({
    version: 'v1',
    scenes: [
      { label: 'money', prompt: 'In thousands.', when },
      { label: 'plot', prompt: 'Name the axes.', when: null }
    ]
  });
});

it('takes a scene out, and says when there are as many as can be', async () => {
  const scenes = Array.from({ length: 10 }, (_, number) => ({
    ...{ label: `s${String(number)}`, prompt: 'x' },
    when: null
  }));
  await show({ scenes });
  expect(screen.getByText('10 scenes are as many as can be.')).toBeTruthy();
  await press('Add a scene');
  expect(screen.queryByRole('group', { name: 'Scene 11' })).toBeNull();
  await press('Remove the scene "s0"');
  const add = screen.getByRole('button', { name: 'Add a scene' });
  await expect.poll(() => document.activeElement).toBe(add);
  expect(await save()).toEqual({ version: 'v1', scenes: scenes.slice(1) });
});

it('keeps how much the model thinks, also in a copy', async () => {
  await show({ effort: 'low' });
  const effort = screen.getByRole('combobox', { name: 'Effort' });
  expect(effort).toHaveProperty('value', 'low');
  write(effort, ' high ');
  expect(await save()).toEqual({ version: 'v1', effort: 'high' });
  const copied = fieldsOf(draftOf({ ...details('a'), effort: 'high' }));
  expect(copied.effort).toBe('high');
});

it('saves the nearest temperature that counts, and none where none is typed', async () => {
  await show({ temperature: 0.5 });
  const field = screen.getByRole('textbox', { name: 'Temperature' });
  write(field, '0,05');
  expect(screen.getByText('Counts as 0.1: it goes from 0.1 to 1.')).toBeTruthy();
  expect(await save()).toEqual({ version: 'v1', temperature: 0.1 });
});

it('asks what guests are told only of one that they may choose', async () => {
  await show();
  const told = { name: 'Guests are told what you had it remember' };
  expect(screen.queryByRole('checkbox', told)).toBeNull();
  fireEvent.click(screen.getByRole('checkbox', { name: 'Guests may choose it' }));
  fireEvent.click(screen.getByRole('checkbox', told));
  expect(await save()).toEqual({ version: 'v1', is_public: true, memory_for_guests: true });
});

it('does not save while something goes on, nor what composes a letter', async () => {
  await show();
  const form = screen.getByRole('form');
  write(screen.getByRole('textbox', { name: 'What it does' }), 'More');
  fireEvent.keyDown(form, { key: 'Enter', ctrlKey: true, isComposing: true });
  fireEvent.keyDown(form, { key: 'Escape', isComposing: true });
  expect(stage.sent('PUT', 'assistants/reviewer')).toBeUndefined();
  await act(async () => {
    fireEvent.submit(form);
    fireEvent.submit(form);
    await expect.poll(() => stage.page.assistants.state.done?.kind).toBe('saved');
  });
  expect(stage.server.requests.filter(({ method }) => method === 'PUT')).toHaveLength(1);
});

it('keeps the form open with what was typed while it was being saved', async () => {
  await show();
  const { assistants } = stage.page;
  const form = assistants.state.open;
  form?.change({ description: 'First' });
  const saving = assistants.save();
  form?.change({ instructions: 'Later' });
  await saving;
  expect(assistants.state.open).toBe(form);
  expect(form?.state.draft).toMatchObject({ description: 'First', instructions: 'Later' });
  expect(await assistants.save()).toBe(true);
  expect(assistants.state.open).toBeNull();
  expect(stage.sent('PUT', 'assistants/reviewer')).toEqual({
    version: 'v2',
    instructions: 'Later'
  });
});

it('shows what the file has in fields of every kind', async () => {
  const container = await show();
  const form = stage.page.assistants.state.open;
  act(() => {
    form?.change({
      tools: ['read_*'],
      adapter: 'json',
      is_public: true,
      disable_memory: true,
      scenes: [{ key: 0, label: 'plot', prompt: 'Mine', when: null }]
    });
  });
  stage.assistants.touch('reviewer', {
    tools: ['run_cell', 'submit'],
    adapter: 'xml',
    scenes: [{ label: 'data', prompt: 'Theirs', when: { error: 'KeyError' } }]
  });
  await press('Save');
  await press('Load it again');
  const told = await screen.findAllByText('In the file now:');
  expect(told.map(({ nextElementSibling: next }) => next?.textContent)).toEqual([
    'XML',
    'run_cell, submit',
    'data: Theirs (the error says KeyError)'
  ]);
  expect(await findings(container)).toEqual([]);
  await press('Take what the file has: Scenes');
  expect(group('data').getByText(/the error says KeyError/)).toBeTruthy();
});

it('knows what of a draft is new, and what both have changed', () => {
  const base = draftOf(details('a'));
  expect(isChanged(base, { ...base })).toBe(false);
  expect(changeOf(base, { ...base, name: ' b ', temperature: '2' })).toEqual({
    name: 'b',
    temperature: 1
  });
  const mine = { ...base, description: 'mine', model: 'same' };
  const theirs = { ...base, description: 'theirs', model: 'same', instructions: 'theirs' };
  expect(contested(base, mine, theirs)).toEqual(['description']);
  expect(merged(base, mine, theirs)).toEqual({ ...theirs, description: 'mine' });
  expect(emptyDraft('own')).toMatchObject({ place: 'own', name: '', temperature: '', tools: null });
});

it('gives the key after Add a scene to the label of the new one', async () => {
  await show();
  const add = screen.getByRole('button', { name: 'Add a scene' });
  act(() => {
    add.click();
    expect((document.activeElement as HTMLInputElement | null)?.placeholder).toBe('Such as: plot');
  });
});
