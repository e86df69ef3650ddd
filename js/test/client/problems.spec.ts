import { expect, it } from 'vitest';

import { complaintOf } from '../../src/client/problems';
import { RequestError } from '../../src/client/request';

it('says what to do beside what happened, where the server knows it', () => {
  expect(complaintOf(new RequestError(409, 'busy', 'The kernel is busy.', 'Wait.'))).toBe(
    'The kernel is busy. Wait.'
  );
  expect(complaintOf(new Error('odd'))).toBe('odd');
});

it('leaves out what a page cannot do', () => {
  const hint = 'Save the page and add the file. CELLWRIGHT_LIBRARY_HOSTS allows hosts.';
  const error = new RequestError(400, '', "The host 'a.example' is not allowed.", hint);
  expect(complaintOf(error)).toBe(
    "The host 'a.example' is not allowed. Save the page and add the file."
  );
});
