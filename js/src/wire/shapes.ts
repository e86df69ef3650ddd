/** Whether what came over the wire is what the types say, in small parts that add up. */

/** Says what is wrong with a value that should be a `T`; an empty text: nothing. */
export interface Shape<out T> {
  (value: unknown, path: string): string;
  /** Never set: it lets the compiler tell shapes of different types apart. */
  readonly type?: T;
}

type ShapeFields<T> = { readonly [Name in keyof T]-?: Shape<T[Name]> };

function wrong(value: unknown, path: string, expected: string): string {
  const shown = JSON.stringify(value) as string | undefined;
  return `${path} is ${(shown ?? 'missing').slice(0, 80)}, not ${expected}`;
}

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

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) {
      return wrong(value, path, 'a list');
    }
    for (const [index, item] of value.entries()) {
      const complaint = shape(item, `${path}[${String(index)}]`);
      if (complaint !== '') {
        return complaint;
      }
    }
    return '';
  };
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

/** An object whose inside is somebody else's business. */
export function opaque<T extends object>(): Shape<T> {
  return (value, path) => (isObject(value) ? '' : wrong(value, path, 'an object'));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value has a shape, for what needs no reason. */
export function fits<T>(shape: Shape<T>, value: unknown): value is T {
  return shape(value, '') === '';
}
