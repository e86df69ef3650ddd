import * as React from 'react';

/** A column of a table; numbers stand at its end. */
export interface Column {
  readonly key: string;
  readonly label: string;
  readonly isNumber?: boolean;
  /** Its name is only read aloud. */
  readonly isHidden?: boolean;
}

/** The head of a table. */
export function Head({ columns }: { readonly columns: readonly Column[] }) {
  return (
    <thead>
      <tr>
        {columns.map(({ key, label, isNumber = false, isHidden = false }) => (
          <th key={key} scope="col" className={isNumber ? 'cw-number' : ''}>
            {isHidden ? <span className="cw-hidden">{label}</span> : label}
          </th>
        ))}
      </tr>
    </thead>
  );
}
