/** Models for the views: what they show is set, what is asked of them is written down. */
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type {
  BranchList,
  ChangedFiles,
  ChatState,
  Mode,
  VariableSummary,
  WireCell
} from '../../src/wire/generated';
import type { ReceivedEvent } from '../../src/chat/chat';
import { ComposerModel } from '../../src/chat/composer';
import { ChatMemory } from '../../src/chat/memory';
import type { TextStore } from '../../src/client/browser_store';
import type { RestartResult, RestartWatch, UndoResult } from '../../src/chat/notebooks';
import type { Problem } from '../../src/client/problems';
import type { CurrentNotebook } from '../../src/chat/session';
import type { Suggestion } from '../../src/chat/suggestions';
import type { ChatSummary, Draft, LinkState, NoticeBlock, Turn } from '../../src/chat/types';
import type {
  AssistantChoices,
  ChatContext,
  KernelSnapshots,
  ListedChat,
  MissingCells,
  ProviderList,
  ProviderOffer,
  ServiceChange,
  ServiceCheck,
  ServiceState,
  Thumb,
  WaitingNote
} from '../../src/client/panel_rest';
import type { Chat, Notebooks, NotebookView, Panel } from '../../src/panel/ports';
import { chatState } from '../fake_socket';

export { card, turn, USAGE } from './fake_turns';

// eslint-disable-next-line jupyter/incorrect-translator-usage
export const TRANS = nullTranslator.load('cellwright');

export const OPENAI: ProviderOffer = {
  name: 'OpenAI',
  base_url: 'https://api.openai.com/v1',
  example: 'https://api.openai.com/v1',
  model: 'gpt-5.6',
  needs_key: true,
  has_key: false,
  is_key_set: false,
  port: 0,
  models: null,
  has_credentials: false
};

export const LOCAL: ProviderOffer = {
  ...OPENAI,
  name: 'LM Studio',
  base_url: 'http://127.0.0.1:1234/v1',
  model: '',
  needs_key: false,
  port: 1234
};

class TextMap extends Map<string, string> implements TextStore {
  getItem(key: string): string | null {
    return this.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    this.set(key, value);
  }
  removeItem(key: string): void {
    this.delete(key);
  }
}

/** What was asked of a fake: the name and the arguments of each call. */
export type Call = readonly [name: string, ...values: unknown[]];

export class FakeChat implements Chat {
  constructor(state: Partial<ChatState> = {}, turns: readonly Turn[] = []) {
    this.state = chatState(state.id ?? 'chat-1', state);
    this.turns = turns;
  }

  readonly calls: Call[] = [];
  readonly composer = new ComposerModel(new ChatMemory(new TextMap(), new TextMap()), 'chat-1');
  readonly changed = new Signal<this, void>(this);
  readonly eventReceived = new Signal<this, ReceivedEvent>(this);
  readonly stateReceived = new Signal<this, ChatState>(this);
  readonly created = new Signal<this, string>(this);
  state: ChatState;
  turns: readonly Turn[];
  sending: readonly Draft[] = [];
  problem: Problem | null = null;
  isCaughtUp = true;
  isDriver = true;
  isDrivenElsewhere = false;
  isDisposed = false;

  get id(): string {
    return this.state.id;
  }

  /** Become this and tell of it. */
  set(change: {
    readonly state?: Partial<ChatState>;
    readonly turns?: readonly Turn[];
    readonly problem?: Problem | null;
  }): void {
    this.state = { ...this.state, ...change.state };
    this.turns = change.turns ?? this.turns;
    this.problem = change.problem === undefined ? this.problem : change.problem;
    this.changed.emit();
  }

  ask(draft: Draft, options: { readonly instead?: boolean } = {}): void {
    this.calls.push(['ask', draft, options]);
  }
  tryWays(draft: Draft, count: number, models: readonly string[] = []): Promise<void> {
    this.calls.push(['tryWays', draft, count, models]);
    this.composer.clear();
    return Promise.resolve();
  }
  begin(): Promise<string> {
    this.calls.push(['begin']);
    this.state = { ...this.state, id: this.state.id || 'begun' };
    return Promise.resolve(this.state.id);
  }
  stop(): void {
    this.calls.push(['stop']);
  }
  compact(): void {
    this.calls.push(['compact']);
  }
  answer(callId: string, allowed: boolean, reason = '', forSession = false, adopt = false): void {
    this.calls.push(['answer', callId, allowed, reason, forSession, ...(adopt ? [adopt] : [])]);
  }
  sendInput(value: string): void {
    this.calls.push(['sendInput', value]);
  }
  editQueue(...values: Parameters<Chat['editQueue']>): void {
    this.calls.push(['editQueue', ...values]);
  }
  extend(seconds: number): void {
    this.calls.push(['extend', seconds]);
  }
  drive(): void {
    this.calls.push(['drive']);
  }
  moveTo(path: string): void {
    this.calls.push(['moveTo', path]);
  }
  tellLeft(): void {
    this.calls.push(['tellLeft']);
  }
  clearProblem(): void {
    this.calls.push(['clearProblem']);
    this.set({ problem: null });
  }
  dispose(): void {
    this.isDisposed = true;
  }
}

