/** In which order the rows of a table stand. */

export interface Sorting {
  /** Which column; empty: as the rows come. */
  readonly column: string;
  readonly isDescending: boolean;
}

export const UNSORTED: Sorting = { column: '', isDescending: false };

/** What a person chooses by pressing the head of a column: first one way, then the other, then none. */
export function sortedNext(now: Sorting, column: string, startsDescending: boolean): Sorting {
  if (now.column !== column) {
    return { column, isDescending: startsDescending };
  }
  return now.isDescending === startsDescending
    ? { column, isDescending: !startsDescending }
    : UNSORTED;
}

/** How the server is told of it. */
export function sortWord({ column, isDescending }: Sorting): string {
  return column !== '' && isDescending ? `-${column}` : column;
}

/** What a row has in a column; null: it is not known. */
export type Sortable = string | number | null;

/** The rows in order; what is not known comes last either way. */
export function sortedRows<Row>(
  rows: readonly Row[],
  { column, isDescending }: Sorting,
  columns: Readonly<Record<string, (row: Row) => Sortable>>
): readonly Row[] {
  const valueOf = columns[column];
  if (valueOf === undefined) {
    return rows;
  }
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((first, second) => {
    const a = valueOf(first);
    const b = valueOf(second);
    if (a === null || b === null) {
      return Number(a === null) - Number(b === null);
    }
    return sign * compared(a, b);
  });
}

function compared(a: string | number, b: string | number): number {
  return typeof a === 'number' && typeof b === 'number'
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true, sensitivity: 'base' });
}
