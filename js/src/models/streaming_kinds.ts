import type { RunEvent } from '../events';

/** Events that come so often that not each of them is drawn on its own. */
export const STREAMING_KINDS: ReadonlySet<RunEvent['kind']> = new Set([
  'text_delta',
  'reasoning_delta',
  'model_silent',
  'cell_output'
]);
