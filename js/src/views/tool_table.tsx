import * as React from 'react';

import { useTrans } from './scope';

const ROWS_SHOWN = 60;
const COLUMNS_SHOWN = 30;

interface TableCell {
  readonly text: string;
  readonly isHead: boolean;
}

/** The words of a table, and how many rows it had. */
export interface TableWords {
  readonly rows: readonly (readonly TableCell[])[];
  readonly rowCount: number;
}

/**
 * The first table in a piece of HTML; null: there is none.
 *
 * Only its words are taken: the piece is read in a document of its own, where nothing is loaded
 * or run.
 */
export function readTable(html: string): TableWords | null {
  const table = new DOMParser().parseFromString(html, 'text/html').querySelector('table');
  const rows = [...(table?.rows ?? [])];
  if (rows.length === 0) {
    return null;
  }
  const shown = rows.slice(0, ROWS_SHOWN).map(row => [...row.cells].slice(0, COLUMNS_SHOWN));
  return {
    rows: shown.map(cells =>
      cells.map(cell => ({ text: cell.textContent.trim(), isHead: cell.tagName === 'TH' }))
    ),
    rowCount: rows.length
  };
}

/** A table that a call shows to the person. */
export function ToolTable({ table }: { table: TableWords }) {
  const trans = useTrans();
  return (
    <div
      className="cw-call-table"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Table of this call')}
    >
      <table>
        <tbody>
          {table.rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ text, isHead }, column) =>
                isHead ? <th key={column}>{text}</th> : <td key={column}>{text}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rowCount > table.rows.length && (
        <p className="cw-muted">
          {trans.__('The first %1 of %2 rows', table.rows.length, table.rowCount)}
        </p>
      )}
    </div>
  );
}
