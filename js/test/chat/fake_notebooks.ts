/** Open notebooks for tests: cells in a list, and every call of the models noted. */
import { Signal } from '@lumino/signaling';

import type { RecordedEvent, WireCell } from '../../src/wire/generated';
import type {
  Confirmation,
  NotebookEdit,
  NotebookPort,
  NotebookRegistry,
  OutlineEntry,
  ProposalAnswer,
  RestartResult,
  UndoResult
} from '../../src/chat/notebooks';

export function cell(id: string, source = ''): WireCell {
  return { id, cell_type: 'code', source, metadata: {} };
}

export class FakeNotebook implements NotebookPort {
  constructor(
    public path: string,
    readonly notebook = `n-${path}`
  ) {}

  kernelId = 'k1';
  editable = true;
  document: WireCell[] = [];
  entries: OutlineEntry[] = [];
  /** Cells that stay as the person left them. */
  readonly left = new Set<string>();
  confirmation: Confirmation = { ok: true, reason: '', cells: [] };
  /** What was applied, begun, ended and proposed, in words. */
  readonly log: string[] = [];

  readonly changed = new Signal<this, void>(this);
  readonly edited = new Signal<this, NotebookEdit>(this);
  readonly closed = new Signal<this, void>(this);
  readonly saved = new Signal<this, void>(this);
  readonly answered = new Signal<this, ProposalAnswer>(this);

  cells(): readonly WireCell[] {
    return this.document;
  }

  confirm(cellId: string, sourceHash: string, messageId: string): Promise<Confirmation> {
    this.log.push(`confirm ${cellId} ${sourceHash} ${messageId}`);
    return Promise.resolve(this.confirmation);
  }

  apply(run: string, { event }: RecordedEvent, isReplay: boolean): boolean {
    this.log.push(`${run} ${event.kind}${isReplay ? ' again' : ''}`);
    if (event.kind === 'cell_added' && !this.has(event.cell_id)) {
      this.document.push(cell(event.cell_id, event.source));
    } else if (event.kind === 'cell_removed') {
      this.remove(event.cell_id);
    }
    return !this.left.has('cell_id' in event ? event.cell_id : '');
  }

  insert(run: string, cells: NotebookEdit['cells']): void {
    this.log.push(
      `${run} insert ${cells.map(({ cell: { id }, after }) => `${id}<${after}`).join()}`
    );
    this.document.push(...cells.map(placed => placed.cell));
  }

  beginRun(run: string): void {
    this.log.push(`${run} begin`);
  }

  endRun(run: string): void {
    this.log.push(`${run} end`);
  }

  reveal(): void {
    return;
  }

  highlight(): void {
    return;
  }

  undo(): UndoResult {
    return { changed: [], kept: [] };
  }

  redo(): UndoResult {
    return { changed: [], kept: [] };
  }

  restartAndRun(): Promise<RestartResult> {
    return Promise.resolve({ ran: 0, of: 0, problem: '' });
  }
  outline(): readonly OutlineEntry[] {
    return this.entries;
  }

  propose(cellId: string, source: string | null): void {
    this.log.push(`propose ${cellId} ${String(source)}`);
  }

  has(id: string): boolean {
    return this.document.some(known => known.id === id);
  }

  remove(id: string): void {
    this.document = this.document.filter(known => known.id !== id);
  }
}

export class FakeNotebooks implements NotebookRegistry {
  constructor(...notebooks: FakeNotebook[]) {
    this.all = notebooks;
    this.current = notebooks[0] ?? null;
  }

  all: FakeNotebook[];
  current: FakeNotebook | null;
  readonly currentChanged = new Signal<this, void>(this);
  readonly added = new Signal<this, FakeNotebook>(this);

  find(path: string): FakeNotebook | null {
    return this.all.find(port => port.path === path) ?? null;
  }

  open(port: FakeNotebook): void {
    this.all = [...this.all, port];
    this.added.emit(port);
    this.show(port);
  }

  show(port: FakeNotebook | null): void {
    this.current = port;
    this.currentChanged.emit();
  }

  close(port: FakeNotebook): void {
    this.all = this.all.filter(other => other !== port);
    port.closed.emit();
  }
}
