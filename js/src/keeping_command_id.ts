/** Opens the page of what is kept: memory, library, usage, tools. */
export const OPEN_KEEPING = 'cellwright:keeping';
