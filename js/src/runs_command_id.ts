/** Opens the page of runs. */
export const OPEN_RUNS = 'cellwright:runs';
