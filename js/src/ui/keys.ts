const keys = new WeakMap<object, number>();
let lastKey = 0;

/** A key of React for an object: what is drawn for another one is drawn anew. */
export function keyOf(object: object): number {
  const key = keys.get(object) ?? ++lastKey;
  keys.set(object, key);
  return key;
}
