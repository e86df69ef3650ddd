import { cleanup, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, expect, it, vi } from 'vitest';

import type { Content } from '../../src/wire/generated';
import type { NoticeBlock } from '../../src/chat/types';
import { NoticeCard } from '../../src/panel/notice';
import { press, settle, showPart } from './stage';
import { complete } from '../complete';

afterEach(cleanup);

const TEXT = 'From the library: [1] Rules (page 2).';

function notice(contents?: readonly Content[]): NoticeBlock {
  const words = { text: TEXT, action: '', code: 'looked_up' };
  return { kind: 'notice', level: 'info', ...words, ...(contents && { contents }) };
}

it('unfolds the sources that were quoted, and their addresses lead there', () => {
  const text = {
    id: '1',
    title: '[1] Rules (page 2)',
    url: 'http://127.0.0.1/rules',
    content: 'No.'
  };
  const source = complete('Content', { type: 'references', text, visible_scope: 'user' });
  showPart(<NoticeCard block={notice([source])} />);
  expect(screen.getByText(TEXT).tagName).toBe('SUMMARY');
  const link = screen.getByText('[1] Rules (page 2)');
  expect(link.getAttribute('href')).toBe('http://127.0.0.1/rules');
});

it('asks of each text of the project whether models may read it', async () => {
  const row = { state: 'asked', type: 'instructions', size_bytes: 2048, about: '' };
  const place = 'project';
  const rows = [
    { ...row, id: 'a', name: 'AGENTS.md', path: '/p/AGENTS.md', text: 'Round to one.', place },
    { ...row, id: 'b', name: 'CLAUDE.md', path: '/p/d/CLAUDE.md', text: 'Be brief.', place },
    { ...row, id: 'c', name: 'of-home', path: '/h', text: 'x', place: 'home' }
  ];
  const allowProjectText = vi.fn(() => Promise.resolve(rows));
  const action = '%agent instructions';
  const words = { text: 'Not sent to the model.', action, code: 'project_asked' };
  showPart(<NoticeCard block={{ kind: 'notice', level: 'info', ...words }} />, {
    projectTexts: () => Promise.resolve(rows),
    allowProjectText
  });
  await settle();
  expect(screen.queryByText(/%agent/)).toBeNull();
  expect(screen.getByText('Round to one.').closest('details')?.open).toBe(false);
  expect(screen.queryByText('of-home')).toBeNull();
  press('Allow AGENTS.md');
  press('Not now: CLAUDE.md');
  await settle();
  expect(allowProjectText.mock.calls).toEqual([['a', true]]);
  expect(screen.getByText(/Models read it/)).toBeDefined();
  expect(screen.getByText(/^No model is sent it/)).toBeDefined();
  expect(screen.queryAllByRole('button', { name: /^(Allow|Not now)/ })).toEqual([]);
});

it('is a line where there is nothing to unfold', () => {
  showPart(<NoticeCard block={notice()} />);
  expect(screen.getByText(TEXT).tagName).toBe('P');
});

it.each([
  ['summed_up', '%agent context summary shows what stands for them.', /ring/],
  ['memory_proposed', 'Keep it: %agent memory accept m1.', /Accept or reject/],
  ['service', 'Set OPENAI_API_KEY, or CELLWRIGHT_BASE_URL.', /chosen in Model settings/],
  ['LMTimeoutError', 'Ask for less, or raise CELLWRIGHT_DEADLINE_SECONDS.', /^Try again/],
  ['other', 'Wait a while. CELLWRIGHT_LIBRARY_HOSTS allows hosts.', 'Wait a while.'],
  ['store_read_only', 'Set CELLWRIGHT_HOME to a folder.', /^Make that folder writable/]
])('says what to do in the panel where a record names a command: %s', (code, action, said) => {
  showPart(
    <NoticeCard block={{ kind: 'notice', level: 'info', text: 'It was long.', action, code }} />
  );
  expect(screen.getByText(said)).toBeDefined();
  expect(screen.queryByText(/%agent|CELLWRIGHT_/)).toBeNull();
});
