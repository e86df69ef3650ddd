import { describe, expect, it } from 'vitest';

import type * as wire from '../src/wire/events';
import { EVENT_FIELDS } from '../src/wire/events';
import type { Shape } from '../src/wire/shapes';
import text from './fixtures/events.schema.json?raw';

/** The part of JSON Schema that Python's schema is made of. */
interface Schema {
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null';
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

type Kind = wire.RunEvent['kind'];

const SCHEMA = JSON.parse(text) as Schema;

/** What stays in the record: no view of the panel shows it. */
const NOT_SENT: Partial<Readonly<Record<Kind, readonly string[]>>> = {
  run_started: ['limits', 'earlier_messages', 'version', 'given', 'text_filters'],
  state_captured: ['cells', 'executed', 'packages', 'files', 'cwd', 'kernel', 'notebook_path'],
  model_asked: ['messages', 'tools', 'replaces_history'],
  model_replied: ['dropped_parameters'],
  history_compacted: ['messages', 'summary']
};

type Names<T> = Readonly<Record<keyof T, true>>;

interface Nested {
  readonly Parameters: Names<wire.Parameters>;
  readonly Usage: Names<wire.Usage>;
  readonly TextPart: Names<wire.TextPart>;
  readonly ImagePart: Names<wire.ImagePart>;
  readonly ToolCall: Names<wire.ToolCall>;
  readonly AssistantMessage: Names<wire.AssistantMessage>;
  readonly ToolMessage: Names<wire.ToolMessage>;
  readonly StreamOutput: Names<wire.StreamOutput>;
  readonly DisplayData: Names<wire.DisplayData>;
  readonly ExecuteResult: Names<wire.ExecuteResult>;
  readonly ErrorOutput: Names<wire.ErrorOutput>;
  readonly DisplayUpdate: Names<wire.DisplayUpdate>;
  readonly ClearOutput: Names<wire.ClearOutput>;
  readonly VariableSummary: Names<wire.VariableSummary>;
  readonly FileChange: Names<wire.FileChange>;
  readonly Execution: Names<wire.Execution>;
  readonly NamedCell: Names<wire.NamedCell>;
}

/** The fields of what events are made of; the compiler holds it to `events.ts`. */
const NESTED: Nested = {
  Parameters: { model: true, temperature: true, max_output_tokens: true, extra: true },
  Usage: {
    prompt_tokens: true,
    completion_tokens: true,
    cached_tokens: true,
    cache_write_tokens: true,
    reasoning_tokens: true,
    estimated: true
  },
  TextPart: { kind: true, text: true },
  ImagePart: { kind: true, mime: true, data: true, caption: true },
  ToolCall: { id: true, name: true, arguments: true },
  AssistantMessage: {
    role: true,
    text: true,
    tool_calls: true,
    reasoning: true,
    refusal: true,
    author: true,
    origin: true,
    provider_items: true
  },
  ToolMessage: {
    role: true,
    call_id: true,
    name: true,
    parts: true,
    is_error: true,
    origin: true
  },
  StreamOutput: { kind: true, name: true, text: true },
  DisplayData: { kind: true, data: true, metadata: true, display_id: true },
  ExecuteResult: {
    kind: true,
    data: true,
    metadata: true,
    execution_count: true,
    display_id: true
  },
  ErrorOutput: { kind: true, ename: true, evalue: true, traceback: true },
  DisplayUpdate: { kind: true, display_id: true, data: true, metadata: true },
  ClearOutput: { kind: true, wait: true },
  VariableSummary: { name: true, type: true, text: true },
  FileChange: { path: true, change: true, size_bytes: true },
  Execution: {
    status: true,
    duration_seconds: true,
    error: true,
    execution_count: true,
    result_summary: true,
    changed: true,
    removed: true,
    files: true,
    cwd: true,
    note: true,
    figures: true,
    cpu_seconds: true,
    rss_bytes: true,
    waited_seconds: true
  },
  NamedCell: {
    cell_id: true,
    cell_type: true,
    source: true,
    position: true,
    execution_count: true
  }
};

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.split('/').at(-1) ?? '';
  return name === '' ? schema : definition(name);
}

function definition(name: string): Schema {
  const found = SCHEMA.$defs?.[name];
  if (found === undefined) {
    throw new Error(`the schema has no ${name}`);
  }
  return found;
}

function sorted(names: readonly string[]): string[] {
  return [...names].sort();
}

function namesIn(schema: Schema): string[] {
  return Object.keys(schema.properties ?? {});
}

/** The schema of each kind of event. */
function eventSchemas(): Map<string, Schema> {
  const schemas = [...(SCHEMA.anyOf ?? []), ...(SCHEMA.oneOf ?? [])].map(resolved);
  return new Map(schemas.map(schema => [schema.properties?.kind?.const ?? '', schema]));
}

/** A value of each kind that a schema allows. */
function samples(schema: Schema): unknown[] {
  const { anyOf, const: only, enum: allowed, type } = resolved(schema);
  if (anyOf !== undefined) {
    return anyOf.flatMap(samples);
  }
  if (allowed !== undefined || only !== undefined) {
    return [...(allowed ?? [only])];
  }
  const byType = {
    string: ['', 'x'],
    number: [0.5],
    integer: [1],
    boolean: [true, false],
    array: [[]],
    object: [{}],
    null: [null]
  };
  return type === undefined ? [] : byType[type];
}

const KINDS = Object.keys(EVENT_FIELDS) as Kind[];

describe('events.ts', () => {
  it('knows every kind of event that Python has, and no other', () => {
    expect(sorted(KINDS)).toEqual(sorted([...eventSchemas().keys()]));
  });

  it.each(KINDS)('has the fields of %s that are sent', kind => {
    const schema = eventSchemas().get(kind) ?? {};
    const notSent = new Set(['kind', ...(NOT_SENT[kind] ?? [])]);
    const sent = namesIn(schema).filter(name => !notSent.has(name));
    expect(sorted(Object.keys(EVENT_FIELDS[kind]))).toEqual(sorted(sent));
  });

  it.each(KINDS)('takes every value that Python allows in %s', kind => {
    const schema = eventSchemas().get(kind) ?? {};
    const shapes: Readonly<Record<string, Shape<unknown>>> = EVENT_FIELDS[kind];
    for (const [name, shape] of Object.entries(shapes)) {
      const values = samples(schema.properties?.[name] ?? {});
      expect(values).not.toEqual([]);
      expect(values.map(value => shape(value, name)).join('')).toBe('');
    }
  });

  it.each(Object.entries(NESTED))('has the fields of %s', (name, fields) => {
    expect(sorted(Object.keys(fields as object))).toEqual(sorted(namesIn(definition(name))));
  });

  it('leaves out of the record only what is there', () => {
    for (const [kind, names] of Object.entries(NOT_SENT)) {
      const known = namesIn(eventSchemas().get(kind) ?? {});
      expect(names.filter(name => !known.includes(name))).toEqual([]);
    }
  });
});
