import { expect, it } from 'vitest';

import { complaintOf } from '../../src/client/problems';
import { RequestError } from '../../src/client/request';

it('leaves out what a page cannot do', () => {
  const hint = 'Save the page and add the file. CELLWRIGHT_LIBRARY_HOSTS allows hosts.';
  const error = new RequestError(400, '', "The host 'a.example' is not allowed.", hint);
  expect(complaintOf(error)).toBe(
    "The host 'a.example' is not allowed. Save the page and add the file."
  );
});