export const SERVICE: ServiceState = {
  model: 'gpt-5.6',
  base_url: 'https://models.example.org/v1',
  has_key: true,
  key_source: 'environment',
  is_demo: false,
  notice: '',
  mode: 'ask',
  modes: ['plan', 'ask', 'edits', 'auto'],
  models_allowed: [],
  endpoints_locked: false,
  recording: true,
  warnings: [],
  parameters: {}
};

export class FakePanel implements Panel {
  constructor(public chat: FakeChat = new FakeChat()) {}

  readonly calls: Call[] = [];
  readonly linkChanged = new Signal<this, LinkState>(this);
  readonly serviceChanged = new Signal<this, ServiceState | null>(this);
  readonly chatChanged = new Signal<this, void>(this);
  readonly chatsChanged = new Signal<this, readonly ChatSummary[]>(this);
  readonly notebookChanged = new Signal<this, CurrentNotebook | null>(this);
  readonly noticesChanged = new Signal<this, readonly NoticeBlock[]>(this);
  readonly problemChanged = new Signal<this, Problem | null>(this);
  readonly missingChanged = new Signal<this, readonly MissingCells[]>(this);
  link: LinkState = 'open';
  service: ServiceState | null = SERVICE;
  chats: readonly ChatSummary[] = [];
  notebook: CurrentNotebook | null = null;
  notices: readonly NoticeBlock[] = [];
  problem: Problem | null = null;
  missing: readonly MissingCells[] = [];
  isDisposed = false;
  names: readonly VariableSummary[] = [];
  suggested: readonly Suggestion[] = [];
  checks: readonly ServiceCheck[] = [];
  /** What an undo finds of files. */
  files: ChangedFiles = { back: [], stays: [], run_id: '', step: 0 };
  branchList: BranchList = { phase: 'over', prompt: '', branches: [] };
  models: readonly string[] = ['gpt-5.6', 'gpt-5.6-mini', 'qwen3-coder'];
  offers: ProviderList = {
    providers: [OPENAI, LOCAL],
    any_address: true,
    set_model: '',
    new_key_place: 'file'
  };
  assistants: AssistantChoices = { assistants: [], problems: [], places: [], unusable: [] };
  /** The chat's own instructions. */
  prompt = '';
  /** Runs of pinned turns. */
  pins: readonly string[] = [];
  /** What the person thinks of answers. */
  thumbs: Readonly<Record<string, Thumb>> = {};
  /** From which cell on runs were undone. */
  undone: Readonly<Record<string, number>> = {};
  /** What had run in the kernel. */
  earlierCells: readonly string[] = [];
  /** What the kernel can be taken back to. */
  snapshots: KernelSnapshots = { snapshots: [], held_bytes: null };
  textFilters: readonly string[] = ['line_ends', 'terminal_colours', 'blank_lines'];
  /** What the next request begins with. */
  context: ChatContext = {
    parts: [],
    tokens: 0,
    limit: 60_000,
    summary: '',
    words: '',
    dollars: null,
    cached_dollars: null
  };
  /** Which library would take an uploaded file; empty: none. */
  library = '';
  /** Thrown by what reaches the server, when set. */
  refusal: Error | null = null;

  /** What waits for the next question. */
  waiting: readonly WaitingNote[] = [];

