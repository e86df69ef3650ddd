/** What a server says of runs and results, in small. */
import type {
  ComparedRow,
  Comparison,
  Estimate,
  ResultNumbers,
  ResultPlace,
  RunRow,
  Sample,
  SampleRow
} from '../../../src/client/runs_rest';
import { complete } from '../../complete';

export function estimate(value: number, around = 0.1, count = 20): Estimate {
  return { value, low: value - around, high: value + around, method: 'wilson', count };
}

export function place(path: string, change: Partial<ResultPlace> = {}): ResultPlace {
  const [, , agent = '', suite = ''] = path.split('/');
  return {
    path,
    agent,
    suite,
    size_bytes: 1000,
    modified_at: 1000,
    state: 'done',
    version: `${path}-1`,
    ...change
  };
}

export function numbers(agent: string, change: Partial<ResultNumbers> = {}): ResultNumbers {
  return {
    version: '1',
    agent,
    suite: 'demo',
    models: [`${agent}-model`],
    passed: 12,
    total: 20,
    share: estimate(0.6),
    points: estimate(0.6),
    by_check: {},
    by_status: { completed: 19, 'task limit reached': 1 },
    by_group: {},
    check_errors: 0,
    failures: {},
    not_run: [],
    epochs: 1,
    at_k: {},
    variance: null,
    cost_dollars: 0.4,
    cost_each: estimate(0.02, 0.005),
    seconds: 60,
    seconds_each: estimate(3, 1),
    tokens: 3000,
    retries: 0,
    unreadable: 0,
    ...change
  };
}

export function row(index: string, change: Partial<SampleRow> = {}): SampleRow {
  return {
    id: `demo/${index}/1`,
    index,
    epoch: 1,
    group: '',
    family: '',
    status: 'completed',
    passed: true,
    is_scored: true,
    why: '',
    input: `Question ${index}`,
    cost_dollars: 0.01,
    seconds: 2,
    tokens: 1500,
    retries: 0,
    ...change
  };
}

export function compared(index: string, change: ComparedRow['change']): ComparedRow {
  const values = { worse: [1, 0], better: [0, 1], same: [1, 1] }[change];
  const side = (value = 0): ComparedRow['first'] => ({
    id: `demo/${index}/1`,
    value,
    tries: 1,
    epoch: 1,
    status: 'completed',
    why: value === 1 ? '' : 'it is 1, not 2'
  });
  const [first = 0, second = 0] = values;
  return { index, change, delta: second - first, first: side(first), second: side(second) };
}

export function comparison(rows: readonly ComparedRow[], next: number | null = null): Comparison {
  const count = (change: ComparedRow['change']): number =>
    rows.filter(each => each.change === change).length;
  return {
    difference: estimate(-0.05),
    better: count('better'),
    worse: count('worse'),
    equal: count('same'),
    p_value: 0.5,
    detectable: 0.1,
    shared: rows.length,
    only_first: 1,
    only_second: 0,
    rows,
    next
  };
}

export function run(id: string, change: Partial<RunRow> = {}): RunRow {
  return {
    id,
    chat: '',
    status: 'completed',
    cause: '',
    reason: '',
    prompt: `Prompt of ${id}`,
    model: 'one',
    lane: 'panel',
    started_at: 1000,
    seconds: 3,
    tokens: 1200,
    is_estimated: false,
    cost_dollars: 0.02,
    ...change
  };
}

/** Messages in which the model runs this code and then says this. */
export function messages(code: string, answer: string): Sample['messages'] {
  return [
    { role: 'system', content: 'You work in a notebook.' },
    { role: 'user', content: [{ type: 'text', text: 'Sum the column.' }] },
    {
      role: 'assistant',
      content: '',
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'run_cell', arguments: JSON.stringify({ title: 't', code }) }
        }
      ]
    },
    { role: 'tool', tool_call_id: 'c1', content: '42' },
    { role: 'assistant', content: answer }
  ];
}

export function sample(id: string, change: Partial<Sample> = {}): Sample {
  return complete('RunSample', {
    id,
    run_id: 'r1',
    suite: 'demo',
    task: complete('SampleTask', { index: 1, epoch: 1 }),
    agent: 'm',
    model: { model: 'one' },
    input: 'Sum the column.',
    target: '',
    setup: [],
    messages: messages('df.a.sum()', 'It is **42**.'),
    cells: [
      complete('SampleCell', {
        id: 'x',
        origin: 'agent',
        source: 'df.a.sum()',
        status: 'ok',
        execution_count: 1,
        outputs: [{ output_type: 'execute_result', data: { 'text/plain': '42' }, metadata: {} }],
        error: '',
        seconds: 0.1
      })
    ],
    status: 'completed',
    cause: '',
    error: '',
    result: 'It is 42.',
    scores: [],
    usage: { prompt_tokens: 100, completion_tokens: 20 },
    cost_dollars: 0.02,
    time: { started_at: 1000, seconds: 3 },
    env: {},
    ...change
  });
}
