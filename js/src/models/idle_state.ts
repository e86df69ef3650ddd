import type { ChatState } from '../server/frames';

/** What a chat is doing as long as the server has not said so. */
export function idleState(id: string, notebookPath: string): ChatState {
  return {
    id,
    title: '',
    notebook_path: notebookPath,
    updated_at: 0,
    run: '',
    phase: 'idle',
    queue: [],
    queue_paused: false,
    driver: '',
    approval: '',
    input: null,
    context_tokens: 0,
    context_limit: 0,
    superseded: []
  };
}
