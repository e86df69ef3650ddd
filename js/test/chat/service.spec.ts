import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { allowedMode, ServiceModel } from '../../src/chat/service';
import type { ServiceState } from '../../src/client/panel_rest';
import { SERVICE } from '../panel/fakes';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('asks again whether runs are recorded, until they are', async () => {
  const answers: (ServiceState | Error)[] = [
    { ...SERVICE, recording: false },
    new Error('the server is busy'),
    { ...SERVICE, recording: false },
    { ...SERVICE, recording: true }
  ];
  const service = vi.fn(() => {
    const answer = answers.shift();
    return answer instanceof Error || answer === undefined
      ? Promise.reject(answer ?? new Error('asked once too often'))
      : Promise.resolve(answer);
  });
  const model = new ServiceModel({ service, changeService: () => Promise.reject(new Error()) });
  await model.refresh();
  expect(model.state?.recording).toBe(false);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(model.state?.recording).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service).toHaveBeenCalledTimes(4);
});

it('asks nothing more once it is disposed', async () => {
  const service = vi.fn(() => Promise.resolve({ ...SERVICE, recording: false }));
  const model = new ServiceModel({ service, changeService: () => Promise.reject(new Error()) });
  await model.refresh();
  model.dispose();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(service).toHaveBeenCalledTimes(1);
});

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
