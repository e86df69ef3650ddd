/** Turns and cards as the models fold them; a test says what is different. */
import type { Usage } from '../../src/wire/generated';
import type { ToolCard, Turn } from '../../src/chat/types';

export const USAGE: Usage = {
  prompt_tokens: 45_200,
  completion_tokens: 1_180,
  cached_tokens: 38_100,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  estimated: false
};

export function turn(change: Partial<Turn> = {}): Turn {
  return {
    runId: 'run-1',
    prompt: 'What is in this data?',
    files: [],
    notes: [],
    model: 'gpt-5.6',
    assistant: '',
    mode: 'ask',
    startedAt: 1000,
    status: 'completed',
    reason: '',
    cause: '',
    blocks: [],
    usage: USAGE,
    costDollars: null,
    durationSeconds: 12.3,
    waitedSeconds: 0,
    waitingSince: null,
    activity: '',
    compactions: [],
    isAnswered: true,
    supersededBy: '',
    ...change
  };
}

export function card(change: Partial<ToolCard> = {}): ToolCard {
  return {
    kind: 'tool',
    callId: 'call-1',
    name: 'run_cell',
    label: 'load the penguins',
    risk: 'execute',
    status: 'ok',
    code: 'import pandas as pd\npenguins = pd.read_csv("penguins.csv")',
    language: 'python',
    argumentsText: '',
    given: {},
    cells: [],
    reason: '',
    cellIds: ['cell-1'],
    step: 0,
    execution: null,
    result: '344 rows × 7 columns',
    shown: '',
    contents: [],
    progress: null,
    startedAt: 1000,
    durationSeconds: 0.8,
    ...change
  };
}
