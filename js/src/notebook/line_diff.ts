/** A line of a diff. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Texts that differ in more lines than this are shown as replaced whole. */
const DISTANCE_LIMIT = 500;

/** The shortest way from one text to another, line by line (Myers, 1986). */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = before === '' ? [] : before.split('\n');
  const now = after === '' ? [] : after.split('\n');
  const start = commonStart(old, now);
  const end = commonEnd(old.slice(start), now.slice(start));
  const oldMiddle = old.slice(start, old.length - end);
  const newMiddle = now.slice(start, now.length - end);
  return [
    ...lines('same', old.slice(0, start)),
    ...middle(oldMiddle, newMiddle),
    ...lines('same', old.slice(old.length - end))
  ];
}

function lines(kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] {
  return texts.map(text => ({ kind, text }));
}

function commonStart(old: readonly string[], now: readonly string[]): number {
  const length = Math.min(old.length, now.length);
  let count = 0;
  while (count < length && old[count] === now[count]) {
    count += 1;
  }
  return count;
}

function commonEnd(old: readonly string[], now: readonly string[]): number {
  return commonStart([...old].reverse(), [...now].reverse());
}

/** How far along the old text each diagonal got, for every number of changes. */
type Reach = ReadonlyMap<number, number>;

function middle(old: readonly string[], now: readonly string[]): DiffLine[] {
  const trace: Reach[] = [];
  let reach: Reach = new Map([[1, 0]]);
  const limit = Math.min(old.length + now.length, DISTANCE_LIMIT);
  for (let changes = 0; changes <= limit; changes++) {
    trace.push(reach);
    const next = new Map(reach);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let x = startOf(reach, diagonal, changes);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) {
        x += 1;
      }
      next.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) {
        return walkBack(old, now, trace);
      }
    }
    reach = next;
  }
  return [...lines('removed', old), ...lines('added', now)];
}

function comesFromAbove(reach: Reach, diagonal: number, changes: number): boolean {
  const left = reach.get(diagonal - 1) ?? -1;
  const above = reach.get(diagonal + 1) ?? -1;
  return diagonal === -changes || (diagonal !== changes && left < above);
}

function startOf(reach: Reach, diagonal: number, changes: number): number {
  return comesFromAbove(reach, diagonal, changes)
    ? (reach.get(diagonal + 1) ?? 0)
    : (reach.get(diagonal - 1) ?? 0) + 1;
}

/** A place in both texts. */
interface DiffPlace {
  readonly x: number;
  readonly y: number;
}

function walkBack(
  old: readonly string[],
  now: readonly string[],
  trace: readonly Reach[]
): DiffLine[] {
  const result: DiffLine[] = [];
  let place: DiffPlace = { x: old.length, y: now.length };
  for (const [changes, reach] of [...trace.entries()].reverse()) {
    const from = originOf(place, reach, changes);
    const same = Math.min(place.x - from.x, place.y - from.y);
    result.push(...lines('same', old.slice(place.x - same, place.x).reverse()));
    if (changes > 0) {
      const isAdded = place.x - from.x === same;
      const text = isAdded ? now[from.y] : old[from.x];
      result.push({ kind: isAdded ? 'added' : 'removed', text: text ?? '' });
    }
    place = from;
  }
  return result.reverse();
}

/** Where the path to a place was before its last change and the equal lines after that. */
function originOf({ x, y }: DiffPlace, reach: Reach, changes: number): DiffPlace {
  if (changes === 0) {
    return { x: 0, y: 0 };
  }
  const diagonal = x - y + (comesFromAbove(reach, x - y, changes) ? 1 : -1);
  const from = reach.get(diagonal) ?? 0;
  return { x: from, y: from - diagonal };
}

/** Lines that did not change and are left out. */
export interface Gap {
  readonly kind: 'gap';
  readonly count: number;
}

/** The changed lines with a few around them, as a unified diff shows them. */
export function withContext(all: readonly DiffLine[], around = 3): readonly (DiffLine | Gap)[] {
  const near = new Set<number>();
  for (const [index, line] of all.entries()) {
    if (line.kind !== 'same') {
      for (let place = index - around; place <= index + around; place++) {
        near.add(place);
      }
    }
  }
  const shown: (DiffLine | Gap)[] = [];
  for (const [index, line] of all.entries()) {
    const last = shown.at(-1);
    if (near.has(index)) {
      shown.push(line);
    } else if (last?.kind === 'gap') {
      shown[shown.length - 1] = { kind: 'gap', count: last.count + 1 };
    } else {
      shown.push({ kind: 'gap', count: 1 });
    }
  }
  return shown;
}
