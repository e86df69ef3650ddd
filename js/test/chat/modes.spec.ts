import { describe, expect, it } from 'vitest';

import { allowedMode } from '../../src/chat/service';

describe('a mode', () => {
  it('is the wanted one where that is allowed', () => {
    expect(allowedMode('auto', ['plan', 'ask', 'edits', 'auto'])).toBe('auto');
  });

  it('is the next stricter one where the wanted one is not allowed', () => {
    expect(allowedMode('auto', ['plan', 'ask'])).toBe('ask');
    expect(allowedMode('edits', ['plan', 'auto'])).toBe('plan');
  });

  it('is the strictest there is where none is stricter', () => {
    expect(allowedMode('plan', ['auto', 'edits'])).toBe('edits');
  });

  it('is to plan only where nothing is allowed', () => {
    expect(allowedMode('auto', [])).toBe('plan');
  });
});
