import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { ServiceModel } from '../../src/chat/service';
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
