import type {
  ApprovalAnswered,
  ApprovalAsked,
  CellAdded,
  CellFinished,
  CellStarted,
  Content,
  JsonObject,
  Part,
  ToolCall,
  ToolFinished,
  ToolProgress,
  ToolStarted
} from '../wire/generated';
import type { Block, ToolCard } from './types';

const IS_OPEN: ReadonlySet<ToolCard['status']> = new Set(['waiting', 'asking', 'running']);

/** The cards of a run's calls, kept in the list of its blocks. */
export class ToolCards {
  constructor(blocks: Block[]) {
    this._blocks = blocks;
  }

  /** The model asked for a call; its turn has yet to come. */
  await(call: ToolCall): void {
    this._update(call.id, described(call.name, parsedArguments(call.arguments)));
  }

  /** The run is over: what was never finished never will be. */
  end(): void {
    for (const [callId, index] of this._indexes) {
      const card = this._blocks[index];
      if (card?.kind === 'tool' && IS_OPEN.has(card.status)) {
        this._update(callId, { status: 'cancelled', progress: null });
      }
    }
  }

  start(event: ToolStarted, time: number): void {
    this._running = event.call_id;
    this._update(event.call_id, {
      ...described(event.name, event.arguments),
      label: event.label || event.name,
      risk: event.risk,
      cells: event.cells,
      status: 'running',
      startedAt: time
    });
  }

  ask(event: ApprovalAsked): void {
    this._update(event.call_id, { status: 'asking', reason: event.reason });
  }

  decide(event: ApprovalAnswered, time: number): void {
    const card = this._card(event.call_id);
    if (!event.allowed) {
      this._update(event.call_id, { status: 'refused', reason: event.reason });
    } else if (card.status === 'asking') {
      this._update(event.call_id, { status: 'running', reason: '', startedAt: time });
    }
  }

  finish(event: ToolFinished): void {
    const { cellIds, label, name } = this._card(event.call_id);
    this._update(event.call_id, {
      name: name || event.name,
      label: label || event.name,
      status: event.status,
      result: textOf(event.message.parts),
      shown: event.shown,
      contents: event.contents.filter(item => isDrawn(item, cellIds.length > 0)),
      progress: null,
      durationSeconds: event.duration_seconds
    });
  }

  progress({ call_id, text, fraction }: ToolProgress): void {
    if (IS_OPEN.has(this._card(call_id).status)) {
      this._update(call_id, { progress: { text, fraction } });
    }
  }

  addCell(event: CellAdded): void {
    this.noteCell(event);
    this._update(event.call_id, { language: languageOf(event.cell_type) });
  }

  /** A call changed a cell. */
  noteCell({ call_id: callId, cell_id: cellId }: Pick<CellAdded, 'call_id' | 'cell_id'>): void {
    this._calls.set(cellId, callId);
    const { cellIds } = this._card(callId);
    if (!cellIds.includes(cellId)) {
      this._update(callId, { cellIds: [...cellIds, cellId] });
    }
  }

  startCell({ cell_id }: CellStarted): void {
    const callId = this._callOf(cell_id);
    this.noteCell({ call_id: callId, cell_id });
    this._started += 1;
    if (this._card(callId).step === 0) {
      this._update(callId, { step: this._started });
    }
  }

  finishCell(event: CellFinished): void {
    this._update(this._callOf(event.cell_id), { execution: event.execution });
  }

  private _callOf(cellId: string): string {
    return this._calls.get(cellId) ?? this._running;
  }

  private _card(callId: string): ToolCard {
    const card = this._blocks[this._indexes.get(callId) ?? -1];
    return card?.kind === 'tool' ? card : { ...EMPTY_CARD, callId };
  }

  private _update(callId: string, change: Partial<ToolCard>): void {
    if (callId === '') {
      return; // a cell that no call made
    }
    const card = { ...this._card(callId), ...change };
    const index = this._indexes.get(callId);
    if (index === undefined) {
      this._indexes.set(callId, this._blocks.push(card) - 1);
    } else {
      this._blocks[index] = card;
    }
  }

  private readonly _blocks: Block[];
  private readonly _indexes = new Map<string, number>();
  /** Which call last worked on a cell. */
  private readonly _calls = new Map<string, string>();
  private _running = '';
  /** How many cells have begun. */
  private _started = 0;
}

const EMPTY_CARD: ToolCard = {
  kind: 'tool',
  callId: '',
  name: '',
  label: '',
  risk: '',
  status: 'waiting',
  code: '',
  language: '',
  argumentsText: '',
  given: {},
  cells: [],
  reason: '',
  cellIds: [],
  step: 0,
  execution: null,
  result: '',
  shown: '',
  contents: [],
  progress: null,
  startedAt: null,
  durationSeconds: 0
};

/** Whether the panel draws a piece; what a cell showed to all stands in the notebook already. */
function isDrawn({ is_error, visible_scope }: Content, hasCell: boolean): boolean {
  return !is_error && (visible_scope === 'user' || (visible_scope === 'all' && !hasCell));
}

/** What a card says of a call before it runs. */
function described(name: string, given: JsonObject): Partial<ToolCard> {
  const isCode = typeof given.code === 'string';
  const writtenName = isCode ? 'code' : 'source';
  const written = given[writtenName];
  const others = Object.entries(given).filter(
    ([argument, value]) => argument !== writtenName || typeof value !== 'string'
  );
  const argumentsText =
    others.length === 0 ? '' : JSON.stringify(Object.fromEntries(others), null, 2);
  if (typeof written !== 'string') {
    return { name, label: name, argumentsText, given };
  }
  const cellType = isCode || name === 'edit_cell' ? 'code' : given.cell_type;
  const language = languageOf(cellType);
  return { name, label: name, argumentsText, given, code: written, language };
}

function languageOf(cellType: unknown): string {
  return cellType === 'code' ? 'python' : cellType === 'raw' ? '' : 'markdown';
}

function parsedArguments(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
  } catch {
    return {}; // the model wrote it wrong; it is told so
  }
}

function textOf(parts: readonly Part[]): string {
  return parts.map(part => (part.kind === 'text' ? part.text : part.caption)).join('\n');
}
