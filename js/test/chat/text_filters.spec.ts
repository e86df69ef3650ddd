import { expect, it } from 'vitest';

import { chosenFilters, TEXT_FILTERS } from '../../src/chat/chat_settings';

it('test_002_47 keeps order and names that the panel does not know', () => {
  const before = ['blank_lines', 'emoji', 'line_ends'];
  expect(chosenFilters(before, {})).toEqual(before);
  expect(chosenFilters(before, { blank_lines: false })).toEqual(['emoji', 'line_ends']);
  expect(chosenFilters(before, { line_ends: true, terminal_colours: false })).toEqual(before);
});

it.each([
  [
    ['line_ends', 'emoji', 'blank_lines'],
    ['line_ends', 'terminal_colours', 'emoji', 'blank_lines']
  ],
  [
    ['emoji', 'blank_lines'],
    ['emoji', 'terminal_colours', 'blank_lines']
  ],
  [['emoji'], ['emoji', 'terminal_colours']],
  [
    ['blank_lines', 'line_ends'],
    ['blank_lines', 'line_ends', 'terminal_colours']
  ]
])('test_002_47 puts one that is switched on where it usually stands: %j', (before, after) => {
  expect(chosenFilters(before, { terminal_colours: true })).toEqual(after);
});

it('test_002_47 comes back to all of them in their order', () => {
  const all = { line_ends: true, terminal_colours: true, blank_lines: true };
  expect(chosenFilters([], all)).toEqual(TEXT_FILTERS);
  expect(chosenFilters(['blank_lines'], all)).toEqual(TEXT_FILTERS);
});
