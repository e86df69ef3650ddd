/** Whether what came over the wire is what the types say: a walk along the schemas of `generated.ts`. */
import { type RecordedEvent, type Schema, SCHEMAS, type SchemaTypes } from './generated';

/** Says what is wrong with a value that should be a `T`; an empty text: nothing. */
export interface Shape<out T> {
  /** Gives a field that was left out its default. */
  (value: unknown, path: string): string;
  /** Never set: it lets the compiler tell shapes of different types apart. */
  readonly type?: T;
}

type Check = Shape<unknown>;

/**
 * How strict a check is with the strictness of an enumeration, and how strict then with what is below.
 *
 * A newer server may know more of them. An event counts all the same where such a word is part of
 * one of its values; not in its own fields, such as a status that nobody could draw.
 */
const BELOW = { strict: 'strict', record: 'event', event: 'open', open: 'open' } as const;
type Strictness = keyof typeof BELOW;

const CHECKS = new Map<string, Check>();

/** The shape of a type that the server names. */
export function shape<const Name extends keyof SchemaTypes>(name: Name): Shape<SchemaTypes[Name]> {
  return named(name, 'strict') as Shape<SchemaTypes[Name]>;
}

/**
 * An event with its place in the record.
 *
 * A kind that is not known passes: a newer server may send more, and its place has to be counted.
 */
export const recordedEvent = named('RecordedEvent', 'record') as Shape<RecordedEvent>;

/** The shapes of the members of a union, each by its tag. */
export function shapesByTag(name: 'ServerFrame'): ReadonlyMap<unknown, Check> {
  return membersOf(SCHEMAS[name]?.anyOf ?? [], 'strict').byTag;
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) {
      return wrong(value, path, 'a list');
    }
    return firstOf(value.entries(), ([index, one]) => item(one, `${path}[${String(index)}]`));
  };
}

