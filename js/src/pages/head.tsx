import * as React from 'react';

import { Icon } from '../views/icon';
import { type Sorting, sortedNext } from './sorting';

/** A column of a table; numbers stand at its end. */
export interface Column {
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
