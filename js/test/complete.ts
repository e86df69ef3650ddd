import type { SchemaTypes } from '../src/wire/generated';
import { shape } from '../src/wire/shapes';

/** A value of a type that comes over the wire: what is not given has the server's default. */
export function complete<const Name extends keyof SchemaTypes>(
  name: Name,
  given: Partial<SchemaTypes[Name]>
): SchemaTypes[Name] {
  const value = { ...given };
  const complaint = shape(name)(value, name);
  if (complaint !== '') {
    throw new Error(complaint);
  }
  return value as SchemaTypes[Name];
}