  readonly rest: Panel['rest'] = {
    addNote: (id, text) => {
      this.calls.push(['addNote', id, text]);
      const note = { id: `n${String(this.waiting.length + 1)}`, role: 'user_later', text };
      return this.answer(note).then(added => {
        this.waiting = [...this.waiting, added];
        return added;
      });
    },
    takeNote: (id, note) => {
      this.calls.push(['takeNote', id, note]);
      return this.answer(undefined).then(() => {
        this.waiting = this.waiting.filter(waiting => waiting.id !== note);
      });
    },
    waitingNotes: () => this.answer(this.waiting),
    addDocument: document => {
      this.calls.push(['addDocument', document]);
      return this.answer(undefined);
    },
    assistants: () => this.answer(this.assistants),
    chat: id => this.answer(this.listed(id)),
    setPinned: (id, run, isPinned) => {
      this.calls.push(['setPinned', id, run, isPinned]);
      if (this.refusal === null) {
        const others = this.pins.filter(pinned => pinned !== run);
        this.pins = isPinned ? [...others, run] : others;
      }
      return this.answer(this.listed(id));
    },
    setThumb: (id, run, thumb) => {
      this.calls.push(['setThumb', id, run, thumb]);
      if (this.refusal === null) {
        const others = Object.entries(this.thumbs).filter(([name]) => name !== run);
        this.thumbs = Object.fromEntries(thumb === null ? others : [...others, [run, thumb]]);
      }
      return this.answer(this.listed(id));
    },
    changeChat: (id, change) => {
      this.calls.push(['changeChat', id, change]);
      if (this.refusal === null) {
        this.prompt = change.prompt ?? this.prompt;
        this.textFilters = change.text_filters ?? this.textFilters;
      }
      return this.answer(undefined);
    },
    branches: () => this.answer(this.branchList),
    keepBranch: (id, number) => {
      this.calls.push(['keepBranch', id, number]);
      return this.answer(undefined);
    },
    dropBranches: id => {
      this.calls.push(['dropBranches', id]);
      return this.answer(undefined);
    },
    preview: (id, call) => {
      this.calls.push(['preview', id, call]);
      return new Promise(() => undefined);
    },
    endPreview: id => {
      this.calls.push(['endPreview', id]);
      return this.answer(undefined);
    },
    exportChat: (id, to) => {
      this.calls.push(['exportChat', id, to]);
      return this.answer(new Blob(['text']));
    },
    uploadFile: (file, name, place) => {
      this.calls.push(['uploadFile', name, place]);
      const uploaded = { file: `0a1b-${name}`, name, size_bytes: file.size, mime: file.type };
      return this.answer({ ...uploaded, library: this.library });
    },
    putFilesBack: (kernel, run, step) => {
      this.calls.push(['putFilesBack', kernel, run, step]);
      return this.answer({ ...this.files, run_id: run, step });
    },
    forgetSnapshots: kernel => {
      this.calls.push(['forgetSnapshots', kernel]);
      return this.answer({ snapshots: [], held_bytes: 0 });
    },
    cellsBefore: (run, step) => {
      this.calls.push(['cellsBefore', run, step]);
      return Promise.resolve(this.earlierCells);
    },
    filesBefore: (kernel, run, step) => {
      this.calls.push(['filesBefore', kernel, run, step]);
      return Promise.resolve({ ...this.files, run_id: run, step });
    },
    undoVariables: (kernel, run, step, already) => {
      this.calls.push(['undoVariables', kernel, run, step, ...(already ? [already] : [])]);
      const files = { ...this.files, run_id: run, step };
      const done = { run, is_undone: run !== '', step, taken_at: 0, files };
      return already ? Promise.resolve(done) : this.answer(done);
    },
    snapshots: (kernel, isMeasured) => {
      this.calls.push(['snapshots', kernel, isMeasured]);
      return this.answer(this.snapshots);
    },
    projectTexts: () => this.answer([]),
    allowProjectText: () => this.answer([]),
    context: () => this.answer(this.context),
    changeSummary: (id, words) => {
      this.calls.push(['changeSummary', id, words]);
      this.context = { ...this.context, words, summary: words };
      return this.answer(this.context);
    },
    models: () => this.answer(this.models),
    modelsOf: change => {
      this.calls.push(['modelsOf', change]);
      return this.answer(this.models);
    },
    providers: () => Promise.resolve(this.offers),
    tryService: change => {
      this.calls.push(['tryService', change]);
      return this.answer(this.checks);
    },
    variable: (_kernel, name) => this.answer(`${name}: 3 rows`)
  };

  get modes(): readonly Mode[] {
    return this.service?.modes ?? ['plan', 'ask'];
  }

