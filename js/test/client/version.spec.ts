import { expect, it } from 'vitest';

import manifest from '../../../package.json?raw';
import { VERSION } from '../../src/client/health';

it('is the version of the package', () => {
  expect(JSON.parse(manifest)).toHaveProperty('version', VERSION);
});
