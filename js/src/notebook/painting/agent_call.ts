const CALL = /(?:^|[=\s])%%?agent\b/m;

/** Whether a cell may call the agent; a comm that is not used does no harm. */
export function callsAgent(source: string): boolean {
  return CALL.test(source);
}
