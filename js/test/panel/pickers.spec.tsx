import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { AssistantChoices } from '../../src/client/panel_rest';
import { draft, field, stage, type } from './composer_stage';
import { FakePanel, SERVICE } from './fakes';
import { settle, Stage } from './stage';
import { complete } from '../complete';

afterEach(cleanup);

it('sends in the mode that was picked, and keeps Auto in sight', async () => {
  const { chat } = await stage();
  expect(screen.queryByText(/Code runs without asking you/)).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: /^Mode: Ask/ }));
  fireEvent.click(screen.getByRole('menuitemradio', { name: /^Auto/ }));
  expect(screen.getByText(/Code runs without asking you/)).toBeDefined();
  expect(screen.getByRole('button', { name: /^Mode: Auto/ })).toBe(document.activeElement);
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft({ mode: 'auto' }), { instead: false }]]);
});

it('offers only the modes that are allowed', async () => {
  const { panel } = await stage();
  act(() => {
    panel.service = { ...SERVICE, modes: ['plan', 'ask'] };
    panel.serviceChanged.emit(panel.service);
  });
  fireEvent.click(screen.getByRole('button', { name: /^Mode:/ }));
  expect(screen.getAllByRole('menuitemradio')).toHaveLength(2);
});

it('walks through a menu by keyboard', async () => {
  await stage();
  const button = screen.getByRole('button', { name: /^Mode: Ask/ });
  fireEvent.keyDown(button, { key: 'ArrowDown' });
  const names = (): string => document.activeElement?.textContent ?? '';
  expect(names()).toContain('Ask');
  const press = (key: string): void => {
    fireEvent.keyDown(document.activeElement ?? document.body, { key });
  };
  press('ArrowDown');
  expect(names()).toContain('Edits');
  press('End');
  expect(names()).toContain('Auto');
  press('ArrowDown');
  expect(names()).toContain('Plan');
  press('ArrowUp');
  expect(names()).toContain('Auto');
  press('Home');
  expect(names()).toContain('Plan');
  press('Escape');
  expect(screen.queryByRole('menu')).toBeNull();
  expect(document.activeElement).toBe(button);
});

it('closes a menu when the person turns to something else', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: /^Mode: Ask/ }));
  fireEvent.pointerDown(document.body);
  expect(screen.queryByRole('menu')).toBeNull();
});

it('sends to the model that was picked from the service', async () => {
  const { chat } = await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  fireEvent.mouseDown(await screen.findByRole('option', { name: 'qwen3-coder' }));
  expect(screen.getByRole('button', { name: 'Model: qwen3-coder' })).toBeDefined();
  type('Plot it');
  fireEvent.keyDown(field(), { key: 'Enter' });
  expect(chat.calls).toEqual([['ask', draft({ model: 'qwen3-coder' }), { instead: false }]]);
  cleanup();
  await new Stage(new FakePanel(chat)).show();
  expect(screen.getByRole('button', { name: 'Model: qwen3-coder' })).toBeDefined();
  cleanup();
  await stage();
  expect(screen.getByRole('button', { name: 'Model: gpt-5.6' })).toBeDefined();
});

