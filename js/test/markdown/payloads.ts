/** What an attacker has a model say: rows A9 to A13 and more. `evil.test` must never be asked. */
import payloads from './payloads.json';

export const PAYLOADS: readonly string[] = payloads;

/** Pieces that mean something to a reader of Markdown. */
export const FRAGMENTS: readonly string[] = [
  ...payloads,
  ...Array.from('`~$[]()!<>\\|*_-#:\n \t&;"\'=@'),
  ...['```', '~~~', '$$', '\n\n', '\n    ', '\n> ', '\n- ', '1. ', '![', '](', '][', '\\[', '\\('],
  ...['<img src=http://evil.test/x>', 'http://evil.test/x', '\\begin{a}', '\\end{a}', '\n|---|\n'],
  ...['a', 'word', '**', '| a | b |', '- [ ] ', '\n===\n', '\ud83d', '\u202e', '\\href{', '}', '{']
];
