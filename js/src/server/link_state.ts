/** The connection to the server. */
export type LinkState = 'connecting' | 'open' | 'waiting' | 'closed' | 'refused' | 'wrong_version';