it('takes any name of a model', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  const name = screen.getByRole('combobox', { name: 'Name of a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'my-own' } });
  expect(screen.getByText('Press Enter to use my-own')).toBeDefined();
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: my-own' })).toBe(document.activeElement);
});

it('finds a model by keyboard', async () => {
  await stage();
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  const name = screen.getByRole('combobox', { name: 'Name of a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'GPT' } });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  fireEvent.keyDown(name, { key: 'ArrowUp' });
  fireEvent.keyDown(name, { key: 'ArrowDown' });
  expect(screen.getByRole('option', { selected: true }).textContent).toBe('gpt-5.6-mini');
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: gpt-5.6-mini' })).toBeDefined();
});

it('lets nobody type a model where an administrator names them', async () => {
  const { panel } = await stage();
  act(() => {
    panel.service = { ...SERVICE, models_allowed: ['one', 'two'] };
    panel.serviceChanged.emit(panel.service);
  });
  fireEvent.click(screen.getByRole('button', { name: /^Model/ }));
  const name = screen.getByRole('combobox', { name: 'Find a model' });
  await settle();
  fireEvent.change(name, { target: { value: 'three' } });
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: gpt-5.6' })).toBeDefined();
  fireEvent.change(name, { target: { value: 'tw' } });
  fireEvent.keyDown(name, { key: 'Enter' });
  expect(screen.getByRole('button', { name: 'Model: two' })).toBeDefined();
});

it('still takes a name when the service does not tell its models', async () => {
  const { panel } = await stage();
  panel.refusal = new Error('no route');
  fireEvent.click(screen.getByRole('button', { name: 'Model: gpt-5.6' }));
  expect(await screen.findByText('The service names no models.')).toBeDefined();
  fireEvent.keyDown(screen.getByRole('combobox'), { key: 'Escape' });
  expect(screen.queryByRole('combobox')).toBeNull();
});

const ASSISTANTS = [
  { name: 'careful', description: 'Looks for mistakes in data', model: '' },
  { name: 'writer', description: '', model: 'gpt-5.6-mini' }
].map(assistant => complete('AssistantSummary', assistant));

async function stageWith(given: Partial<AssistantChoices>) {
  const assistants = complete('AssistantSummaries', given);
  const panel = new FakePanel();
  panel.assistants = assistants;
  const shown = new Stage(panel);
  await shown.show();
  return { panel, shown, composer: panel.chat.composer };
}

const PLACES = [{ place: 'notebook', folder: 'work/.cellwright/assistants' }];
const WRITABLE = { assistants: ASSISTANTS, problems: [], places: PLACES, unusable: [] };

/** The entries of a menu that are no choices. */
function actionsOf(name: string): (string | null)[] {
  fireEvent.click(screen.getByRole('button', { name }));
  const entries = within(screen.getByRole('menu')).queryAllByRole('menuitem');
  return entries.map(({ textContent }) => textContent);
}

it('has no picker of assistants where there are none', async () => {
  await stage();
  expect(screen.queryByRole('button', { name: /^Assistant/ })).toBeNull();
});

it('chooses an assistant for the chat, and none again', async () => {
  const { composer } = await stageWith({ assistants: ASSISTANTS, problems: [] });
  fireEvent.click(screen.getByRole('button', { name: 'Assistant: none' }));
  fireEvent.click(screen.getByRole('menuitemradio', { name: /^careful.*Looks for mistakes/ }));
  expect(composer.assistant).toBe('careful');
  fireEvent.click(screen.getByRole('button', { name: 'Assistant: careful' }));
  fireEvent.click(screen.getByRole('menuitemradio', { name: 'No assistant' }));
  expect(composer.assistant).toBe('');
});

it('says what is wrong with the file of an assistant, and when one is gone', async () => {
  const { composer } = await stageWith({ assistants: [], problems: ["a.toml: 'x' is not known"] });
  act(() => {
    composer.setAssistant('careful');
  });
  fireEvent.click(screen.getByRole('button', { name: 'Assistant: careful' }));
  expect(screen.getByRole<HTMLButtonElement>('menuitem', { name: /a.toml/ }).disabled).toBe(true);
  expect(screen.getByRole('menuitemradio', { name: /^careful.*not there any more/ })).toBeDefined();
});

it('says why the file of an assistant that was chosen cannot be read, and where it is', async () => {
  const problem = "careful.toml: 'x' is not known";
  const file = 'work/.cellwright/assistants/careful.toml';
  const { composer } = await stageWith({
    assistants: [],
    problems: [problem],
    unusable: [{ name: 'careful', problem, file }]
  });
  act(() => {
    composer.setAssistant('careful');
  });
  fireEvent.click(screen.getByRole('button', { name: 'Assistant: careful' }));
  const { textContent } = screen.getByRole('menuitemradio', { name: /^careful/ });
  expect(textContent).toContain(`${file} cannot be read`);
  expect(textContent).toContain(problem);
  expect(textContent).not.toMatch(/not there/);
  expect(screen.queryByRole('menuitem', { name: /is not known/ })).toBeNull();
});

it('does without assistants where the server knows none', async () => {
  const panel = new FakePanel();
  panel.refusal = new Error('no route');
  await new Stage(panel).show();
  expect(screen.queryByRole('button', { name: /^Assistant/ })).toBeNull();
});

it('leads to the page where assistants are written', async () => {
  const { shown, panel } = await stageWith(WRITABLE);
  const notebook = panel.chat.state.notebook_path;
  expect(actionsOf('Assistant: none')).toEqual(['New assistant …']);
  fireEvent.click(screen.getByRole('menuitem', { name: 'New assistant …' }));
  act(() => {
    panel.chat.composer.setAssistant('writer');
  });
  expect(actionsOf('Assistant: writer')).toEqual(['Edit writer …', 'New assistant …']);
  fireEvent.click(screen.getByRole('menuitem', { name: 'Edit writer …' }));
  fireEvent.click(screen.getByRole('button', { name: 'More' }));
  fireEvent.click(screen.getByRole('menuitem', { name: 'Assistants' }));
  expect(shown.edited).toEqual([
    ` for ${notebook}`,
    `writer for ${notebook}`,
    `all for ${notebook}`
  ]);
});

it('leads nowhere where a person may write none, or there is no page for them', async () => {
  await stageWith({ ...WRITABLE, places: [] });
  expect(actionsOf('Assistant: none')).toEqual([]);
  cleanup();
  const panel = new FakePanel();
  panel.assistants = WRITABLE;
  const shown = new Stage(panel);
  shown.editor = null;
  await shown.show();
  expect(actionsOf('Assistant: none')).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'More' }));
  expect(screen.queryByRole('menuitem', { name: 'Assistants' })).toBeNull();
});

