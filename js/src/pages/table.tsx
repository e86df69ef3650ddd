/** Tables of the pages: their heads, the order of their rows, what is said without rows. */
import * as React from 'react';

import type { Sorting } from '../client/runs_rest';
import { Button, Icon } from '../ui/button';
import { useTrans } from '../ui/hooks';

export const UNSORTED: Sorting = { column: '', isDescending: false };

/** What a person chooses by pressing the head of a column: first one way, then the other, then none. */
function sortedNext(now: Sorting, column: string, startsDescending: boolean): Sorting {
  if (now.column !== column) {
    return { column, isDescending: startsDescending };
  }
  return now.isDescending === startsDescending
    ? { column, isDescending: !startsDescending }
    : UNSORTED;
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

interface ShowMoreProps {
  /** False: all is shown, and there is no button. */
  readonly isThere: boolean;
  readonly onMore: () => Promise<void>;
}

/** Below a table that has more rows than are shown. */
export function ShowMore({ isThere, onMore }: ShowMoreProps) {
  const trans = useTrans();
  return isThere ? (
    <Button
      kind="quiet"
      onClick={() => {
        void onMore();
      }}
    >
      {trans.__('Show more')}
    </Button>
  ) : null;
}

/** What went wrong; nothing when nothing did. */
export function Complaint({ text }: { readonly text: string }) {
  return text === '' ? null : (
    <p className="cw-page-note cw-mod-error" role="alert">
      <Icon name="error" />
      <span>{text}</span>
    </p>
  );
}

/** That there is nothing, and what to do about it. */
export function Nothing({ children }: { readonly children: React.ReactNode }) {
  return <p className="cw-muted cw-nothing">{children}</p>;
}

/** That what is shown here is on its way. */
export function Reading() {
  const trans = useTrans();
  return <Nothing>{trans.__('Reading …')}</Nothing>;
}

interface EmptyProps {
  readonly state: { readonly isLoaded: boolean; readonly problem: string };
  readonly children: React.ReactNode;
}

/** What is said where a list is empty and that is no fault. */
export function Empty({ state, children }: EmptyProps) {
  return state.isLoaded && state.problem === '' ? <Nothing>{children}</Nothing> : null;
}

/** A column of a table; numbers stand at its end. */
interface Column {
  readonly key: string;
  readonly label: string;
  readonly isNumber?: boolean;
  /** Its name is only read aloud. */
  readonly isHidden?: boolean;
  /** The rows can be sorted by it; what stands first when it is chosen. */
  readonly sorts?: 'smallest' | 'largest';
}

interface HeadProps {
  readonly columns: readonly Column[];
  readonly sorting?: Sorting;
  readonly onSort?: (sorting: Sorting) => void;
}

/** The head of a table. */
export function Head({ columns, sorting, onSort }: HeadProps) {
  return (
    <thead>
      <tr>
        {columns.map(column =>
          sorting !== undefined && onSort !== undefined && column.sorts !== undefined ? (
            <SortingHead key={column.key} column={column} sorting={sorting} onSort={onSort} />
          ) : (
            <PlainHead key={column.key} column={column} />
          )
        )}
      </tr>
    </thead>
  );
}

function PlainHead({ column }: { readonly column: Column }) {
  const { label, isNumber = false, isHidden = false } = column;
  return (
    <th scope="col" className={isNumber ? 'cw-number' : ''}>
      {isHidden ? <span className="cw-hidden">{label}</span> : label}
    </th>
  );
}

type SortingProps = { readonly column: Column } & Required<Pick<HeadProps, 'sorting' | 'onSort'>>;

/** A head that is a button: first one way, then the other, then as the rows come. */
function SortingHead({ column, sorting, onSort }: SortingProps) {
  const { key, label, isNumber = false, sorts } = column;
  const isSorted = sorting.column === key;
  const order = !isSorted ? 'none' : sorting.isDescending ? 'descending' : 'ascending';
  return (
    <th scope="col" aria-sort={order} className={isNumber ? 'cw-number' : ''}>
      <button
        type="button"
        className="cw-sort"
        onClick={() => {
          onSort(sortedNext(sorting, key, sorts === 'largest'));
        }}
      >
        <span>{label}</span>
        <Icon name={order === 'descending' ? 'down' : 'up'} />
      </button>
    </th>
  );
}
