import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { suggestionsFor, type Suggestion } from '../../src/chat/suggestions';

const trans = nullTranslator.load('cellwright');

function suggested(
  outline: { id: string; label: string; hasError: boolean; count: null }[],
  types: string[] = []
): readonly Suggestion[] {
  const variables = types.map(type => ({ name: type.toLowerCase(), type, text: '' }));
  return suggestionsFor({ outline, variables }, trans);
}

describe('suggestions', () => {
  it('begin with the last cell that fails', () => {
    const cells = ['a', 'b', 'c'].map(id => ({
      id,
      label: `cell ${id}`,
      hasError: id !== 'c',
      count: null
    }));
    const [first] = suggested(cells);
    expect(first?.label).toBe('Fix the failing cell');
    expect(first?.context).toEqual([{ kind: 'error', cell_id: 'b', text: 'cell b' }]);
  });

  it('name the first table of the kernel', () => {
    const found = suggested([], ['int', 'DataFrame', 'Series']);
    expect(found.map(({ label }) => label)).toContain('Plot dataframe');
    expect(found[0]?.context).toEqual([{ kind: 'variable', name: 'dataframe' }]);
  });

  it('are there for a notebook without anything in it', () => {
    expect(suggested([]).map(({ label }) => label)).toEqual(['Look at the data in this folder']);
  });

  it('are at most four', () => {
    const cells = [{ id: 'a', label: 'a', hasError: true, count: null }];
    expect(suggested(cells, ['DataFrame'])).toHaveLength(4);
  });
});