it('shows at once what was written on the page, and follows a new name', async () => {
  const { panel, shown, composer } = await stageWith({ ...WRITABLE, assistants: [] });
  expect(screen.queryByRole('button', { name: /^Assistant:/ })).toBeNull();
  const tell = async (from: string, to: string, names: readonly string[]): Promise<void> => {
    const assistants = names.map(name =>
      complete('AssistantSummary', { name, description: '', model: '' })
    );
    panel.assistants = { ...WRITABLE, assistants };
    await act(async () => {
      shown.assistantChanged.emit({ from, to });
      shown.assistantChanged.emit({ from: '', to: '' });
      await settle();
    });
  };
  await tell('', 'writer', ['writer']);
  expect(screen.getByRole('button', { name: 'Assistant: none' })).toBeDefined();
  act(() => {
    composer.setAssistant('writer');
  });
  await tell('writer', 'author', ['author']);
  expect(screen.getByRole('button', { name: 'Assistant: author' })).toBeDefined();
  await tell('author', '', ['author']); // one of that name in another place
  expect(composer.assistant).toBe('author');
  await tell('author', '', ['other']);
  expect(composer.assistant).toBe('');
});

it('says which one answers where none is chosen', async () => {
  const house = complete('AssistantSummary', {
    name: 'house',
    description: '',
    model: '',
    is_default: true
  });
  await stageWith({ ...WRITABLE, assistants: [house, ...ASSISTANTS] });
  fireEvent.click(screen.getByRole('button', { name: 'Assistant: house (default)' }));
  const entry = screen.getByRole('menuitemradio', { name: /^Default: house/ });
  expect(entry.getAttribute('aria-checked')).toBe('true');
  expect(screen.queryByRole('menuitemradio', { name: 'No assistant' })).toBeNull();
  expect(screen.getByRole('menuitem', { name: 'Edit house …' })).toBeDefined();
});
