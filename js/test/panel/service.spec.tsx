import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { afterEach, expect, it } from 'vitest';

import type { NoticeBlock } from '../../src/chat/types';
import { SERVICE } from './fakes';
import { press, settle, Stage } from './stage';

afterEach(cleanup);

const DEMO = { ...SERVICE, is_demo: true, model: 'cellwright-demo', has_key: false, base_url: '' };

const NOTICE: NoticeBlock = {
  kind: 'notice',
  level: 'info',
  text: 'The demo answers.',
  action: '',
  code: 'service'
};

it('says that the demo model answers and takes another one', async () => {
  const stage = new Stage();
  stage.panel.service = DEMO;
  stage.panel.notices = [NOTICE];
  await stage.show();
  expect(screen.getByText('The demo model answers.')).toBeDefined();
  expect(screen.queryByText('The demo answers.')).toBeNull();
  press('Use your own model');
  const form = within(screen.getByRole('form', { name: 'Model settings' }));
  const enter = (name: string, value: string): void => {
    fireEvent.change(form.getByLabelText(name), { target: { value } });
  };
  expect(form.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  enter('Endpoint', ' https://models.example.org/v1 ');
  enter('Model', 'm');
  enter('Key', ' secret ');
  fireEvent.submit(screen.getByRole('form', { name: 'Model settings' }));
  await settle();
  expect(stage.panel.calls).toEqual([
    ['changeService', { base_url: 'https://models.example.org/v1', model: 'm', api_key: 'secret' }]
  ]);
  expect(form.getByText('Saved.')).toBeDefined();
  expect(form.getByLabelText<HTMLInputElement>('Key').value).toBe('');
});

it('tests what is set and names what to do', async () => {
  const stage = new Stage();
  stage.panel.checks = [
    { name: 'endpoint', status: 'ok', text: 'The endpoint answers.', action: '' },
    { name: 'key', status: 'blocked', text: 'The key was refused.', action: 'Set another one.' }
  ];
  stage.requests.ask('service');
  await stage.show();
  press('Test');
  await settle();
  expect(screen.getByText('Set another one.')).toBeDefined();
  expect(screen.getByText('Does not work:')).toBeDefined();
});

it('saves before it tests', async () => {
  const stage = new Stage();
  stage.requests.ask('service');
  await stage.show();
  const field = screen.getByLabelText('Endpoint');
  expect(document.activeElement).toBe(field);
  fireEvent.change(field, { target: { value: 'http://127.0.0.1:8000/v1' } });
  press('Save and test');
  await settle();
  expect(stage.panel.calls).toEqual([['changeService', { base_url: 'http://127.0.0.1:8000/v1' }]]);
});

it('says what the server does not like about the settings', async () => {
  const stage = new Stage();
  stage.panel.refusal = new Error('The address has no host.');
  stage.requests.ask('service');
  await stage.show();
  press('Test');
  expect(await screen.findByText('The address has no host.')).toBeDefined();
});

it('keeps a key that is set when its field is emptied again', async () => {
  const stage = new Stage();
  stage.requests.ask('service');
  await stage.show();
  expect(screen.getByText(/A key is set \(environment\)/)).toBeDefined();
  const field = screen.getByLabelText('Key');
  fireEvent.change(field, { target: { value: 'x' } });
  fireEvent.change(field, { target: { value: '' } });
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
});

it('leaves endpoint and key to the administrator where they are locked', async () => {
  const stage = new Stage();
  stage.panel.service = { ...SERVICE, endpoints_locked: true, models_allowed: ['a', 'b'] };
  stage.requests.ask('service');
  await stage.show();
  expect(screen.getByLabelText<HTMLInputElement>('Endpoint').disabled).toBe(true);
  expect(screen.getByLabelText<HTMLInputElement>('Key').disabled).toBe(true);
  expect(screen.getByText('Allowed: a, b')).toBeDefined();
  press('Close');
  expect(screen.queryByLabelText('Endpoint')).toBeNull();
});
