import type { Mode } from '../server/frames';

/** From the one that may do least. */
const ORDER: readonly Mode[] = ['plan', 'ask', 'edits', 'auto'];

/** The wanted mode, or the next stricter one that is allowed, or else the strictest there is. */
export function allowedMode(wanted: Mode, allowed: readonly Mode[]): Mode {
  const stricter = ORDER.slice(0, ORDER.indexOf(wanted) + 1);
  const best = stricter.filter(mode => allowed.includes(mode)).at(-1);
  return best ?? ORDER.find(mode => allowed.includes(mode)) ?? 'plan';
}
