import { describe, expect, it } from 'vitest';

import { callsAgent } from '../../../src/notebook/painting/announcing';
import { readOperation } from '../../../src/notebook/painting/protocol';

describe('what the kernel says', () => {
  it('is understood when all its fields are there', () => {
    const add = {
      op: 'add',
      run: 'r',
      call: 'c',
      cell_id: 'new',
      cell_type: 'code',
      source: 'x',
      after: 'a'
    };
    for (const operation of [
      { op: 'start', run: 'r' },
      add,
      { op: 'clear', cell_id: 'new', wait: true }
    ]) {
      expect(readOperation(operation)).toBe(operation);
    }
  });

  it('is left alone when it is of another version', () => {
    const unknown = [null, 'text', {}, { op: 'dance' }, { op: 'begin' }, { op: 'toString' }];
    for (const data of [...unknown, { op: 'end', cell_id: 'a', execution: 'no' }]) {
      expect(readOperation(data)).toBeNull();
    }
  });
});

describe('a cell that calls the agent', () => {
  it.each([
    '%agent hello',
    '%%agent --mode auto\nGo.',
    'x = 1\nrun = %agent hello',
    'run=%agent hello',
    '  %agent show'
  ])('is recognised: %j', source => {
    expect(callsAgent(source)).toBe(true);
  });

  it.each(['agent', '%agents', 'a%agent', '%%time\nx'])('is told from %j', source => {
    expect(callsAgent(source)).toBe(false);
  });
});
