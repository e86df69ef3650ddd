import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';

import type { AgentCell, Fate, MissingCells, Rest } from '../client/panel_rest';
import type { WireCell } from '../wire/generated';
import type { ChatEvent, ChatPool } from './chat_pool';
import type { NotebookEdit, NotebookPort, NotebookRegistry } from './notebooks';

/** An agent's cell, as far as this page knows of it. */
interface TrackedCell {
  readonly run: string;
  /** The document it was seen in last: if it is not there any more, it was taken away. */
  port: NotebookPort | null;
  reported: Fate | '';
}

interface FateOptions {
  readonly rest: Pick<Rest, 'reportFates'>;
  readonly pool: ChatPool;
  readonly notebooks: NotebookRegistry;
}

/** Tells the server what became of agents' cells: saved with the document, or deleted from it. */
export class CellFates implements IDisposable {
  constructor(options: FateOptions) {
    this._options = options;
    const { notebooks, pool } = options;
    pool.eventReceived.connect(this._onEvent, this);
    notebooks.added.connect(this._onNotebook, this);
    for (const port of notebooks.all) {
      this._onNotebook(notebooks, port);
    }
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.disconnectReceiver(this);
    this._ports.clear();
  }

  /** Cells of a run were put into a document. */
  track(run: string, cellIds: readonly string[], port: NotebookPort): void {
    for (const id of cellIds) {
      this._cells.set(id, { run, port, reported: '' });
    }
  }

  /** Whether a cell was in a document of this page, and may since have been taken away. */
  wasThere(cellId: string): boolean {
    return (this._cells.get(cellId)?.port ?? null) !== null;
  }

  private _onEvent(_: ChatPool, { run, recorded: { event } }: ChatEvent): void {
    if (event.kind === 'cell_added' && !this._cells.has(event.cell_id)) {
      this._cells.set(event.cell_id, { run, port: null, reported: '' });
    } else if (event.kind === 'cell_removed') {
      this._cells.delete(event.cell_id); // the agent did it: that is in the record
    } else if (event.kind === 'run_finished') {
      this._ports.forEach(port => {
        this._look(port);
      });
    }
  }

  private _onNotebook(_: NotebookRegistry, port: NotebookPort): void {
    if (!this._ports.has(port)) {
      this._ports.add(port);
      port.saved.connect(this._onSaved, this);
      port.edited.connect(this._onEdited, this);
      port.closed.connect(this._onClosed, this);
    }
  }

  private _onClosed(port: NotebookPort): void {
    this._ports.delete(port);
    port.saved.disconnect(this._onSaved, this);
    port.edited.disconnect(this._onEdited, this);
    port.closed.disconnect(this._onClosed, this);
  }

  private _onEdited(_: NotebookPort, { removed }: NotebookEdit): void {
    this._report(removed, 'deleted');
  }

  private _onSaved(port: NotebookPort): void {
    const there = this._look(port);
    this._report([...there], 'saved');
    const isElsewhere = (id: string): boolean =>
      [...this._ports].some(other => other !== port && idsIn(other).has(id));
    // A document that was closed and opened again has another port at the same path.
    const gone = [...this._cells].filter(
      ([id, cell]) => cell.port?.path === port.path && !there.has(id)
    );
    this._report(
      gone.map(([id]) => id).filter(id => !isElsewhere(id)),
      'deleted'
    );
  }

  /** Note which cells a document has. */
  private _look(port: NotebookPort): ReadonlySet<string> {
    const there = idsIn(port);
    for (const id of there) {
      const cell = this._cells.get(id);
      if (cell !== undefined) {
        cell.port = port;
      }
    }
    return there;
  }

  private _report(cellIds: readonly string[], fate: Fate): void {
    const byRun = new Map<string, string[]>();
    for (const id of cellIds) {
      const cell = this._cells.get(id);
      if (cell !== undefined && cell.reported !== fate) {
        cell.reported = fate;
        byRun.set(cell.run, [...(byRun.get(cell.run) ?? []), id]);
      }
    }
    for (const [run, ids] of byRun) {
      void this._send(run, ids, fate);
    }
  }

  private async _send(run: string, ids: readonly string[], fate: Fate): Promise<void> {
    try {
      await this._options.rest.reportFates(run, Object.fromEntries(ids.map(id => [id, fate])));
    } catch {
      for (const id of ids) {
        const cell = this._cells.get(id);
        if (cell?.reported === fate) {
          cell.reported = ''; // with the next save
        }
      }
    }
  }

  private readonly _options: FateOptions;
  private readonly _cells = new Map<string, TrackedCell>();
  private readonly _ports = new Set<NotebookPort>();
  private _isDisposed = false;
}

function idsIn(port: NotebookPort): ReadonlySet<string> {
  return new Set(port.cells().map(({ id }) => id));
}

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
    if (port !== this._port) {
      this._port = port;
      this._set([]); // they belong into the other notebook
    }
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
        missing.cells.map(({ cell_id: id }) => id),
        this._port
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