  modeOf(chat: Chat): Mode {
    return chat.composer.chosenMode ?? 'ask';
  }
  show(chat: FakeChat): void {
    this.chat = chat;
    this.chatChanged.emit();
  }
  setPreferredMode(mode: Mode | null): void {
    this.calls.push(['setPreferredMode', mode]);
  }
  refreshService(): Promise<void> {
    return Promise.resolve();
  }
  changeService(change: ServiceChange): Promise<void> {
    this.calls.push(['changeService', change]);
    return this.answer(undefined);
  }
  refreshChats(query?: string): Promise<void> {
    this.calls.push(['refreshChats', query]);
    return Promise.resolve();
  }
  openChat(id: string): void {
    this.calls.push(['openChat', id]);
  }
  newChat(notebookPath?: string): void {
    this.calls.push(['newChat', notebookPath]);
  }
  renameChat(id: string, title: string): Promise<void> {
    this.calls.push(['renameChat', id, title]);
    return Promise.resolve();
  }
  deleteChat(id: string): Promise<void> {
    this.calls.push(['deleteChat', id]);
    return Promise.resolve();
  }
  branchChat(id: string, run: string): Promise<void> {
    this.calls.push(['branchChat', id, run]);
    return Promise.resolve();
  }
  variables(): Promise<readonly VariableSummary[]> {
    return this.answer(this.names);
  }
  suggestions(): Promise<readonly Suggestion[]> {
    return Promise.resolve(this.suggested);
  }
  setNotebook(current: CurrentNotebook | null): void {
    this.notebook = current;
    this.notebookChanged.emit(current);
  }
  insertMissing(cells: MissingCells): void {
    this.calls.push(['insertMissing', cells.run]);
  }
  discardMissing(cells: MissingCells): Promise<void> {
    this.calls.push(['discardMissing', cells.run]);
    return Promise.resolve();
  }
  reconnect(): void {
    this.calls.push(['reconnect']);
  }
  clearProblem(): void {
    this.problem = null;
    this.problemChanged.emit(null);
  }
  dispose(): void {
    this.isDisposed = true;
  }

  private listed(id: string): ListedChat {
    return {
      id,
      title: '',
      notebook_path: '',
      updated_at: 1,
      runs: 0,
      run: '',
      waits_for_answer: false,
      branched_from: '',
      prompt: this.prompt,
      prompt_adds: false,
      expires_at: 0,
      pins: this.pins,
      text_filters: this.textFilters,
      thumbs: this.thumbs,
      undone: this.undone
    };
  }

  private answer<T>(value: T): Promise<T> {
    return this.refusal === null ? Promise.resolve(value) : Promise.reject(this.refusal);
  }
}

/** An open notebook that only writes down what is asked of it. */
export class FakeNotebook implements NotebookView {
  readonly calls: Call[] = [];
  readonly changed = new Signal<this, void>(this);
  readonly closed = new Signal<this, void>(this);
  readonly edited = new Signal<this, void>(this);
  kernelId = 'kernel-1';
  editable = true;
  document: WireCell[] = [];
  undone: UndoResult = { changed: ['a', 'b'], kept: [] };

  cells(): readonly WireCell[] {
    return this.document;
  }
  highlight(cellId: string, isOn: boolean): void {
    this.calls.push(['highlight', cellId, isOn]);
  }
  reveal(cellId: string): void {
    this.calls.push(['reveal', cellId]);
  }
  /** Tells how far it is and waits; stopped or not, this comes of it. */
  restarted: RestartResult = { ran: 2, of: 2, problem: '' };
  restartAndRun(sources: readonly string[], watch: RestartWatch): Promise<RestartResult> {
    this.calls.push(['restartAndRun', ...sources]);
    watch.onProgress(1, sources.length);
    return new Promise(resolve => {
      const end = (): void => {
        resolve(watch.signal.aborted ? { ran: 1, of: 2, problem: '' } : this.restarted);
      };
      watch.signal.addEventListener('abort', end);
      this.goOn = end;
    });
  }
  goOn: () => void = () => undefined;
  undo(run: string, callId?: string): UndoResult {
    this.calls.push(['undo', run, callId]);
    return this.undone;
  }
  redo(run: string, callId?: string): UndoResult {
    this.calls.push(['redo', run, callId]);
    return this.undone;
  }
}

export class FakeNotebooks implements Notebooks {
  constructor(readonly open: Record<string, FakeNotebook> = {}) {}

  readonly currentChanged = new Signal<this, void>(this);
  readonly added = new Signal<this, void>(this);

  find(path: string): FakeNotebook | null {
    return this.open[path] ?? null;
  }
}
