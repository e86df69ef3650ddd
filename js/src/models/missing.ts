import { Signal, type ISignal } from '@lumino/signaling';

import type { AgentCell, MissingCells } from '../server/answers';
import type { WireCell } from '../server/frames';
import type { Rest } from '../server/rest';
import type { CellFates } from './fates';
import type { NotebookEdit, NotebookPort } from './notebooks';

/** Cells that were made for a notebook while it was closed, for the person to decide on. */
export class MissingList {
  constructor(rest: Pick<Rest, 'missing' | 'reportFates'>, fates: CellFates, tab: string) {
    this._rest = rest;
    this._tab = tab;
    this._fates = fates;
  }

  get cells(): readonly MissingCells[] {
    return this._cells;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Ask what a notebook lacks, besides what is still on its way. */
  async refresh(
    port: NotebookPort | null,
    isOnItsWay: (missing: MissingCells) => boolean
  ): Promise<void> {
    this._port = port;
    if (port?.editable !== true) {
      this._set([]);
      return;
    }
    const listed = await this._rest.missing(port.path, this._tab).catch(() => []);
    if (this._port !== port) {
      return; // the person looks at another notebook by now
    }
    const there = new Set(port.cells().map(({ id }) => id));
    const lacks = ({ cell_id: id }: AgentCell): boolean =>
      !there.has(id) && !this._fates.wasThere(id);
    this._set(
      listed
        .filter(missing => !isOnItsWay(missing))
        .map(missing => ({ ...missing, cells: missing.cells.filter(lacks) }))
        .filter(({ cells }) => cells.length > 0)
    );
  }

  /** Put them where they belong; they count as saved when the document is. */
  insert(missing: MissingCells): void {
    if (this._port !== null) {
      this._port.insert(missing.run, missing.cells.map(placed));
      this._fates.track(
        missing.run,
        missing.cells.map(({ cell_id: id }) => id)
      );
      this._remove(missing);
    }
  }

  /** Never offer them again. */
  async discard(missing: MissingCells): Promise<void> {
    const fates = missing.cells.map(({ cell_id: id }) => [id, 'discarded'] as const);
    await this._rest.reportFates(missing.run, Object.fromEntries(fates));
    this._remove(missing);
  }

  private _remove({ run }: MissingCells): void {
    this._set(this._cells.filter(other => other.run !== run));
  }

  private _set(cells: readonly MissingCells[]): void {
    if (cells.length > 0 || this._cells.length > 0) {
      this._cells = cells;
      this._changed.emit();
    }
  }

  private readonly _rest: Pick<Rest, 'missing' | 'reportFates'>;
  private readonly _fates: CellFates;
  private readonly _tab: string;
  private readonly _changed = new Signal<this, void>(this);
  private _port: NotebookPort | null = null;
  private _cells: readonly MissingCells[] = [];
}

function placed(cell: AgentCell): NotebookEdit['cells'][number] {
  const { after, cell_id: id, cell_type, execution_count, outputs, source } = cell;
  const made: WireCell = { id, cell_type, source, metadata: {} };
  const isCode = cell_type === 'code';
  return { after, cell: isCode ? { ...made, outputs, execution_count } : made };
}
