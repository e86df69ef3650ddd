import {
  act,
  type BoundFunctions,
  cleanup,
  createEvent,
  fireEvent,
  type queries,
  screen,
  within
} from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { NoticeBlock } from '../../src/chat/types';
import type { ServiceCheck } from '../../src/client/panel_rest';
import { RequestError } from '../../src/client/request';
import { LOCAL, OPENAI, SERVICE } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(cleanup);

const DEMO = { ...SERVICE, is_demo: true, model: 'cellwright-demo', has_key: false, base_url: '' };
const PROVIDER = 'OpenAI https://api.openai.com/v1';
const WORKS: ServiceCheck = {
  name: 'tool calling',
  status: 'ok',
  text: 'It calls.',
  action: '',
  code: ''
};
const NOTICE: NoticeBlock = {
  kind: 'notice',
  level: 'info',
  text: 'The demo answers.',
  action: '',
  code: 'service'
};

/** A person who has set nothing. */
function newcomer(): Stage {
  const stage = new Stage();
  stage.panel.service = DEMO;
  return stage;
}

async function open(stage = newcomer()): Promise<Stage> {
  stage.requests.ask('service');
  await stage.show();
  return stage;
}

function settings(): BoundFunctions<typeof queries> {
  return within(screen.getByRole('form', { name: 'Model settings' }));
}

function enter(name: string, value: string): void {
  fireEvent.change(settings().getByLabelText(name), { target: { value } });
}

function called(stage: Stage, name: string): readonly unknown[] {
  return stage.panel.calls.filter(([called]) => called === name).map(([, change]) => change);
}

it('leads in four steps from the demo model to one of a provider', async () => {
  const stage = newcomer();
  stage.panel.notices = [NOTICE];
  stage.panel.checks = [WORKS];
  await stage.show();
  expect(screen.getByText('The demo model answers.')).toBeDefined();
  expect(screen.queryByText('The demo answers.')).toBeNull();
  press('Use your own model');
  await settle();
  expect(document.activeElement).toBe(settings().getByLabelText('Provider'));
  expect(screen.queryByLabelText('Key')).toBeNull();
  enter('Provider', PROVIDER);
  expect(called(stage, 'modelsOf')).toEqual([]);
  enter('Key', ' secret ');
  fireEvent.keyDown(settings().getByLabelText('Key'), { key: 'Enter' });
  await settle();
  const wanted = { base_url: OPENAI.base_url, api_key: 'secret' };
  expect(called(stage, 'modelsOf')).toEqual([wanted]);
  expect(settings().getByLabelText<HTMLInputElement>('Model').value).toBe('gpt-5.6');
  fireEvent.mouseDown(screen.getByRole('option', { name: 'qwen3-coder' }));
  press('Test and save');
  await settle();
  const change = { ...wanted, model: 'qwen3-coder', parameters: {} };
  expect(called(stage, 'tryService')).toEqual([change]);
  expect(called(stage, 'changeService')).toEqual([change]);
  expect(screen.getByText(/qwen3-coder answers/)).toBeDefined();
  expect(settings().getByLabelText<HTMLInputElement>('Key').value).toBe('');
  press('Ask something');
  await settle();
  expect(document.activeElement).toBe(screen.getByRole('textbox', { name: 'Prompt' }));
});

it('asks for the models as soon as a key is pasted', async () => {
  const stage = await open();
  enter('Provider', PROVIDER);
  const field = settings().getByLabelText<HTMLInputElement>('Key');
  const typed = createEvent.input(field, { target: { value: 'pasted' } });
  Object.defineProperty(typed, 'inputType', { value: 'insertFromPaste' });
  fireEvent(field, typed);
  await settle();
  expect(called(stage, 'modelsOf')).toEqual([{ base_url: OPENAI.base_url, api_key: 'pasted' }]);
});

it('offers what was found running with its models', async () => {
  const stage = newcomer();
  stage.panel.offers = {
    ...stage.panel.offers,
    providers: [OPENAI, { ...LOCAL, models: ['qwen3'] }]
  };
  await open(stage);
  press('LM Studio runs here');
  expect(settings().getByLabelText<HTMLInputElement>('Model').value).toBe('qwen3');
  expect(settings().getByLabelText<HTMLInputElement>('Address').value).toBe(LOCAL.base_url);
  expect(called(stage, 'modelsOf')).toEqual([]);
  press('Save');
  await settle();
  const parameters = {};
  expect(called(stage, 'changeService')).toEqual([
    { base_url: LOCAL.base_url, model: 'qwen3', parameters }
  ]);
});

