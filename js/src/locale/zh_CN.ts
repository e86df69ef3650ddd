/** What the panel says, in Simplified Chinese. */
export const CHINESE: Readonly<Record<string, string>> = {};