/** Whether a value has a shape, for what needs no reason. */
export function fits<T>(check: Shape<T>, value: unknown): value is T {
  return check(value, '') === '';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function named(name: string, strictness: Strictness): Check {
  const key = `${name} ${strictness}`;
  // made when it is needed: a type may be part of itself
  return (value, path) => {
    let check = CHECKS.get(key);
    if (check === undefined) {
      check = checkOf(SCHEMAS[name] ?? {}, strictness);
      CHECKS.set(key, check);
    }
    return check(value, path);
  };
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function checkOf(schema: Schema, strictness: Strictness): Check {
  const { $ref: reference, anyOf, enum: known } = schema;
  if (reference !== undefined) {
    return named(nameIn(reference), BELOW[strictness]);
  }
  if (anyOf !== undefined) {
    return anyOfThese(anyOf, strictness);
  }
  if (known !== undefined && strictness !== 'open') {
    return (value, path) =>
      known.includes(value as string) ? '' : wrong(value, path, `one of ${known.join(', ')}`);
  }
  return checkOfType(schema, strictness);
}

function checkOfType(schema: Schema, strictness: Strictness): Check {
  switch (schema.type) {
    case 'array':
      return list(checkOf(schema.items ?? {}, strictness));
    case 'object':
      return objectOf(schema, strictness);
    case 'string':
      return simple('string', 'a text');
    case 'number':
    case 'integer':
      return simple('number', 'a number');
    case 'boolean':
      return simple('boolean', 'true or false');
    case 'null':
      return (value, path) => (value === null ? '' : wrong(value, path, 'null'));
    case undefined:
      return () => '';
    default:
      return schema.type satisfies never;
  }
}

function simple(type: 'string' | 'number' | 'boolean', expected: string): Check {
  return (value, path) => (typeof value === type ? '' : wrong(value, path, expected));
}

/** An object with at least these fields; a newer server may send more. */
function objectOf(
  { properties, required, additionalProperties }: Schema,
  strictness: Strictness
): Check {
  const needed = new Set(required);
  const fields = Object.entries(properties ?? {}).map(([name, field]) => ({
    name,
    fallback: needed.has(name) ? undefined : field.default,
    check: checkOf(field, strictness)
  }));
  const others =
    typeof additionalProperties === 'object' ? checkOf(additionalProperties, strictness) : null;
  return (value, path) => {
    if (!isObject(value)) {
      return wrong(value, path, 'an object');
    }
    const complaint = firstOf(fields, ({ name, fallback, check }) => {
      if (value[name] === undefined && fallback !== undefined) {
        value[name] = structuredClone(fallback);
      }
      return check(value[name], `${path}.${name}`);
    });
    if (complaint !== '' || others === null) {
      return complaint;
    }
    return firstOf(Object.entries(value), ([name, one]) => others(one, `${path}.${name}`));
  };
}

/** One of some types; those that have a tag are told apart by it. */
function anyOfThese(schemas: readonly Schema[], strictness: Strictness): Check {
  const { byTag, tagName, others } = membersOf(schemas, strictness);
  return (value, path) => {
    if (byTag.size > 0 && isObject(value)) {
      const tag = value[tagName];
      return typeof tag === 'string'
        ? (byTag.get(tag)?.(value, `${path}.${tag}`) ?? '')
        : wrong(tag, `${path}.${tagName}`, 'a text');
    }
    const complaints = others.map(check => check(value, path));
    return complaints.includes('') ? '' : (complaints[0] ?? wrong(value, path, 'an object'));
  };
}

interface Members {
  readonly byTag: ReadonlyMap<unknown, Check>;
  readonly tagName: string;
  readonly others: readonly Check[];
}

/** The members of a union; a tag is the field that is a constant, such as `kind`. */
function membersOf(schemas: readonly Schema[], strictness: Strictness): Members {
  const byTag = new Map<unknown, Check>();
  const others: Check[] = [];
  let tagName = '';
  for (const schema of schemas) {
    const { properties } = SCHEMAS[nameIn(schema.$ref ?? '')] ?? schema;
    const tag = Object.entries(properties ?? {}).find(([, field]) => field.const !== undefined);
    const check = checkOf(schema, strictness);
    if (tag === undefined) {
      others.push(check);
    } else {
      tagName = tag[0];
      byTag.set(tag[1].const, check);
    }
  }
  return { byTag, tagName, others };
}

function firstOf<T>(items: Iterable<T>, complaintOn: (item: T) => string): string {
  for (const item of items) {
    const complaint = complaintOn(item);
    if (complaint !== '') {
      return complaint;
    }
  }
  return '';
}

function wrong(value: unknown, path: string, expected: string): string {
  const shown = JSON.stringify(value) as string | undefined;
  return `${path} is ${(shown ?? 'missing').slice(0, 80)}, not ${expected}`;
}

// Shapes that are still written by hand.

type ShapeFields<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> };

export const text: Shape<string> = (value, path) =>
  typeof value === 'string' ? '' : wrong(value, path, 'a text');

export const number: Shape<number> = (value, path) =>
  typeof value === 'number' ? '' : wrong(value, path, 'a number');

export const truth: Shape<boolean> = (value, path) =>
  typeof value === 'boolean' ? '' : wrong(value, path, 'true or false');

/** One of these texts. */
export function oneOf<const T extends string>(...allowed: readonly T[]): Shape<T> {
  const known = new Set<unknown>(allowed);
  return (value, path) =>
    known.has(value) ? '' : wrong(value, path, `one of ${allowed.join(', ')}`);
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? '' : shape(value, path));
}

/** May be left out. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined ? '' : shape(value, path));
}

/** An object with at least these fields; a newer server may send more. */
export function record<T extends object>(fields: ShapeFields<T>): Shape<T> {
  const shapes = Object.entries<Shape<unknown>>(fields);
  return (value, path) => {
    if (!isObject(value)) {
      return wrong(value, path, 'an object');
    }
    for (const [name, shape] of shapes) {
      const complaint = shape(value[name], `${path}.${name}`);
      if (complaint !== '') {
        return complaint;
      }
    }
    return '';
  };
}

/** An object of any names whose values all have one shape. */
export function dictionary<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, path) =>
    isObject(value)
      ? firstOf(Object.entries(value), ([name, one]) => item(one, `${path}.${name}`))
      : wrong(value, path, 'an object');
}

/** An object whose inside is somebody else's business. */
export function opaque<T extends object>(): Shape<T> {
  return (value, path) => (isObject(value) ? '' : wrong(value, path, 'an object'));
}