it.each([
  ['LMAccessError', 'OpenAI refuses the key.', /Copy the key again/],
  ['LMQuotaError', 'Your account at OpenAI has no credit left.', /Add credit/],
  ['LMNotFoundError', 'OpenAI has no model named gpt-5.6.', /Choose another model/],
  ['LMConnectionError', 'Nothing answers at https://api.openai.com/v1.', /Start the server/]
])('says in its own words what %s means and keeps nothing', async (code, title, next) => {
  const stage = newcomer();
  const text = 'api.openai.com:443 said no.';
  const action = 'Set CELLWRIGHT_API_KEY.';
  stage.panel.checks = [{ name: 'tool calling', status: 'blocked', text, action, code }];
  await open(stage);
  enter('Provider', PROVIDER);
  enter('Key', 'secret');
  press('Test and save');
  await settle();
  expect(screen.getByText(title)).toBeDefined();
  expect(screen.getByText(next)).toBeDefined();
  expect(screen.getByText(text)).toBeDefined();
  expect(screen.queryByText(action)).toBeNull();
  expect(called(stage, 'changeService')).toEqual([]);
  expect(settings().getByLabelText<HTMLInputElement>('Key').value).toBe('secret');
});

it('forgets what a test says of what the form said before', async () => {
  const stage = newcomer();
  const [text, action, code] = ['api.openai.com:443 said no.', 'Try.', 'LMAccessError'];
  stage.panel.checks = [{ name: 'tool calling', status: 'blocked', text, action, code }];
  await open(stage);
  enter('Provider', PROVIDER);
  press('Test and save');
  enter('Key', 'another');
  await settle();
  expect(screen.queryByText(text)).toBeNull();
  press('Test and save');
  await settle();
  expect(screen.getByText(text)).toBeDefined();
});

it('does not call a service none whose model wrote what cannot be read', async () => {
  const stage = newcomer();
  const text = 'The model wrote a call that api.groq.com:443 cannot read.';
  const action = 'Ask again, or choose another model.';
  const code = 'LMStreamError';
  stage.panel.checks = [{ name: 'tool calling', status: 'blocked', text, action, code }];
  await open(stage);
  enter('Provider', PROVIDER);
  press('Test and save');
  await settle();
  expect(screen.getByText(text)).toBeDefined();
  expect(screen.getByText(action)).toBeDefined();
  expect(screen.queryByText(/no model service/)).toBeNull();
});

it('says why the models cannot be listed, and takes a name all the same', async () => {
  const stage = newcomer();
  stage.panel.refusal = new RequestError(409, 'LMAccessError', 'No key came.', '');
  await open(stage);
  enter('Provider', PROVIDER);
  press('Show models');
  expect(await screen.findByText('OpenAI wants a key.')).toBeDefined();
  stage.panel.refusal = null;
  stage.panel.models = [];
  press('Show models');
  await settle();
  expect(screen.getByText(/does not say which models/)).toBeDefined();
  expect(settings().getByLabelText<HTMLInputElement>('Model').value).toBe('gpt-5.6');
});

it('finds a model by keys alone', async () => {
  const stage = new Stage();
  stage.panel.service = SERVICE;
  await open(stage);
  const field = screen.getByRole('combobox', { name: 'Model' });
  fireEvent.change(field, { target: { value: 'mini' } });
  expect(screen.getAllByRole('option', { name: /-/ }).map(each => each.textContent)).toContain(
    'gpt-5.6-mini'
  );
  fireEvent.keyDown(field, { key: 'ArrowDown' });
  expect(field.getAttribute('aria-activedescendant')).not.toBeNull();
  fireEvent.keyDown(field, { key: 'Enter' });
  expect((field as HTMLInputElement).value).toBe('gpt-5.6-mini');
});

