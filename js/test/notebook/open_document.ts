/** A real notebook document in a page without a server. */
import { CodeMirrorMimeTypeService, EditorLanguageRegistry } from '@jupyterlab/codemirror';
import { Notebook, NotebookModel, NotebookPanel, StaticNotebook } from '@jupyterlab/notebook';
import { RenderMimeRegistry, standardRendererFactories } from '@jupyterlab/rendermime';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { RecordedEvent, RunEvent } from '../../src/wire/generated';
import { OpenNotebook, type PortOptions } from '../../src/notebook/port';
import { plainEditor } from './plain_editor';

export const trans = nullTranslator.load('cellwright');

/** What a session context tells and holds, as far as a notebook listens. */
class StillSession {
  readonly kernelChanged = new Signal<this, unknown>(this);
  readonly statusChanged = new Signal<this, unknown>(this);
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly kernelPreference = {};
  session: { readonly kernel: object } | null = null;
}

/** A document's context whose file never moves unless a test moves it. */
export class StillContext {
  constructor(
    readonly model: NotebookModel,
    public path: string
  ) {}

  readonly pathChanged = new Signal<this, string>(this);
  readonly fileChanged = new Signal<this, unknown>(this);
  readonly saveState = new Signal<this, string>(this);
  readonly disposed = new Signal<this, void>(this);
  readonly sessionContext = new StillSession();
  readonly ready = Promise.resolve();
  contentsModel = { writable: true };

  get localPath(): string {
    return this.path;
  }
}

export interface Document {
  readonly panel: NotebookPanel;
  readonly model: NotebookModel;
  readonly context: StillContext;
  readonly port: OpenNotebook;
}

export type CellJson = Record<string, unknown>;

export function code(id: string, source: string, more: CellJson = {}): CellJson {
  const rest = { metadata: {}, outputs: [], execution_count: null };
  return { id, cell_type: 'code', source, ...rest, ...more };
}

/** Open a notebook with these cells; all of them are drawn. */
export function openDocument(
  cells: readonly CellJson[],
  {
    path = 'folder/notebook.ipynb',
    ...options
  }: Partial<PortOptions> & { readonly path?: string } = {}
): Document {
  const model = new NotebookModel({ disableDocumentWideUndoRedo: true });
  model.fromJSON({
    cells: cells as never,
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5
  });
  model.sharedModel.clearUndoHistory();
  const context = new StillContext(model, path);
  const panel = new NotebookPanel({ context: context as never, content: view() });
  Widget.attach(panel, document.body);
  const port = new OpenNotebook(panel, {
    trans,
    follows: () => false,
    activate: () => undefined,
    ...options
  });
  return { panel, model, context, port };
}

/** Open another view of the same document. */
export function openView({ context }: Document): NotebookPanel {
  const panel = new NotebookPanel({ context: context as never, content: view() });
  Widget.attach(panel, document.body);
  return panel;
}

function view(): Notebook {
  return new Notebook({
    contentFactory: new Notebook.ContentFactory({ editorFactory: plainEditor }),
    mimeTypeService: new CodeMirrorMimeTypeService(new EditorLanguageRegistry()),
    notebookConfig: { ...StaticNotebook.defaultNotebookConfig, windowingMode: 'none' },
    rendermime: new RenderMimeRegistry({ initialFactories: standardRendererFactories })
  });
}

/** Let go of everything the tests opened. */
export function closeAll(opened: readonly Document[]): void {
  for (const { panel } of opened) {
    panel.dispose();
  }
  document.body.replaceChildren();
}

export function ids(document: Document): string[] {
  return document.port.cells().map(cell => cell.id);
}

export function sources(document: Document): string[] {
  return document.port.cells().map(cell => cell.source);
}

/** Feeds events to a document as a run would. */
export class Run {
  constructor(
    private readonly _port: OpenNotebook,
    readonly id = 'run-1'
  ) {}

  apply(event: RunEvent, isReplay = false): boolean {
    this._sequence += 1;
    return this._port.apply(this.id, recorded(event, this._sequence), isReplay);
  }

  private _sequence = 0;
}

export function recorded(event: RunEvent, sequence: number): RecordedEvent {
  return { sequence, time: 1_700_000_000 + sequence, event };
}
