/** What is done to a person's words before they are sent, by the server's names, in its order. */
export const TEXT_FILTERS = ['line_ends', 'terminal_colours', 'blank_lines'] as const;

export type TextFilter = (typeof TEXT_FILTERS)[number];

/** Those that a person switched on or off. */
export type FilterChoice = Readonly<Partial<Record<TextFilter, boolean>>>;

/** The names that are on after a choice; those that are not known here stay where they are. */
export function chosenFilters(before: readonly string[], choice: FilterChoice): readonly string[] {
  let names = before.filter(name => !isOff(name, choice));
  for (const filter of TEXT_FILTERS) {
    if (choice[filter] === true && !names.includes(filter)) {
      names = placed(names, filter);
    }
  }
  return names;
}

function isOff(name: string, choice: Readonly<Record<string, boolean | undefined>>): boolean {
  return choice[name] === false;
}

/** After those that come before it where all are on, as far as they are there. */
function placed(names: readonly string[], filter: TextFilter): string[] {
  const earlier: readonly string[] = TEXT_FILTERS.slice(0, TEXT_FILTERS.indexOf(filter));
  const later: readonly string[] = TEXT_FILTERS.slice(TEXT_FILTERS.indexOf(filter) + 1);
  const after = Math.max(...earlier.map(name => names.indexOf(name)), -1);
  const before = names.findIndex(name => later.includes(name));
  const end = before === -1 ? names.length : before;
  const index = after === -1 ? end : after + 1;
  return [...names.slice(0, index), filter, ...names.slice(index)];
}