it('sends what is set of how a model answers, and nothing else', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, parameters: { top_p: 0.5, reasoning_effort: 'minimal' } };
  await open(stage);
  const form = within(screen.getByRole('form', { name: 'Model settings' }));
  expect(form.getByLabelText<HTMLInputElement>('Effort of thinking').value).toBe('minimal');
  enter('Top p', '');
  enter('Temperature', '0.25');
  enter('Longest answer, in tokens', '500');
  enter('Seed', '7');
  enter('Service tier', 'flex');
  press('Save');
  await settle();
  const numbers = { temperature: 0.25, max_output_tokens: 500, seed: 7 };
  const parameters = { reasoning_effort: 'minimal', ...numbers, service_tier: 'flex' };
  expect(called(stage, 'changeService')).toEqual([{ model: SERVICE.model, parameters }]);
});

it('takes an address that no provider has, and the demo model back', async () => {
  const stage = await open();
  enter('Provider', 'other');
  enter('Address', 'http://127.0.0.1:9999/v1');
  enter('Model', 'm');
  press('Save');
  await settle();
  enter('Provider', 'demo');
  press('Save');
  await settle();
  expect(called(stage, 'changeService')).toEqual([
    { base_url: 'http://127.0.0.1:9999/v1', model: 'm', parameters: {} },
    { model: 'cellwright-demo', parameters: {} }
  ]);
});

it('says that AWS credentials were found, so that no key is needed', async () => {
  const stage = new Stage();
  const bedrock = { ...OPENAI, name: 'Amazon Bedrock', has_credentials: true };
  const providers = [bedrock];
  stage.panel.offers = { providers, any_address: true, set_model: '', new_key_place: 'file' };
  await open(stage);
  const value = `Amazon Bedrock ${OPENAI.base_url}`;
  fireEvent.change(settings().getByLabelText('Provider'), { target: { value } });
  expect(await screen.findByText(/AWS credentials were found on this server/)).toBeDefined();
});

it('offers only what an administrator allows', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, models_allowed: ['a', 'b'] };
  const row = { ...OPENAI, base_url: SERVICE.base_url, has_key: true, is_key_set: true };
  stage.panel.offers = {
    providers: [row],
    any_address: false,
    set_model: 'a',
    new_key_place: 'file'
  };
  await open(stage);
  expect(screen.queryByText('Another address …')).toBeNull();
  expect(screen.queryByLabelText('Key')).toBeNull();
  expect(screen.getByText('This server has a key already.')).toBeDefined();
  expect(settings().getByLabelText<HTMLInputElement>('Model').disabled).toBe(true);
  expect(screen.getByText('Allowed: a, b')).toBeDefined();
  fireEvent.keyDown(settings().getByLabelText('Provider'), { key: 'Escape' });
  expect(screen.queryByLabelText('Provider')).toBeNull();
});

it('says that the system’s keyring keeps the key, before and after', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, has_key: true, key_source: 'keyring' };
  const row = { ...OPENAI, base_url: SERVICE.base_url, has_key: true };
  const offers = { any_address: true, set_model: '', new_key_place: 'keyring' };
  stage.panel.offers = { providers: [row, { ...OPENAI, name: 'Other' }], ...offers };
  await open(stage);
  expect(screen.getByText(/kept in the system’s keyring/)).toBeDefined();
  enter('Provider', `Other ${OPENAI.base_url}`);
  expect(screen.getByText(/The system’s keyring keeps it/)).toBeDefined();
});

it('is found in the menu, and says where no model is chosen', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, model: '' };
  await stage.show();
  expect(screen.getByText('No model is chosen yet.')).toBeDefined();
  press('More');
  fireEvent.click(screen.getByRole('menuitem', { name: 'Model settings' }));
  await settle();
  expect(screen.getByRole('form', { name: 'Model settings' })).toBeDefined();
});

it('says why nothing is known of the service, and no longer that it looks', async () => {
  const stage = newcomer();
  stage.panel.service = null;
  await open(stage);
  expect(screen.getByText('Looking for models …')).toBeDefined();
  act(() => {
    stage.panel.problem = { code: 'network', message: 'No answer.', hint: '' };
    stage.panel.problemChanged.emit(stage.panel.problem);
  });
  expect(screen.getByRole('status').textContent).toContain('No answer.');
  expect(screen.queryByText('Looking for models …')).toBeNull();
});
