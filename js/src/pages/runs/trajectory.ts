/** The messages of a sample as steps, and where two samples part. */
import { PICTURE } from '../../markdown/links';
import type { Json, JsonObject } from '../../wire/generated';
import { isObject } from '../../wire/shapes';

/** A tool that the model asked for. */
interface Call {
  readonly name: string;
  /** What it runs or writes; empty: it is told by its arguments. */
  readonly code: string;
  readonly argumentsText: string;
}

/** One message. */
export interface Step {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text: string;
  readonly calls: readonly Call[];
  /** Of a result: the tool. */
  readonly name: string;
  /** `data:` addresses of pictures that can be drawn. */
  readonly pictures: readonly string[];
}

/** Two samples step by step. */
export interface StepPair {
  readonly first: Step | null;
  readonly second: Step | null;
  /** Whether it is here that they part. */
  readonly isDivergence: boolean;
}

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;
const CODE_NAMES = ['code', 'source'] as const;

/** Addresses in memory and numbers of cells differ from run to run and mean nothing. */
const ACCIDENTS = /0x[0-9a-f]{6,}|\b(?:In|Out|Cell In) ?\[\d+\]|\bcell-[0-9a-f]{6,}\b/gi;

export function stepsOf(messages: readonly JsonObject[]): readonly Step[] {
  const names = new Map<string, string>();
  return messages.map(message => {
    const step = stepOf(message, names);
    noteCalls(message, names);
    return step;
  });
}

/** The steps side by side; what both were given comes first and is not where they part. */
export function pairSteps(first: readonly Step[], second: readonly Step[]): readonly StepPair[] {
  const count = Math.max(first.length, second.length);
  let hasParted = false;
  return Array.from({ length: count }, (_, place) => {
    const one = first[place] ?? null;
    const other = second[place] ?? null;
    const isDivergence = !hasParted && (one === null || other === null || differ(one, other));
    hasParted ||= isDivergence;
    return { first: one, second: other, isDivergence };
  });
}

/** Whether two steps did something else; how it was put does not matter. */
function differ(one: Step, other: Step): boolean {
  if (one.role !== other.role) {
    return true;
  }
  if (one.calls.length + other.calls.length > 0) {
    return deeds(one) !== deeds(other);
  }
  return plain(one.text) !== plain(other.text);
}

function deeds({ calls }: Step): string {
  return JSON.stringify(
    calls.map(({ name, code, argumentsText }) => [name, plain(code || argumentsText)])
  );
}

function plain(text: string): string {
  return text
    .replace(ACCIDENTS, '')
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n')
    .trim();
}

function stepOf(message: JsonObject, names: ReadonlyMap<string, string>): Step {
  const parts = Array.isArray(message.content) ? message.content : [message.content ?? null];
  return {
    role: ROLES.find(role => role === message.role) ?? 'user',
    text: parts
      .map(textOf)
      .filter(text => text !== '')
      .join('\n'),
    calls: callsOf(message).map(readCall),
    name: names.get(textIn(message.tool_call_id)) ?? textIn(message.name),
    pictures: parts.map(pictureOf).filter(url => PICTURE.test(url))
  };
}

function noteCalls(message: JsonObject, names: Map<string, string>): void {
  for (const call of callsOf(message)) {
    if (isObject(call.function)) {
      names.set(textIn(call.id), textIn(call.function.name));
    }
  }
}

function callsOf(message: JsonObject): readonly Record<string, unknown>[] {
  const calls: unknown = message.tool_calls;
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

function readCall(call: Record<string, unknown>): Call {
  const asked = isObject(call.function) ? call.function : {};
  const written = textIn(asked.arguments);
  const given = parsed(written);
  const code = isObject(given)
    ? CODE_NAMES.map(name => textIn(given[name])).find(text => text !== '')
    : undefined;
  return {
    name: textIn(asked.name),
    code: code ?? '',
    argumentsText: given === undefined ? written : JSON.stringify(sorted(given), null, 2)
  };
}

function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // the model wrote it, and it may be broken
  }
}

/** The same arguments in another order are the same. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (value === null || typeof value !== 'object') {
    return value;
  }
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map(name => [name, sorted(value[name] ?? null)]));
}

function textOf(part: Json): string {
  return typeof part === 'string' ? part : isObject(part) ? textIn(part.text) : '';
}

function pictureOf(part: Json): string {
  return isObject(part) && isObject(part.image_url) ? textIn(part.image_url.url) : '';
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
