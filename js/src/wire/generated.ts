// Made by `make wire` from the classes that the server has; do not edit.
/* eslint-disable */

export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | {
      [key: string]: Json;
    };
export type JsonObject = Record<string, Json>;
export interface Schema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null';
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly default?: unknown;
}
export type SchemaTypes = components['schemas'];
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description All that an assistant's file says. */
    readonly AssistantDetails: {
      readonly name: string;
      readonly description: string;
      readonly instructions: string;
      readonly model: string;
      readonly temperature: number | null;
      readonly effort: string;
      readonly parameters: JsonObject;
      /** @description Null: all. */
      readonly tools: readonly string[] | null;
      readonly adapter: string;
      /** @description Null: all. */
      readonly library: readonly string[] | null;
      readonly is_public: boolean;
      /** @description The file says that it answers where no other is chosen. */
      readonly is_default: boolean;
      readonly disable_memory: boolean;
      readonly memory_for_guests: boolean;
      readonly disable_default_prompt: boolean;
      readonly disable_web_browsing: boolean;
      readonly scenes: readonly components['schemas']['SceneDetails'][];
      /** @description ``notebook``, ``root`` or ``own``. */
      readonly place: string;
      /** @description As it is shown. */
      readonly file: string;
      /** @description Changes whenever the file does. */
      readonly version: string;
    };
    /** @description The assistants of a notebook, and what is wrong with the files of others. */
    readonly AssistantSummaries: {
      readonly assistants: readonly components['schemas']['AssistantSummary'][];
      readonly problems: readonly string[];
      /** @description The nearest first; none for guests. */
      readonly places: readonly components['schemas']['WritablePlace'][];
      readonly unusable: readonly components['schemas']['UnusableAssistant'][];
    };
    /** @description The attempts at a prompt. */
    readonly BranchList: {
      /** @enum {string} */
      readonly phase: '' | 'copying' | 'running' | 'over';
      readonly prompt: string;
      readonly branches: readonly components['schemas']['BranchSummary'][];
    };
    /** @description The files that were changed since a run, or one of its cells, began. */
    readonly ChangedFiles: {
      /** @description Those that can be, or were, put back. */
      readonly back: readonly components['schemas']['ChangedFile'][];
      /** @description Those that cannot be. */
      readonly stays: readonly components['schemas']['ChangedFile'][];
      readonly run_id: string;
      /** @description Of the run's cells, counted from 2 on; 0: the run. */
      readonly step: number;
    };
    /** @description What the next request begins with, before the question. */
    readonly ChatContext: {
      readonly parts: readonly components['schemas']['ContextPiece'][];
      /** @description About; estimated, then corrected by what the service counted last. */
      readonly tokens: number;
      /** @description At most so many are sent; less where the model's own window is small. */
      readonly limit: number;
      /** @description What stands for older turns; empty: all turns are still there. */
      readonly summary: string;
      /** @description The person's own words in it, which stay however long the chat gets. */
      readonly words: string;
      /** @description What so many tokens cost; null: the model's price is not known. */
      readonly dollars: number | null;
      /** @description The same, where the provider has them cached. */
      readonly cached_dollars: number | null;
    };
    /** @description The newest messages of a chat, oldest first. */
    readonly ChatMessages: {
      readonly chat: string;
      readonly messages: readonly components['schemas']['ChatMessage'][];
      /** @description Asked with ``before`` set to this, the messages that came earlier; empty: there are none. */
      readonly before: string;
      readonly waiting: readonly components['schemas']['WaitingMessage'][];
    };
    /** @description A chat in one line. */
    readonly ChatSummary: {
      readonly id: string;
      readonly title: string;
      readonly notebook_path: string;
      readonly updated_at: number;
      readonly runs: number;
      /** @description The one that goes on; empty: none. */
      readonly run: string;
      /** @description Whether that run waits for an approval or for input of a cell. */
      readonly waits_for_answer: boolean;
      readonly branched_from: string;
      /** @description Instructions of its own; empty: the assistant's count. */
      readonly prompt: string;
      readonly prompt_adds: boolean;
      readonly expires_at: number;
      /** @description Runs whose words stay in the context, in the order in which they were pinned. */
      readonly pins: readonly string[];
      /** @description Those that are on, in their order. */
      readonly text_filters: readonly string[];
      /** @description What a person thinks of the answers, by run. */
      readonly thumbs: {
        readonly [key: string]: components['schemas']['RunThumb'];
      };
      /** @description From which cell on runs were undone, counted from 1, by run; 0: all of the run. */
      readonly undone: {
        readonly [key: string]: number;
      };
    };
    /** @description Source of the cells that ran in the kernel before a place in a run, in order. */
    readonly EarlierCells: {
      readonly cells: readonly string[];
    };
    /** @description That cellwright is there. */
    readonly Health: {
      readonly version: string;
      /** @description False: cellwright is switched off here. */
      readonly enabled: boolean;
    };
    /** @description The states that a kernel can be taken back to. */
    readonly KernelSnapshots: {
      /** @description Oldest first. */
      readonly snapshots: readonly components['schemas']['Snapshot'][];
      /** @description Memory that they hold and the kernel does not use itself; null: it was not asked for. */
      readonly held_bytes: number | null;
    };
    /** @description The run that is part of the chat now. */
    readonly KeptBranch: {
      readonly run: string;
    };
    /** @description What was found, the best first. */
    readonly LibraryHits: {
      readonly hits: readonly components['schemas']['LibraryHit'][];
      readonly problem: string;
    };
    /** @description The documents, what is being read, and the libraries. */
    readonly LibraryState: {
      readonly documents: readonly components['schemas']['LibraryDocument'][];
      readonly indexing: components['schemas']['IndexingState'] | null;
      readonly libraries: readonly components['schemas']['LibrarySummary'][];
    };
    /** @description What is kept, and what is proposed. */
    readonly MemoryList: {
      readonly memories: readonly components['schemas']['KeptMemory'][];
      readonly proposals: readonly components['schemas']['Proposed'][];
      readonly is_on: boolean;
    };
    /** @description Cells of one run that a notebook lacks. */
    readonly MissingCells: {
      readonly run: string;
      readonly chat: string;
      readonly cells: readonly components['schemas']['AgentCell'][];
    };
    /** @description Names of models. */
    readonly Models: {
      readonly models: readonly string[];
    };
    /** @description What a model would be told of a variable. */
    readonly OneVariable: {
      readonly text: string;
    };
    /** @description What came of a call in the copy; nothing of it has happened. */
    readonly Preview: {
      readonly outputs: readonly components['schemas']['PreviewOutput'][];
      /**
       * @description ``files`` are those anywhere; in the kernel's folder by their relative path. One that ends
       *     with a slash is a folder: new, with other rights, or with what was in it deleted.
       */
      readonly execution: components['schemas']['Execution'];
      /** @description Host and port, or path, of what Python code tried to reach and did not. */
      readonly addresses: readonly string[];
      /** @description Why the result cannot be kept instead of running the call; empty: it can. */
      readonly obstacle: string;
    };
    /** @description What there is, and what cannot be read. */
    readonly ProjectTextRows: {
      readonly texts: readonly components['schemas']['ProjectTextRow'][];
      readonly problems: readonly string[];
    };
    /** @description The providers that may be chosen. */
    readonly ProviderList: {
      readonly providers: readonly components['schemas']['ProviderOffer'][];
      /** @description Whether any other address may be named. */
      readonly any_address: boolean;
      /** @description The model that the environment sets; empty: any may be chosen. */
      readonly set_model: string;
      /** @description Where a key that is given would be kept: ``keyring`` or ``file``. */
      readonly new_key_place: string;
    };
    /** @description All results of a folder on one page that can be handed on. */
    readonly LeaderboardPage: {
      readonly html: string;
    };
    /** @description The second of two results against the first. */
    readonly ResultComparison: {
      readonly difference: components['schemas']['Estimate'];
      readonly better: number;
      readonly worse: number;
      readonly equal: number;
      readonly p_value: number;
      readonly detectable: number;
      readonly shared: number;
      readonly only_first: number;
      readonly only_second: number;
      readonly rows: readonly components['schemas']['ComparedRow'][];
      readonly next: number | null;
    };
    /** @description The results below a folder. */
    readonly ResultListing: {
      readonly version: string;
      /** @description None: nothing changed. */
      readonly results: readonly components['schemas']['ResultPlace'][] | null;
      readonly is_cut: boolean;
    };
    /** @description What a result comes to. */
    readonly ResultNumbers: {
      readonly version: string;
      readonly agent: string;
      readonly suite: string;
      readonly models: readonly string[];
      readonly passed: number;
      readonly total: number;
      readonly share: components['schemas']['Estimate'];
      readonly points: components['schemas']['Estimate'];
      readonly by_check: {
        readonly [key: string]: components['schemas']['CheckNumbers'];
      };
      readonly by_status: {
        readonly [key: string]: number;
      };
      readonly by_group: {
        readonly [key: string]: components['schemas']['GroupNumbers'];
      };
      readonly check_errors: number;
      readonly failures: {
        readonly [key: string]: number;
      };
      readonly not_run: readonly components['schemas']['SampleNotRun'][];
      readonly epochs: number;
      readonly at_k: {
        readonly [key: string]: components['schemas']['Estimate'];
      };
      readonly variance: components['schemas']['Variance'] | null;
      readonly cost_dollars: number | null;
      readonly cost_each: components['schemas']['Estimate'] | null;
      readonly seconds: number;
      readonly seconds_each: components['schemas']['Estimate'] | null;
      readonly tokens: number;
      readonly retries: number;
      readonly unreadable: number;
    };
    /** @description Such a cell, and what became of it. */
    readonly RecordedRunCell: {
      readonly cell_id: string;
      readonly source: string;
      /** @enum {string} */
      readonly cell_type: 'code' | 'markdown' | 'raw';
      readonly after: string;
      readonly outputs: readonly JsonObject[];
      readonly execution_count: number | null;
      /** @description Empty: nothing is known. */
      readonly fate: ('saved' | 'deleted' | 'discarded') | '';
    };
    /** @description Some runs, newest first or sorted, and what they can be filtered by. */
    readonly RunPage: {
      readonly version: string;
      /** @description None: nothing changed. */
      readonly runs: readonly components['schemas']['RunRow'][] | null;
      /** @description Id of the last one, when there are more. */
      readonly after: string | null;
      readonly statuses: readonly string[];
      readonly models: readonly string[];
      readonly lanes: readonly string[];
    };
    /** @description A run as a sample, and the chat it was asked in. */
    readonly RunSample: {
      readonly id: string;
      readonly run_id: string;
      readonly suite: string;
      readonly task: components['schemas']['SampleTask'];
      readonly agent: string;
      readonly model: JsonObject;
      readonly input: string;
      readonly target: string;
      readonly files: {
        readonly [key: string]: string;
      };
      readonly setup: readonly string[];
      readonly tools: readonly JsonObject[];
      readonly messages: readonly JsonObject[];
      readonly cells: readonly components['schemas']['SampleCell'][];
      readonly written: readonly components['schemas']['WrittenCell'][];
      readonly events: readonly (
        | components['schemas']['ReplyGiven']
        | components['schemas']['ToolCalled']
        | components['schemas']['NoticeGiven']
      )[];
      readonly status: string;
      readonly cause: string;
      readonly error: string;
      readonly limit: string;
      readonly retries: number;
      readonly result: Json;
      readonly scores: readonly components['schemas']['Score'][];
      readonly usage: JsonObject;
      readonly cost_dollars: number | null;
      readonly time: components['schemas']['SampleTime'];
      readonly env: JsonObject;
      readonly notebook: JsonObject;
      readonly run: JsonObject;
      readonly schema: string;
      readonly chat: string;
    };
    /** @description Some samples of a result, and what they can be filtered by. */
    readonly SamplePage: {
      readonly version: string;
      readonly samples: readonly components['schemas']['SampleRow'][];
      /** @description Where the next page starts; None: there is none. */
      readonly next: number | null;
      readonly fitting: number;
      readonly total: number;
      readonly statuses: readonly string[];
      readonly groups: readonly string[];
    };
    /** @description One thing that was looked at. */
    readonly ServiceCheck: {
      readonly name: string;
      /** @enum {string} */
      readonly status: 'ok' | 'warn' | 'blocked';
      readonly text: string;
      readonly action: string;
      /** @description Name of the error that stands for it; empty: none does. */
      readonly code: string;
    };
    /** @description The model service that runs use, and what an administrator allows. */
    readonly ServiceState: {
      readonly model: string;
      readonly base_url: string;
      readonly has_key: boolean;
      readonly key_source: string;
      readonly is_demo: boolean;
      readonly notice: string;
      /** @enum {string} */
      readonly mode: 'plan' | 'ask' | 'edits' | 'auto';
      readonly modes: readonly ('plan' | 'ask' | 'edits' | 'auto')[];
      readonly models_allowed: readonly string[];
      readonly endpoints_locked: boolean;
      readonly recording: boolean;
      readonly warnings: readonly string[];
      /** @description What was chosen to be sent with each request. */
      readonly parameters: JsonObject;
    };
    /** @description A file that was stored, and where else it could go. */
    readonly TakenFile: {
      readonly file: string;
      readonly name: string;
      readonly size_bytes: number;
      readonly mime: string;
      /** @description Name of the library that it may be put into instead; empty: it is not asked about. */
      readonly library: string;
    };
    /** @description All of them. */
    readonly ToolList: {
      readonly tools: readonly components['schemas']['ListedTool'][];
      readonly sign_ins: readonly components['schemas']['ListedSignIn'][];
    };
    /** @description Usage in rows, and the budgets of this month. */
    readonly UsageTotals: {
      readonly rows: readonly components['schemas']['UsageLine'][];
      readonly budgets: readonly components['schemas']['Budget'][];
    };
    /** @description Which run's variables were taken back, or brought forth again. */
    readonly UndoneRun: {
      readonly run: string;
      readonly is_undone: boolean;
      /** @description From which of the run's cells on, counted from 1; 0: all of the run. */
      readonly step: number;
      /** @description When the state was taken that the kernel is in now; seconds since the epoch. */
      readonly taken_at: number;
      /** @description Those that ``POST kernels/{kernel_id}/files`` puts back, or forth, and those that stay. */
      readonly files: components['schemas']['ChangedFiles'];
    };
    /** @description A variable of the kernel in one line. */
    readonly VariableSummary: {
      readonly name: string;
      /** @description The type's name, such as ``DataFrame``. */
      readonly type: string;
      /** @description Shape, length or a short value, such as ``320 rows x 6 columns``. */
      readonly text: string;
    };
    /** @description What the next question takes along; nobody answers it on its own. */
    readonly WaitingMessage: {
      readonly id: string;
      readonly role: string;
      readonly text: string;
    };
    /** @enum {string} */
    readonly RunStatus:
      | 'running'
      | 'completed'
      | 'agent context limit'
      | 'agent validation failed'
      | 'agent invalid action'
      | 'task limit reached'
      | 'task error'
      | 'unknown'
      | 'cancelled';
    /** @enum {string} */
    readonly Mode: 'plan' | 'ask' | 'edits' | 'auto';
    readonly Part: components['schemas']['TextPart'] | components['schemas']['ImagePart'];
    readonly OutputMessage:
      | components['schemas']['StreamOutput']
      | components['schemas']['DisplayData']
      | components['schemas']['ExecuteResult']
      | components['schemas']['ErrorOutput']
      | components['schemas']['DisplayUpdate']
      | components['schemas']['ClearOutput'];
    readonly CellEvent:
      | components['schemas']['CellAdded']
      | components['schemas']['CellEdited']
      | components['schemas']['CellRemoved']
      | components['schemas']['CellMoved']
      | components['schemas']['CellStarted']
      | components['schemas']['CellOutput']
      | components['schemas']['CellFinished'];
    readonly RunEvent:
      | components['schemas']['RunStarted']
      | components['schemas']['StateCaptured']
      | components['schemas']['ModelAsked']
      | components['schemas']['TextDelta']
      | components['schemas']['ReasoningDelta']
      | components['schemas']['ModelRetrying']
      | components['schemas']['ModelSilent']
      | components['schemas']['ModelReplied']
      | components['schemas']['ToolStarted']
      | components['schemas']['ApprovalAsked']
      | components['schemas']['ApprovalAnswered']
      | components['schemas']['CellAdded']
      | components['schemas']['CellEdited']
      | components['schemas']['CellRemoved']
      | components['schemas']['CellMoved']
      | components['schemas']['CellStarted']
      | components['schemas']['CellOutput']
      | components['schemas']['CellFinished']
      | components['schemas']['ToolFinished']
      | components['schemas']['ToolProgress']
      | components['schemas']['Notice']
      | components['schemas']['HistoryCompacted']
      | components['schemas']['RunFinished'];
    readonly ServerFrame:
      | components['schemas']['Welcome']
      | components['schemas']['CaughtUp']
      | components['schemas']['ChatFrame']
      | components['schemas']['ChatDeleted']
      | components['schemas']['Accepted']
      | components['schemas']['PageRequest']
      | components['schemas']['ErrorFrame']
      | components['schemas']['Pong']
      | components['schemas']['EventsFrame'];
    /** @description ``ask`` was accepted: it runs, or waits in the queue. */
    readonly Accepted: {
      readonly request: string;
      readonly chat: string;
      readonly queued: boolean;
      /** @constant */
      readonly type: 'accepted';
    };
    /** @description A cell that an agent made or changed, as its run left it. */
    readonly AgentCell: {
      readonly cell_id: string;
      readonly source: string;
      /** @enum {string} */
      readonly cell_type: 'code' | 'markdown' | 'raw';
      /** @description Id of the cell that it follows; empty: at the end. */
      readonly after: string;
      readonly outputs: readonly JsonObject[];
      readonly execution_count: number | null;
    };
    /** @description Somebody or the mode decided. */
    readonly ApprovalAnswered: {
      readonly call_id: string;
      readonly allowed: boolean;
      /** @description ``person``, ``mode`` or ``batch``. */
      readonly by: string;
      readonly reason: string;
      /** @description Whoever decided had tried the call in a copy of the kernel before. */
      readonly previewed: boolean;
      /** @description They kept the result of that instead of letting the call run its code again. */
      readonly adopted: boolean;
      /** @constant */
      readonly kind: 'approval_answered';
    };
    /** @description The person has to allow a call before it runs. */
    readonly ApprovalAsked: {
      readonly call_id: string;
      readonly reason: string;
      /** @constant */
      readonly kind: 'approval_asked';
    };
    /** @description What the model said and which tools it asked for. */
    readonly AssistantMessage: {
      readonly text: string;
      readonly tool_calls: readonly components['schemas']['ToolCall'][];
      /** @description Thinking the provider shows; sent back where ``provider_items`` says so. */
      readonly reasoning: string;
      readonly refusal: string;
      /** @description Name of the assistant that said it; empty: none was chosen. */
      readonly author: string;
      /** @enum {string} */
      readonly origin: '' | 'user';
      readonly provider_items: components['schemas']['ProviderItems'] | null;
      /** @constant */
      readonly role: 'assistant';
    };
    /** @description An assistant that can be chosen. */
    readonly AssistantSummary: {
      readonly name: string;
      readonly description: string;
      readonly model: string;
      readonly scenes: readonly string[];
      readonly is_public: boolean;
      /** @description It answers here where no other is chosen. */
      readonly is_default: boolean;
      /** @description ``notebook``, ``root`` or ``own``. */
      readonly place: string;
    };
    /** @description What one of several attempts came to. */
    readonly AttemptSummary: {
      /** @description From 1, in the order in which they were begun. */
      readonly number: number;
      readonly run_id: string;
      readonly status: string;
      /** @description Its beginning. */
      readonly answer: string;
      /** @description What its checks found, by name; None: the check could not be made. */
      readonly scores: {
        readonly [key: string]: number | null;
      };
      /** @description Whether all checks passed; None: there were none. */
      readonly passed: boolean | null;
      /** @description How many attempts say the same, itself included; 0: that was not counted. */
      readonly votes: number;
      readonly cells: number;
      /** @description Cells that ended with one. */
      readonly errors: number;
      readonly tokens: number;
      readonly cost_dollars: number | null;
      readonly seconds: number;
    };
    /** @description Which of several attempts from the same state a run is. */
    readonly BranchMark: {
      /** @description The same for all of them. */
      readonly group: string;
      /** @description From 1. */
      readonly number: number;
      /** @description How many there were. */
      readonly count: number;
      /** @description What is special about it, such as its model; empty: nothing. */
      readonly label: string;
    };
    /** @description One attempt: how far it is, or what it came to. */
    readonly BranchSummary: {
      readonly number: number;
      /** @description What is special about it, such as its model; empty: nothing. */
      readonly label: string;
      readonly model: string;
      /**
       * @description Of its run; ``task error`` also where that could not begin.
       * @enum {string}
       */
      readonly status:
        | 'running'
        | 'completed'
        | 'agent context limit'
        | 'agent validation failed'
        | 'agent invalid action'
        | 'task limit reached'
        | 'task error'
        | 'unknown'
        | 'cancelled';
      /** @description What it does now. */
      readonly doing: string;
      /** @description Id of its run; empty: there is none yet. */
      readonly run: string;
      readonly answer: string;
      /** @description Why it has no answer. */
      readonly problem: string;
      /** @description Those that it made or changed. */
      readonly variables: readonly string[];
      readonly files: readonly string[];
      readonly cells: number;
      readonly seconds: number;
      readonly tokens: number;
      readonly cost_dollars: number | null;
      /** @description The last PNG that it drew, in base64, once all have ended; empty: none. */
      readonly picture: string;
    };
    /** @description What may be used in a month, and what was. */
    readonly Budget: {
      /** @description ``month_dollars`` or ``month_tokens``. */
      readonly name: string;
      readonly used: number;
      readonly month: string;
      readonly limit_dollars: number | null;
      readonly limit_tokens: number | null;
      /** @description Calls of the month that a limit in dollars does not see: their price is not known. */
      readonly unpriced_calls: number;
    };
    /** @description All that had been recorded before ``follow`` has been sent. */
    readonly CaughtUp: {
      readonly chat: string;
      /** @constant */
      readonly type: 'caught_up';
    };
    /** @description A cell comes into being. */
    readonly CellAdded: {
      readonly cell_id: string;
      readonly source: string;
      /** @enum {string} */
      readonly cell_type: 'code' | 'markdown' | 'raw';
      /** @description Id of the cell it follows; empty: at the end. */
      readonly after: string;
      readonly call_id: string;
      /** @description It is run and recorded, and no notebook shows it. */
      readonly is_scratch: boolean;
      /** @constant */
      readonly kind: 'cell_added';
    };
    /** @description A cell's source is replaced, or what it shows. */
    readonly CellEdited: {
      readonly cell_id: string;
      readonly source: string;
      readonly previous_hash: string;
      readonly call_id: string;
      /** @description What it shows from now on; None: what it did before. */
      readonly outputs:
        | readonly (
            | components['schemas']['StreamOutput']
            | components['schemas']['DisplayData']
            | components['schemas']['ExecuteResult']
            | components['schemas']['ErrorOutput']
          )[]
        | null;
      /** @description Stands beside ``outputs``. */
      readonly execution_count: number | null;
      /** @constant */
      readonly kind: 'cell_edited';
    };
    /** @description A cell ended. */
    readonly CellFinished: {
      readonly cell_id: string;
      readonly execution: components['schemas']['Execution'];
      /** @constant */
      readonly kind: 'cell_finished';
    };
    /** @description A cell goes to another place. */
    readonly CellMoved: {
      readonly cell_id: string;
      /** @description Id of the cell it follows now; empty: at the start. */
      readonly after: string;
      readonly call_id: string;
      /** @constant */
      readonly kind: 'cell_moved';
    };
    /** @description A running cell sent something (or an earlier one did, late). */
    readonly CellOutput: {
      readonly cell_id: string;
      readonly message:
        | components['schemas']['StreamOutput']
        | components['schemas']['DisplayData']
        | components['schemas']['ExecuteResult']
        | components['schemas']['ErrorOutput']
        | components['schemas']['DisplayUpdate']
        | components['schemas']['ClearOutput'];
      /** @constant */
      readonly kind: 'cell_output';
    };
    /** @description A cell is taken out. */
    readonly CellRemoved: {
      readonly cell_id: string;
      readonly previous_hash: string;
      readonly call_id: string;
      /** @constant */
      readonly kind: 'cell_removed';
    };
    /** @description A cell begins to run. */
    readonly CellStarted: {
      readonly cell_id: string;
      /** @constant */
      readonly kind: 'cell_started';
    };
    /** @description A file that was changed since a run, or one of its cells, began. */
    readonly ChangedFile: {
      /** @description From the kernel's folder on, where it lies below it. */
      readonly path: string;
      /** @description ``changed``, ``deleted`` or ``made``; empty: not known, because it cannot be put back. */
      readonly was: string;
      /** @description Why it cannot be put back; empty: it can, or nobody knows why not. */
      readonly why: string;
    };
    /** @description A chat is no more. */
    readonly ChatDeleted: {
      readonly chat: string;
      /** @constant */
      readonly type: 'chat_deleted';
    };
    /** @description What a chat is doing, whenever that changes. */
    readonly ChatFrame: {
      readonly state: components['schemas']['ChatState'];
      /** @constant */
      readonly type: 'chat';
    };
    /** @description One message of a chat, as a list of them shows it. */
    readonly ChatMessage: {
      readonly run: string;
      /** @description One of the eleven of docs/explanation/context.md. */
      readonly role: string;
      /** @description Whether its role is one that is not shown; such ones are left out unless ``debug`` is given. */
      readonly hidden: boolean;
      readonly text: string;
      readonly assistant: components['schemas']['MessageAuthor'] | null;
      readonly calls: readonly components['schemas']['MessageCall'][];
      /** @description Of a result: the tool it is of. */
      readonly tool: string;
      /** @description Of a result: the id of its call. */
      readonly call: string;
      readonly is_error: boolean;
    };
    /** @description What a chat is doing. */
    readonly ChatState: {
      readonly id: string;
      readonly title: string;
      /** @description Path of its notebook; empty: a chat of its own. */
      readonly notebook_path: string;
      readonly updated_at: number;
      /** @description Id of the run that is going on; empty: none. */
      readonly run: string;
      /** @enum {string} */
      readonly phase: 'idle' | 'starting' | 'model' | 'kernel_busy' | 'tool' | 'approval' | 'input';
      readonly queue: readonly components['schemas']['QueuedPrompt'][];
      /** @description The queue waits because the last run failed or was stopped. */
      readonly queue_paused: boolean;
      /** @description Tab that inserts the cells and answers; empty: none is connected. */
      readonly driver: string;
      /** @description Call that waits for the person; empty: none. */
      readonly approval: string;
      /** @description Why the result of its preview could not be kept; empty: that was not tried. */
      readonly approval_problem: string;
      readonly input: components['schemas']['InputAsked'] | null;
      /** @description Tokens of the last request. */
      readonly context_tokens: number;
      /** @description How many the model takes; 0: not known. */
      readonly context_limit: number;
      readonly superseded: readonly components['schemas']['SupersededRun'][];
      /**
       * @description Until one of them is kept or all are dropped, the chat answers no other prompt.
       * @enum {string}
       */
      readonly branches: '' | 'copying' | 'running' | 'over';
    };
    /** @description The mean value of one check. */
    readonly CheckNumbers: {
      readonly value: number;
      readonly low: number;
      readonly high: number;
      readonly method: string;
      readonly count: number;
      /** @description How often it passed, of ``count``. */
      readonly passed: number;
    };
    /** @description Which of several attempts was chosen, how and why. */
    readonly Choice: {
      readonly number: number;
      /** @enum {string} */
      readonly way: 'check' | 'judge' | 'vote';
      readonly reason: string;
      /** @description All of them, in order. */
      readonly attempts: readonly components['schemas']['AttemptSummary'][];
      /** @description The model that chose; empty: none did. */
      readonly judge: string;
      /** @description The run in which it was asked, where that is recorded. */
      readonly judge_run: string;
      readonly judge_usage: components['schemas']['Usage'];
      readonly judge_cost_dollars: number | null;
    };
    /** @description Everything shown so far goes: now, or when the next output comes (``wait``). */
    readonly ClearOutput: {
      readonly wait: boolean;
      /** @constant */
      readonly kind: 'clear_output';
    };
    /** @description A sample that both results have. */
    readonly ComparedRow: {
      readonly index: string;
      /** @enum {string} */
      readonly change: 'worse' | 'better' | 'same';
      readonly delta: number;
      readonly first: components['schemas']['ComparedSide'];
      readonly second: components['schemas']['ComparedSide'];
    };
    /** @description What one of two results did with a sample. */
    readonly ComparedSide: {
      readonly id: string;
      readonly value: number;
      readonly tries: number;
      readonly epoch: number;
      readonly status: string;
      readonly why: string;
    };
    /**
     * @description One typed piece of a tool's output.
     *
     *     ``content`` makes one from what a tool's author wrote and says what is wrong with it.
     */
    readonly Content: {
      /** @enum {string} */
      readonly type:
        | 'text'
        | 'code'
        | 'files'
        | 'urls'
        | 'oral_text'
        | 'references'
        | 'image'
        | 'chart'
        | 'audio'
        | 'json'
        | 'thought'
        | 'plan'
        | 'function_call'
        | 'progress'
        | 'browser';
      /** @description The fields of the type, such as ``info`` for text; see ``CONTENT_TYPES``. */
      readonly text: JsonObject;
      /** @description Tells apart what a tool streams at the same time. */
      readonly name: string;
      /**
       * @description ``llm``: only the model reads it. ``user``: it is drawn and never sent.
       * @enum {string}
       */
      readonly visible_scope: 'all' | 'llm' | 'user';
      readonly is_error: boolean;
      /** @description What the tool got from elsewhere; recorded, neither sent nor drawn. */
      readonly raw_data: JsonObject;
      /** @description Tokens that producing it took. */
      readonly usage: readonly components['schemas']['ModelUsage'][];
      readonly metrics: components['schemas']['Metrics'] | null;
    };
    /** @description One part of what the next request begins with. */
    readonly ContextPiece: {
      /** @description Such as ``instructions``, ``tools``, ``questions``, ``results``. */
      readonly name: string;
      readonly pieces: number;
      readonly tokens: number;
    };
    /** @description Something displayed: a MIME bundle. */
    readonly DisplayData: {
      readonly data: JsonObject;
      readonly metadata: JsonObject;
      readonly display_id: string;
      /** @constant */
      readonly kind: 'display_data';
    };
    /** @description New content for everything displayed under ``display_id``. */
    readonly DisplayUpdate: {
      readonly display_id: string;
      readonly data: JsonObject;
      readonly metadata: JsonObject;
      /** @constant */
      readonly kind: 'update_display_data';
    };
    /** @description Something that a tab asked for was not done. */
    readonly ErrorFrame: {
      /** @description A short name for programs, such as ``busy``, ``not_driver``, ``disabled``, ``setup``. */
      readonly code: string;
      readonly message: string;
      readonly hint: string;
      readonly request: string;
      readonly chat: string;
      /** @constant */
      readonly type: 'error';
    };
    /** @description An exception that ended a cell. */
    readonly ErrorOutput: {
      readonly ename: string;
      readonly evalue: string;
      readonly traceback: readonly string[];
      /** @constant */
      readonly kind: 'error';
    };
    /** @description A number with its interval at 95 %. */
    readonly Estimate: {
      readonly value: number;
      readonly low: number;
      readonly high: number;
      /** @description ``wilson``, ``clustered t`` or ``none``. */
      readonly method: string;
      readonly count: number;
    };
    /** @description Events of one run, in order: what ``events_frame`` writes. */
    readonly EventsFrame: {
      readonly chat: string;
      readonly run: string;
      /** @description Each is numbered; 0 stands for what is shown and not recorded. */
      readonly items: readonly components['schemas']['RecordedEvent'][];
      /** @constant */
      readonly type: 'events';
    };
    /** @description The value of a cell's last expression: a MIME bundle. */
    readonly ExecuteResult: {
      readonly data: JsonObject;
      readonly metadata: JsonObject;
      readonly execution_count: number | null;
      readonly display_id: string;
      /** @constant */
      readonly kind: 'execute_result';
    };
    /** @description How running one cell ended. */
    readonly Execution: {
      /** @enum {string} */
      readonly status: 'ok' | 'error' | 'interrupted' | 'timeout' | 'died' | 'aborted';
      readonly duration_seconds: number;
      /** @description Set when status is ``error``; taken from what the kernel showed, not from its reply. */
      readonly error: components['schemas']['ErrorOutput'] | null;
      readonly execution_count: number | null;
      /**
       * @description A compact text for the live object of the last expression, when there is a better one
       *     than its ``text/plain`` (a DataFrame, an array, a model).
       */
      readonly result_summary: string;
      /** @description Variables that are new or point to another object than before. */
      readonly changed: readonly components['schemas']['VariableSummary'][];
      readonly removed: readonly string[];
      readonly files: readonly components['schemas']['FileChange'][];
      readonly cwd: string;
      /** @description What else the model and the person should know, such as ``stopped after 120 s``. */
      readonly note: string;
      /** @description What each matplotlib figure it showed says, in words: title, axis labels, series. */
      readonly figures: readonly string[];
      /** @description What the kernel's processors worked meanwhile; None: it was not measured. */
      readonly cpu_seconds: number | null;
      /** @description Memory of the kernel after it; None: it was not measured. */
      readonly rss_bytes: number | null;
      /** @description How long it waited for the user to type; no part of ``duration_seconds``. */
      readonly waited_seconds: number;
    };
    /** @description A file in the kernel's folder that a cell made, changed or removed. */
    readonly FileChange: {
      /** @description Relative to the kernel's folder. */
      readonly path: string;
      /** @enum {string} */
      readonly change: 'created' | 'modified' | 'deleted';
      readonly size_bytes: number;
    };
    /** @description A value that a service wants of the user. */
    readonly FormField: {
      readonly name: string;
      readonly title: string;
      /** @enum {string} */
      readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'choices';
      readonly description: string;
      /** @description What a text has to be, such as ``email``; empty: anything. */
      readonly format: string;
      readonly required: boolean;
      readonly options: readonly components['schemas']['FormOption'][];
      /** @description What stands in it at first: one text, or those that are chosen. */
      readonly given: readonly string[];
    };
    /** @description A value of a field that may be chosen. */
    readonly FormOption: {
      readonly value: string;
      readonly title: string;
    };
    /** @description What a service asks the user while it works: values, or to open an address. */
    readonly FormRequest: {
      readonly server: string;
      readonly message: string;
      readonly fields: readonly components['schemas']['FormField'][];
      /** @description To be opened by the user; empty: values are wanted. */
      readonly url: string;
      /** @description Why the answer before was not taken. */
      readonly problem: string;
    };
    /** @description What a group of samples comes to. */
    readonly GroupNumbers: {
      readonly value: number;
      readonly passed: number;
      readonly total: number;
      readonly low: number;
      readonly high: number;
    };
    /** @description The conversation was made shorter between two of its answers. */
    readonly HistoryCompacted: {
      /** @constant */
      readonly kind: 'history_compacted';
      /** @description Of the last request. */
      readonly tokens_before: number;
      /** @description About what is left of them. */
      readonly tokens_after: number;
    };
    /** @description A picture for a model that sees. */
    readonly ImagePart: {
      /** @description Such as ``image/png``. */
      readonly mime: string;
      /** @description Base64, without line breaks. */
      readonly data: string;
      /** @description What a model that does not see is told instead. */
      readonly caption: string;
      /** @constant */
      readonly kind: 'image';
    };
    /** @description How far reading is. */
    readonly IndexingState: {
      readonly done: number;
      readonly total: number;
      readonly name: string;
    };
    /** @description What a running cell's ``input()`` asks, or a service that works. */
    readonly InputAsked: {
      readonly request: string;
      readonly prompt: string;
      readonly password: boolean;
      /** @description What a service wants; null: a line of text is. */
      readonly form: components['schemas']['FormRequest'] | null;
    };
    /** @description One fact or wish that is kept. */
    readonly KeptMemory: {
      readonly id: string;
      readonly text: string;
      /** @enum {string} */
      readonly scope: 'user' | 'project';
      readonly created_at: number;
      readonly updated_at: number;
      readonly source_run: string;
      /** @description Name of the folder it is kept for; empty: it counts everywhere. */
      readonly folder: string;
    };
    /** @description A document of the library. */
    readonly LibraryDocument: {
      readonly id: string;
      readonly name: string;
      readonly place: string;
      readonly kind: string;
      readonly chunks: number;
      readonly is_embedded: boolean;
      readonly indexed_at: number;
      readonly problem: string;
      /** @description Id of the library that it is in. */
      readonly library: string;
    };
    /** @description A piece that was found. */
    readonly LibraryHit: {
      readonly number: number;
      readonly document_id: string;
      readonly name: string;
      readonly place: string;
      readonly heading: string;
      readonly text: string;
      readonly score: number;
      /** @description Where in the document, such as ``line 12``, ``page 4``; empty: its start. */
      readonly anchor: string;
    };
    /** @description A library of the server's folder, or of a project above or below it. */
    readonly LibrarySummary: {
      readonly id: string;
      readonly name: string;
      /** @description The project's folder. */
      readonly place: string;
      readonly is_default: boolean;
      readonly documents: number;
    };
    /** @description An MCP server that the person has signed in to, or has to. */
    readonly ListedSignIn: {
      readonly name: string;
      readonly host: string;
      /**
       * @description ``offered``: it was not asked from here yet, and may want it.
       * @enum {string}
       */
      readonly state: 'offered' | 'wanted' | 'waiting' | 'done';
      /** @description The address of the sign-in page that they are waited for from. */
      readonly page: string;
      /** @description Why the last try failed. */
      readonly problem: string;
    };
    /** @description A tool beside the standard ones. */
    readonly ListedTool: {
      readonly name: string;
      /** @description ``python``, ``mcp``, ``http`` or ``openapi``. */
      readonly kind: string;
      readonly source: string;
      readonly description: string;
      readonly enabled: boolean;
      /** @description Why it cannot be called; empty: it can. */
      readonly problem: string;
    };
    /** @description The assistant that said something. */
    readonly MessageAuthor: {
      readonly id: string;
      readonly name: string;
    };
    /** @description A tool that the model called. */
    readonly MessageCall: {
      readonly id: string;
      readonly name: string;
      /** @description As the model wrote them; null unless ``debug`` is given. */
      readonly arguments: string | null;
    };
    /** @description What producing something took. */
    readonly Metrics: {
      /** @description Seconds since the epoch. */
      readonly begin: number;
      readonly end: number;
      /** @description By a clock that nobody sets. */
      readonly duration_seconds: number;
      readonly first_output_seconds: number | null;
      readonly memory_delta_megabytes: number | null;
      readonly kernel_cpu_seconds: number | null;
    };
    /** @description A request is about to go out; carries only what the history grew by. */
    readonly ModelAsked: {
      /** @constant */
      readonly kind: 'model_asked';
      readonly step: number;
    };
    /** @description A whole reply is there. */
    readonly ModelReplied: {
      readonly message: components['schemas']['AssistantMessage'];
      readonly finish_reason: string;
      readonly usage: components['schemas']['Usage'];
      readonly model: string;
      readonly duration_seconds: number;
      readonly first_delta_seconds: number | null;
      readonly attempts: number;
      readonly cost_dollars: number | null;
      readonly truncated: boolean;
      readonly dropped_parameters: readonly string[];
      /** @constant */
      readonly kind: 'model_replied';
    };
    /** @description A request failed and is sent again after a wait; deltas shown so far are void. */
    readonly ModelRetrying: {
      readonly attempt: number;
      readonly delay_seconds: number;
      readonly reason: string;
      /** @constant */
      readonly kind: 'model_retrying';
    };
    /** @description No data came for a while; display only, not recorded. */
    readonly ModelSilent: {
      readonly seconds: number;
      /** @constant */
      readonly kind: 'model_silent';
    };
    /** @description Tokens that one model took. */
    readonly ModelUsage: {
      readonly model: string;
      readonly usage: components['schemas']['Usage'];
    };
    /** @description A cell that a call names, as it was when the person was asked about the call. */
    readonly NamedCell: {
      readonly cell_id: string;
      /** @enum {string} */
      readonly cell_type: 'code' | 'markdown' | 'raw';
      readonly source: string;
      /** @description From 1. */
      readonly position: number;
      readonly execution_count: number | null;
    };
    /** @description Something the person should know; ``action`` says what to do. */
    readonly Notice: {
      /** @enum {string} */
      readonly level: 'info' | 'warning' | 'error';
      readonly text: string;
      readonly action: string;
      /** @description A short name for programs, such as ``context_truncated``. */
      readonly code: string;
      /** @description What it is about, such as the sources that stand beside a question. */
      readonly contents: readonly components['schemas']['Content'][];
      readonly usage: readonly components['schemas']['ModelUsage'][];
      /** @constant */
      readonly kind: 'notice';
    };
    /** @description Something the person was told. */
    readonly NoticeGiven: {
      readonly text: string;
      /** @constant */
      readonly kind: 'notice';
    };
    /**
     * @description The server wants something of the tab that drives: the notebook's cells, or to know that a
     *     cell is there with this source before it runs.
     */
    readonly PageRequest: {
      readonly request: string;
      readonly chat: string;
      readonly notebook: string;
      /** @enum {string} */
      readonly operation: 'cells' | 'confirm';
      readonly cell_id: string;
      /** @description ``record.outputs.source_hash`` that the cell must have. */
      readonly source_hash: string;
      /** @description Id of the kernel message that will run it, for widgets that capture output. */
      readonly message_id: string;
      /** @constant */
      readonly type: 'request';
    };
    /** @description Which model answers, and how. */
    readonly Parameters: {
      readonly model: string;
      /** @description None: the provider's default. */
      readonly temperature: number | null;
      readonly max_output_tokens: number | null;
      /** @description Sent as they are, such as ``reasoning_effort``. */
      readonly extra: JsonObject;
    };
    /** @description Somebody is there. */
    readonly Pong: {
      readonly at: number;
      /** @constant */
      readonly type: 'pong';
    };
    /** @description Something that the code shows: text, or a picture. */
    readonly PreviewOutput: {
      readonly text: string;
      /** @description A PNG in base64; empty: it is text. */
      readonly picture: string;
    };
    /** @description A file of instructions, or a skill, as a model would be given it. */
    readonly ProjectTextRow: {
      /** @description Of this version of it: once the file changes it has another. */
      readonly id: string;
      /** @description ``asked``, ``used`` or ``refused``. */
      readonly state: string;
      /** @description ``instructions`` or ``skill``. */
      readonly type: string;
      readonly name: string;
      readonly path: string;
      readonly size_bytes: number;
      /** @description Of a skill: what it is for, and which other files it has. */
      readonly about: string;
      readonly text: string;
      /** @description ``project``, ``own`` (cellwright's folder) or ``home``. */
      readonly place: string;
    };
    /** @description A change that waits for the person's word. */
    readonly Proposed: {
      readonly id: string;
      /** @enum {string} */
      readonly action: 'add' | 'update' | 'delete';
      readonly text: string;
      /** @enum {string} */
      readonly scope: 'user' | 'project';
      readonly memory_id: string;
      readonly reason: string;
      readonly source_run: string;
      readonly created_at: number;
    };
    /**
     * @description What a provider sent with a reply and wants back as it was; no other one is sent it.
     *
     *     ``llm.provider_items`` makes them and puts them into requests.
     */
    readonly ProviderItems: {
      /** @description Host and port. */
      readonly service: string;
      /** @description ``chat``, ``responses``, ``messages`` or ``gemini``. */
      readonly api: string;
      /** @description As it was asked for. */
      readonly model: string;
      readonly items: readonly JsonObject[];
    };
    /** @description A provider that the person may choose here. */
    readonly ProviderOffer: {
      readonly name: string;
      /** @description Empty: the person has to name it. */
      readonly base_url: string;
      /** @description What its address looks like. */
      readonly example: string;
      /** @description The usual one; empty: there is none. */
      readonly model: string;
      readonly needs_key: boolean;
      readonly has_key: boolean;
      /** @description The environment has its key, so that no other can be given here. */
      readonly is_key_set: boolean;
      /** @description On which it listens where it is a program of one's own; 0: it is none. */
      readonly port: number;
      /** @description Those of a server that runs on this machine; null: none was found. */
      readonly models: readonly string[] | null;
      /** @description Its requests are signed with credentials that were found here, so it needs no key. */
      readonly has_credentials: boolean;
    };
    /** @description A prompt that waits its turn. */
    readonly QueuedPrompt: {
      readonly id: string;
      readonly prompt: string;
    };
    /** @description More of the thinking a provider shows. */
    readonly ReasoningDelta: {
      readonly text: string;
      /** @constant */
      readonly kind: 'reasoning_delta';
    };
    /** @description An event with what the store adds to it. */
    readonly RecordedEvent: {
      /** @description 1, 2, 3 … within the run; 0 for what is shown but not recorded. */
      readonly sequence: number;
      /** @description Seconds since the epoch, UTC. */
      readonly time: number;
      readonly event:
        | components['schemas']['RunStarted']
        | components['schemas']['StateCaptured']
        | components['schemas']['ModelAsked']
        | components['schemas']['TextDelta']
        | components['schemas']['ReasoningDelta']
        | components['schemas']['ModelRetrying']
        | components['schemas']['ModelSilent']
        | components['schemas']['ModelReplied']
        | components['schemas']['ToolStarted']
        | components['schemas']['ApprovalAsked']
        | components['schemas']['ApprovalAnswered']
        | components['schemas']['CellAdded']
        | components['schemas']['CellEdited']
        | components['schemas']['CellRemoved']
        | components['schemas']['CellMoved']
        | components['schemas']['CellStarted']
        | components['schemas']['CellOutput']
        | components['schemas']['CellFinished']
        | components['schemas']['ToolFinished']
        | components['schemas']['ToolProgress']
        | components['schemas']['Notice']
        | components['schemas']['HistoryCompacted']
        | components['schemas']['RunFinished'];
    };
    /** @description The model replied; what it said is in ``messages``. */
    readonly ReplyGiven: {
      /** @description When it was whole, in seconds since the run began. */
      readonly at: number;
      /** @description Its place in ``messages``; None: it was not kept there. */
      readonly message: number | null;
      readonly number: number;
      /** @description As the service named it; empty: as it was asked for. */
      readonly model: string;
      readonly finish_reason: string;
      /** @description Numbers that are not zero. */
      readonly usage: JsonObject;
      readonly cost_dollars: number | null;
      readonly seconds: number;
      readonly first_delta_seconds: number | null;
      readonly attempts: number;
      /** @constant */
      readonly kind: 'reply';
    };
    /** @description The results of one agent at one task. */
    readonly ResultPlace: {
      /** @description Below the root, with slashes. */
      readonly path: string;
      /** @description The folder's name, which may differ a little from the agent's own. */
      readonly agent: string;
      readonly suite: string;
      readonly size_bytes: number;
      /** @description When something was written last, in seconds since the epoch. */
      readonly modified_at: number;
      /** @enum {string} */
      readonly state: 'done' | 'going' | 'unfinished';
      /** @description Another one when anything of it changed. */
      readonly version: string;
    };
    /** @description The run is over. */
    readonly RunFinished: {
      /** @enum {string} */
      readonly status:
        | 'running'
        | 'completed'
        | 'agent context limit'
        | 'agent validation failed'
        | 'agent invalid action'
        | 'task limit reached'
        | 'task error'
        | 'unknown'
        | 'cancelled';
      readonly answer: string;
      /** @description Why, in plain words; empty for a plain ``completed``. */
      readonly reason: string;
      /** @description A short name for programs: ``step_limit``, ``stopped``, ``kernel_died``, ``refused`` … */
      readonly cause: string;
      readonly usage: components['schemas']['Usage'];
      readonly cost_dollars: number | null;
      readonly duration_seconds: number;
      /** @constant */
      readonly kind: 'run_finished';
    };
    /** @description A recorded run in one line. */
    readonly RunRow: {
      readonly id: string;
      readonly chat: string;
      readonly status: string;
      readonly cause: string;
      readonly reason: string;
      readonly prompt: string;
      readonly model: string;
      readonly lane: string;
      readonly started_at: number;
      readonly seconds: number;
      readonly tokens: number;
      readonly is_estimated: boolean;
      readonly cost_dollars: number | null;
    };
    /** @description A run begins; written before the first request. */
    readonly RunStarted: {
      readonly prompt: string;
      /**
       * @description Where the loop and the code run: ``magic``, ``panel``, ``cli``, ``replay``, ``bench``, or in
       *     a copy of the live kernel: ``branch``; ``judge`` runs none and chooses one of those.
       */
      readonly lane: string;
      /** @description ``plan``, ``ask``, ``edits`` or ``auto``. */
      readonly mode: string;
      readonly parameters: components['schemas']['Parameters'];
      /** @description Host and path of the service; never a key. */
      readonly base_url: string;
      readonly files: readonly string[];
      readonly limits: JsonObject;
      /** @description The run this one replays or runs again. */
      readonly source_run: string;
      /** @description The run whose conversation goes on here. */
      readonly continues: string;
      /** @description How many messages had been said before this run's own question. */
      readonly earlier_messages: number;
      /** @description cellwright's version. */
      readonly version: string;
      /** @description Name of the assistant that was chosen; empty: none was. */
      readonly assistant: string;
      /** @description What the person calls ``files``, in their order; empty: as they are named there. */
      readonly file_names: readonly string[];
      /** @description How the model is talked with at first, such as ``native``; empty: an older record. */
      readonly adapter: string;
      /** @description What the person set for tools, by name. */
      readonly given: {
        readonly [key: string]: string;
      };
      /** @description What is done to the person's words before they are sent, by name; None: all there is. */
      readonly text_filters: readonly string[] | null;
      /** @description What waited for the question and is shown with it; the messages have all of it. */
      readonly notes: readonly string[];
      /** @description None: there was one attempt alone. */
      readonly branch: components['schemas']['BranchMark'] | null;
      /** @constant */
      readonly kind: 'run_started';
    };
    /** @description Whether a person finds an answer good. */
    readonly RunThumb: {
      readonly is_up: boolean;
      readonly comment: string;
    };
    /** @description One time a cell ran. */
    readonly SampleCell: {
      readonly id: string;
      /** @description ``agent``, ``user``, ``setup``, ``check`` or ``human-edit``. */
      readonly origin: string;
      readonly source: string;
      /** @description ``ok``, ``error``, ``timeout`` …; empty: it had not ended. */
      readonly status: string;
      readonly execution_count: number | null;
      /** @description As nbformat has them. */
      readonly outputs: readonly JsonObject[];
      readonly error: string;
      readonly seconds: number;
      /** @description Names of variables that are new or another object. */
      readonly changed: readonly string[];
      readonly removed: readonly string[];
      /** @description Whether the cell is in the notebook in the end. */
      readonly is_kept: boolean;
      /** @description Files it made, changed or removed: ``created``, ``modified`` or ``deleted``. */
      readonly files: {
        readonly [key: string]: string;
      };
      /** @description What else is to be known, such as ``stopped after 120 s``. */
      readonly note: string;
      /** @description The tool call that ran it. */
      readonly call_id: string;
      /** @description When it began, in seconds since the run did. */
      readonly at: number;
      /** @description None: it was not measured. */
      readonly cpu_seconds: number | null;
      /** @description Memory of the kernel after it; None: it was not measured. */
      readonly rss_bytes: number | null;
    };
    /** @description A sample that could not be run. */
    readonly SampleNotRun: {
      readonly index: string;
      readonly epoch: number;
      readonly error: string;
      readonly info: string;
    };
    /** @description A sample in one line. */
    readonly SampleRow: {
      readonly id: string;
      readonly index: string;
      readonly epoch: number;
      readonly group: string;
      readonly family: string;
      readonly status: string;
      readonly passed: boolean;
      readonly is_scored: boolean;
      readonly why: string;
      readonly input: string;
      readonly cost_dollars: number | null;
      readonly seconds: number;
      readonly tokens: number;
      readonly retries: number;
    };
    /** @description Which sample of which task this was. */
    readonly SampleTask: {
      readonly name: string;
      readonly index: number | string;
      /** @description What several samples that share one kernel belong to. */
      readonly session: string;
      /** @description Its place in that session. */
      readonly step: number;
      /** @description 1 for the first time the sample was run. */
      readonly epoch: number;
      /** @description What results are split by. */
      readonly group: string;
      /** @description Samples of one family vary together: intervals are clustered by it. */
      readonly family: string;
      /** @description What its author says of it. */
      readonly metadata: JsonObject;
      /** @description Which of several attempts at it this is, from 1; 0: there was one alone. */
      readonly attempt: number;
    };
    /** @description When, and how long. */
    readonly SampleTime: {
      /** @description Seconds since the epoch, UTC. */
      readonly started_at: number;
      readonly seconds: number;
    };
    /** @description A scene of an assistant. */
    readonly SceneDetails: {
      readonly label: string;
      readonly prompt: string;
      /** @description When it is chosen; null: its label says it. */
      readonly when: JsonObject | null;
    };
    /** @description What one check found, or what a person thinks of a run. */
    readonly Score: {
      readonly name: string;
      /** @description From 0 to 1; None: the check itself failed, so nothing is known. */
      readonly value: number | null;
      readonly passed: boolean;
      readonly explanation: string;
      /** @description Why the check could not be made. */
      readonly error: string;
      /** @description What it counts. */
      readonly points: number;
      /** @description What should be, in a few words or as code. */
      readonly expected: string;
      /** @description What was there instead, where the explanation does not say it. */
      readonly found: string;
      /** @description The cell that makes the check again (``exports.grading``); empty: nobody can. */
      readonly code: string;
      /** @description Of what the run was chosen; only the score ``chosen`` has it. */
      readonly choice: components['schemas']['Choice'] | null;
    };
    /** @description A state of the kernel that can be gone back to. */
    readonly Snapshot: {
      readonly snapshot_id: string;
      /** @description The prompt of the run that came next. */
      readonly label: string;
      readonly run_id: string;
      /** @description Which of the run's cells came next, from 2 on; 0: the run had not begun. */
      readonly step: number;
      /** @description It was the present when somebody went back, so going to it is a redo. */
      readonly is_later: boolean;
      /** @description Seconds since the epoch. */
      readonly taken_at: number;
      /**
       * @description Runs that stand otherwise once the state is gone to: from which cell on each is undone then,
       *     counted from 1; 0: all of it, null: none of it.
       */
      readonly changes: {
        readonly [key: string]: number | null;
      };
    };
    /** @description The state the run starts from: enough to start again from the same place. */
    readonly StateCaptured: {
      /** @constant */
      readonly kind: 'state_captured';
    };
    /** @description Text on stdout or stderr. */
    readonly StreamOutput: {
      readonly name: string;
      readonly text: string;
      /** @constant */
      readonly kind: 'stream';
    };
    /** @description A run that another one took the place of: kept, and the model is not told of it. */
    readonly SupersededRun: {
      readonly run: string;
      readonly by: string;
    };
    /** @description More text of the reply. */
    readonly TextDelta: {
      readonly text: string;
      /** @constant */
      readonly kind: 'text_delta';
    };
    /** @description Plain text. */
    readonly TextPart: {
      readonly text: string;
      /** @constant */
      readonly kind: 'text';
    };
    /** @description One call the model asks for. */
    readonly ToolCall: {
      readonly id: string;
      readonly name: string;
      /** @description The JSON text as the model wrote it; it may be broken. */
      readonly arguments: string;
    };
    /** @description A tool was called; its arguments and its result are in ``messages``, by the call's id. */
    readonly ToolCalled: {
      /** @description When it was looked at, in seconds since the run began. */
      readonly at: number;
      readonly call_id: string;
      readonly name: string;
      readonly status: string;
      /** @description Who allowed or refused it, and why. */
      readonly decision: string;
      readonly seconds: number;
      /** @description Where they are not what the message says. */
      readonly arguments: JsonObject | null;
      /** @description Tokens of models that the tool itself asked. */
      readonly usage: readonly components['schemas']['ModelUsage'][];
      /** @description What it said to the person, as typed pieces. */
      readonly contents: readonly components['schemas']['Content'][];
      /** @constant */
      readonly kind: 'tool';
    };
    /** @description The one result of a call, as the model will read it. */
    readonly ToolFinished: {
      readonly call_id: string;
      readonly name: string;
      readonly message: components['schemas']['ToolMessage'];
      /** @enum {string} */
      readonly status: 'ok' | 'error' | 'refused' | 'cancelled';
      readonly duration_seconds: number;
      /** @description What is for the person and not for the model, as plain text. */
      readonly shown: string;
      /** @description What is for the person as typed pieces; empty where ``shown`` says all there is. */
      readonly contents: readonly components['schemas']['Content'][];
      readonly metrics: components['schemas']['Metrics'] | null;
      /** @description Tokens of models that the tool itself asked. */
      readonly usage: readonly components['schemas']['ModelUsage'][];
      /** @constant */
      readonly kind: 'tool_finished';
    };
    /** @description The one answer to one tool call. */
    readonly ToolMessage: {
      readonly call_id: string;
      readonly name: string;
      readonly parts: readonly (
        components['schemas']['TextPart'] | components['schemas']['ImagePart']
      )[];
      readonly is_error: boolean;
      /**
       * @description ``user``: a person refused the call, and these are their words.
       * @enum {string}
       */
      readonly origin: '' | 'user';
      /** @constant */
      readonly role: 'tool';
    };
    /** @description A tool that takes long says how far it is; neither an answer nor sent to the model. */
    readonly ToolProgress: {
      readonly call_id: string;
      readonly text: string;
      /** @description From 0 to 1, where it is known. */
      readonly fraction: number | null;
      /** @constant */
      readonly kind: 'tool_progress';
    };
    /** @description A call the model asked for is looked at; it may still be refused. */
    readonly ToolStarted: {
      readonly call_id: string;
      readonly name: string;
      readonly arguments: JsonObject;
      /** @description What it does, in words for people. */
      readonly label: string;
      readonly risk: string;
      /** @description Those it changes, deletes or puts something behind; only where the person is asked. */
      readonly cells: readonly components['schemas']['NamedCell'][];
      /** @constant */
      readonly kind: 'tool_started';
    };
    /** @description An assistant that does not answer, because its file cannot be read. */
    readonly UnusableAssistant: {
      readonly name: string;
      /** @description What asking it is answered with. */
      readonly problem: string;
      /** @description As it is shown; empty for guests. */
      readonly file: string;
    };
    /** @description Tokens of one reply, or of many added up. */
    readonly Usage: {
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
      /** @description The part of ``prompt_tokens`` the provider had in its cache. */
      readonly cached_tokens: number;
      readonly cache_write_tokens: number;
      /** @description The part of ``completion_tokens`` that was thinking. */
      readonly reasoning_tokens: number;
      /** @description True where the service sent no usage; shown with a ``~``. */
      readonly estimated: boolean;
    };
    /** @description What one month, model, assistant, chat or run took. */
    readonly UsageLine: {
      readonly key: string;
      readonly label: string;
      readonly runs: number;
      readonly calls: number;
      readonly input_tokens: number;
      readonly cached_tokens: number;
      readonly output_tokens: number;
      /** @description None: no price of it is known. */
      readonly cost_dollars: number | null;
    };
    /** @description Why scores differ: between samples, and when one sample runs again. */
    readonly Variance: {
      readonly between: number;
      readonly within: number;
      /** @description The standard error of the mean that comes from running again alone: the samples stay. */
      readonly rerun_error: number;
    };
    /** @description The answer to ``hello``. */
    readonly Welcome: {
      readonly protocol: number;
      readonly version: string;
      /** @description Changes with every start of the server. */
      readonly server: string;
      /** @constant */
      readonly type: 'welcome';
    };
    /** @description A place where an assistant's file can be made. */
    readonly WritablePlace: {
      /** @description ``notebook``, ``root`` or ``own``. */
      readonly place: string;
      /** @description As it is shown. */
      readonly folder: string;
    };
    /** @description A cell that was written and never ran. */
    readonly WrittenCell: {
      readonly id: string;
      readonly cell_type: string;
      readonly source: string;
      readonly origin: string;
      readonly call_id: string;
      readonly is_kept: boolean;
    };
    readonly ClientFrame:
      | components['schemas']['Hello']
      | components['schemas']['Follow']
      | components['schemas']['Unfollow']
      | components['schemas']['Ask']
      | components['schemas']['StopFrame']
      | components['schemas']['AnswerFrame']
      | components['schemas']['Input']
      | components['schemas']['Queue']
      | components['schemas']['Extend']
      | components['schemas']['Compact']
      | components['schemas']['Drive']
      | components['schemas']['Attach']
      | components['schemas']['Detach']
      | components['schemas']['Changed']
      | components['schemas']['ReplyFrame']
      | components['schemas']['Ping'];
    /** @description A prompt to be tried in several ways, as a page asks it. */
    readonly BranchesBeginning: {
      readonly prompt?: string;
      /** @description ``Attach.notebook`` of the notebook whose kernel is copied: open in the page that asks. */
      readonly notebook?: string;
      /** @enum {string} */
      readonly mode?: 'plan' | 'ask' | 'edits' | 'auto';
      readonly model?: string;
      readonly assistant?: string;
      /** @description What stood beside it, as in the frame ``ask``. */
      readonly context?: readonly JsonObject[];
      /** @description How many; 0: one for each of ``models``, else three. */
      readonly count?: number;
      readonly models?: readonly string[];
    };
    /** @description What became of cells, by their ids. */
    readonly CellFates: {
      readonly fates?: {
        readonly [key: string]: 'saved' | 'deleted' | 'discarded';
      };
    };
    /** @description Where a branch of a chat begins. */
    readonly ChatBranching: {
      readonly run?: string;
    };
    /** @description What is to change of a chat. */
    readonly ChatChange: {
      readonly title?: string;
      readonly notebook_path?: string;
      readonly prompt?: string;
      readonly prompt_adds?: boolean;
      readonly expires_at?: number;
      readonly text_filters?: readonly string[];
    };
    /** @description A message that is to wait. */
    readonly NewMessage: {
      readonly text?: string;
      readonly role?: string;
    };
    /** @description Whether models may read one of them. */
    readonly ProjectConsent: {
      readonly id?: string;
      readonly is_allowed?: boolean;
    };
    /** @description How a service is tried, before it is chosen. */
    readonly ServiceTest: {
      readonly model?: string;
      readonly base_url?: string;
      readonly api_key?: string;
      readonly parameters?: JsonObject;
      readonly send?: boolean;
    };
    /** @description What a month may cost; 0: as much as it will. What is missing stays. */
    readonly WantedBudgets: {
      readonly month_dollars?: number;
      readonly month_tokens?: number;
    };
    /** @description Another model, endpoint or key, or other parameters; what is missing stays. */
    readonly WantedService: {
      readonly model?: string;
      readonly base_url?: string;
      readonly api_key?: string;
      readonly parameters?: JsonObject;
    };
    /** @description The person's own words in the summary, as they are to be. */
    readonly WantedSummary: {
      readonly words?: string;
    };
    /** @description What the person says of a call that waits for them. */
    readonly AnswerFrame: {
      readonly chat: string;
      readonly call_id: string;
      readonly allowed: boolean;
      readonly reason?: string;
      readonly for_session?: boolean;
      /** @description The result of the call's preview takes the place of running it, where it can. */
      readonly adopt?: boolean;
      /** @constant */
      readonly type: 'answer';
    };
    /** @description A prompt: it runs, or waits its turn. */
    readonly Ask: {
      readonly request: string;
      readonly chat: string;
      readonly prompt: string;
      /** @enum {string} */
      readonly mode: 'plan' | 'ask' | 'edits' | 'auto';
      /** @description Empty: the set one. */
      readonly model?: string;
      readonly context?: readonly components['schemas']['ContextItem'][];
      /** @description ``Attach.notebook``; empty: none, a kernel is started for the chat. */
      readonly notebook?: string;
      /** @description Stop what runs and ask this instead. */
      readonly instead?: boolean;
      /** @description Name of the assistant that answers; empty: none. */
      readonly assistant?: string;
      /** @description The run whose question this takes the place of, with all that followed; empty: none. */
      readonly supersedes?: string;
      /** @constant */
      readonly type: 'ask';
    };
    /** @description A notebook that this tab has open; sent again when something of it changes. */
    readonly Attach: {
      /** @description Made by the tab when it opened the document; stays through renames. */
      readonly notebook: string;
      readonly path: string;
      /** @description Empty: no kernel is running. */
      readonly kernel_id?: string;
      readonly editable?: boolean;
      /** @constant */
      readonly type: 'attach';
    };
    /** @description The person changed the notebook while a run goes on. */
    readonly Changed: {
      readonly notebook: string;
      readonly cells?: readonly components['schemas']['PlacedCell'][];
      readonly removed?: readonly string[];
      /** @constant */
      readonly type: 'changed';
    };
    /** @description Make the conversation shorter now; refused while a run goes on. */
    readonly Compact: {
      readonly request: string;
      readonly chat: string;
      /** @constant */
      readonly type: 'compact';
    };
    /** @description What a person put beside their prompt; which fields say something depends on the kind. */
    readonly ContextItem: {
      /** @enum {string} */
      readonly kind: 'variable' | 'cell' | 'selection' | 'error' | 'file';
      /** @description A variable's, or a file's as the person knows it. */
      readonly name?: string;
      readonly cell_id?: string;
      readonly text?: string;
      /** @description The name that the upload route gave. */
      readonly file?: string;
    };
    /** @description The person closed a notebook. */
    readonly Detach: {
      readonly notebook: string;
      /** @constant */
      readonly type: 'detach';
    };
    /** @description Become the tab that inserts cells and answers; refused while another live tab is. */
    readonly Drive: {
      readonly chat: string;
      readonly notebook?: string;
      /** @constant */
      readonly type: 'drive';
    };
    /** @description Where in the record a tab has got to. */
    readonly EventPlace: {
      readonly run: string;
      readonly sequence: number;
    };
    /** @description Let the running cell go on for longer. */
    readonly Extend: {
      readonly chat: string;
      readonly seconds: number;
      /** @constant */
      readonly type: 'extend';
    };
    /** @description Send what came after this place, then what comes; None: everything. */
    readonly Follow: {
      readonly chat: string;
      readonly after?: components['schemas']['EventPlace'] | null;
      /** @constant */
      readonly type: 'follow';
    };
    /** @description The first frame of every connection. */
    readonly Hello: {
      readonly protocol: number;
      readonly version: string;
      readonly tab: string;
      /** @description Known to this page alone; an approval counts only with the nonce of the asking page. */
      readonly nonce: string;
      /** @constant */
      readonly type: 'hello';
    };
    /** @description What the person typed for a cell's ``input()``. */
    readonly Input: {
      readonly chat: string;
      readonly request: string;
      readonly value: string;
      /** @constant */
      readonly type: 'input';
    };
    /** @description Is anybody there? */
    readonly Ping: {
      readonly at: number;
      /** @constant */
      readonly type: 'ping';
    };
    /** @description A cell and the id of the one before it; empty: it is the first. */
    readonly PlacedCell: {
      readonly cell: components['schemas']['WireCell'];
      readonly after?: string;
    };
    /** @description Remove, change or move (``position``) a waiting prompt; None leaves as it is. */
    readonly Queue: {
      readonly chat: string;
      /** @enum {string} */
      readonly action: 'remove' | 'edit' | 'move' | 'send_now' | 'resume';
      readonly id?: string;
      readonly prompt?: string | null;
      readonly position?: number | null;
      /** @constant */
      readonly type: 'queue';
    };
    /** @description The answer to a ``request`` frame. */
    readonly ReplyFrame: {
      readonly request: string;
      readonly ok: boolean;
      /** @description Why not: ``gone``, ``changed``, ``read_only``, ``closed``. */
      readonly reason?: string;
      readonly cells?: readonly components['schemas']['WireCell'][];
      /** @constant */
      readonly type: 'reply';
    };
    /** @description Stop the run of a chat. */
    readonly StopFrame: {
      readonly chat: string;
      /** @constant */
      readonly type: 'stop';
    };
    /** @description Send nothing more of this chat. */
    readonly Unfollow: {
      readonly chat: string;
      /** @constant */
      readonly type: 'unfollow';
    };
    /** @description A cell of a notebook as the file format has it. */
    readonly WireCell: {
      readonly id: string;
      /** @enum {string} */
      readonly cell_type: 'code' | 'markdown' | 'raw';
      readonly source: string;
      readonly metadata?: JsonObject;
      readonly outputs?: readonly JsonObject[];
      readonly execution_count?: number | null;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type AssistantDetails = components['schemas']['AssistantDetails'];
export type AssistantSummaries = components['schemas']['AssistantSummaries'];
export type BranchList = components['schemas']['BranchList'];
export type ChangedFiles = components['schemas']['ChangedFiles'];
export type ChatContext = components['schemas']['ChatContext'];
export type ChatMessages = components['schemas']['ChatMessages'];
export type ChatSummary = components['schemas']['ChatSummary'];
export type EarlierCells = components['schemas']['EarlierCells'];
export type Health = components['schemas']['Health'];
export type KernelSnapshots = components['schemas']['KernelSnapshots'];
export type KeptBranch = components['schemas']['KeptBranch'];
export type LibraryHits = components['schemas']['LibraryHits'];
export type LibraryState = components['schemas']['LibraryState'];
export type MemoryList = components['schemas']['MemoryList'];
export type MissingCells = components['schemas']['MissingCells'];
export type Models = components['schemas']['Models'];
export type OneVariable = components['schemas']['OneVariable'];
export type Preview = components['schemas']['Preview'];
export type ProjectTextRows = components['schemas']['ProjectTextRows'];
export type ProviderList = components['schemas']['ProviderList'];
export type LeaderboardPage = components['schemas']['LeaderboardPage'];
export type ResultComparison = components['schemas']['ResultComparison'];
export type ResultListing = components['schemas']['ResultListing'];
export type ResultNumbers = components['schemas']['ResultNumbers'];
export type RecordedRunCell = components['schemas']['RecordedRunCell'];
export type RunPage = components['schemas']['RunPage'];
export type RunSample = components['schemas']['RunSample'];
export type SamplePage = components['schemas']['SamplePage'];
export type ServiceCheck = components['schemas']['ServiceCheck'];
export type ServiceState = components['schemas']['ServiceState'];
export type TakenFile = components['schemas']['TakenFile'];
export type ToolList = components['schemas']['ToolList'];
export type UsageTotals = components['schemas']['UsageTotals'];
export type UndoneRun = components['schemas']['UndoneRun'];
export type VariableSummary = components['schemas']['VariableSummary'];
export type WaitingMessage = components['schemas']['WaitingMessage'];
export type RunStatus = components['schemas']['RunStatus'];
export type Mode = components['schemas']['Mode'];
export type Part = components['schemas']['Part'];
export type OutputMessage = components['schemas']['OutputMessage'];
export type CellEvent = components['schemas']['CellEvent'];
export type RunEvent = components['schemas']['RunEvent'];
export type ServerFrame = components['schemas']['ServerFrame'];
export type Accepted = components['schemas']['Accepted'];
export type AgentCell = components['schemas']['AgentCell'];
export type ApprovalAnswered = components['schemas']['ApprovalAnswered'];
export type ApprovalAsked = components['schemas']['ApprovalAsked'];
export type AssistantMessage = components['schemas']['AssistantMessage'];
export type AssistantSummary = components['schemas']['AssistantSummary'];
export type AttemptSummary = components['schemas']['AttemptSummary'];
export type BranchMark = components['schemas']['BranchMark'];
export type BranchSummary = components['schemas']['BranchSummary'];
export type Budget = components['schemas']['Budget'];
export type CaughtUp = components['schemas']['CaughtUp'];
export type CellAdded = components['schemas']['CellAdded'];
export type CellEdited = components['schemas']['CellEdited'];
export type CellFinished = components['schemas']['CellFinished'];
export type CellMoved = components['schemas']['CellMoved'];
export type CellOutput = components['schemas']['CellOutput'];
export type CellRemoved = components['schemas']['CellRemoved'];
export type CellStarted = components['schemas']['CellStarted'];
export type ChangedFile = components['schemas']['ChangedFile'];
export type ChatDeleted = components['schemas']['ChatDeleted'];
export type ChatFrame = components['schemas']['ChatFrame'];
export type ChatMessage = components['schemas']['ChatMessage'];
export type ChatState = components['schemas']['ChatState'];
export type CheckNumbers = components['schemas']['CheckNumbers'];
export type Choice = components['schemas']['Choice'];
export type ClearOutput = components['schemas']['ClearOutput'];
export type ComparedRow = components['schemas']['ComparedRow'];
export type ComparedSide = components['schemas']['ComparedSide'];
export type Content = components['schemas']['Content'];
export type ContextPiece = components['schemas']['ContextPiece'];
export type DisplayData = components['schemas']['DisplayData'];
export type DisplayUpdate = components['schemas']['DisplayUpdate'];
export type ErrorFrame = components['schemas']['ErrorFrame'];
export type ErrorOutput = components['schemas']['ErrorOutput'];
export type Estimate = components['schemas']['Estimate'];
export type EventsFrame = components['schemas']['EventsFrame'];
export type ExecuteResult = components['schemas']['ExecuteResult'];
export type Execution = components['schemas']['Execution'];
export type FileChange = components['schemas']['FileChange'];
export type FormField = components['schemas']['FormField'];
export type FormOption = components['schemas']['FormOption'];
export type FormRequest = components['schemas']['FormRequest'];
export type GroupNumbers = components['schemas']['GroupNumbers'];
export type HistoryCompacted = components['schemas']['HistoryCompacted'];
export type ImagePart = components['schemas']['ImagePart'];
export type IndexingState = components['schemas']['IndexingState'];
export type InputAsked = components['schemas']['InputAsked'];
export type KeptMemory = components['schemas']['KeptMemory'];
export type LibraryDocument = components['schemas']['LibraryDocument'];
export type LibraryHit = components['schemas']['LibraryHit'];
export type LibrarySummary = components['schemas']['LibrarySummary'];
export type ListedSignIn = components['schemas']['ListedSignIn'];
export type ListedTool = components['schemas']['ListedTool'];
export type MessageAuthor = components['schemas']['MessageAuthor'];
export type MessageCall = components['schemas']['MessageCall'];
export type Metrics = components['schemas']['Metrics'];
export type ModelAsked = components['schemas']['ModelAsked'];
export type ModelReplied = components['schemas']['ModelReplied'];
export type ModelRetrying = components['schemas']['ModelRetrying'];
export type ModelSilent = components['schemas']['ModelSilent'];
export type ModelUsage = components['schemas']['ModelUsage'];
export type NamedCell = components['schemas']['NamedCell'];
export type Notice = components['schemas']['Notice'];
export type NoticeGiven = components['schemas']['NoticeGiven'];
export type PageRequest = components['schemas']['PageRequest'];
export type Parameters = components['schemas']['Parameters'];
export type Pong = components['schemas']['Pong'];
export type PreviewOutput = components['schemas']['PreviewOutput'];
export type ProjectTextRow = components['schemas']['ProjectTextRow'];
export type Proposed = components['schemas']['Proposed'];
export type ProviderItems = components['schemas']['ProviderItems'];
export type ProviderOffer = components['schemas']['ProviderOffer'];
export type QueuedPrompt = components['schemas']['QueuedPrompt'];
export type ReasoningDelta = components['schemas']['ReasoningDelta'];
export type RecordedEvent = components['schemas']['RecordedEvent'];
export type ReplyGiven = components['schemas']['ReplyGiven'];
export type ResultPlace = components['schemas']['ResultPlace'];
export type RunFinished = components['schemas']['RunFinished'];
export type RunRow = components['schemas']['RunRow'];
export type RunStarted = components['schemas']['RunStarted'];
export type RunThumb = components['schemas']['RunThumb'];
export type SampleCell = components['schemas']['SampleCell'];
export type SampleNotRun = components['schemas']['SampleNotRun'];
export type SampleRow = components['schemas']['SampleRow'];
export type SampleTask = components['schemas']['SampleTask'];
export type SampleTime = components['schemas']['SampleTime'];
export type SceneDetails = components['schemas']['SceneDetails'];
export type Score = components['schemas']['Score'];
export type Snapshot = components['schemas']['Snapshot'];
export type StateCaptured = components['schemas']['StateCaptured'];
export type StreamOutput = components['schemas']['StreamOutput'];
export type SupersededRun = components['schemas']['SupersededRun'];
export type TextDelta = components['schemas']['TextDelta'];
export type TextPart = components['schemas']['TextPart'];
export type ToolCall = components['schemas']['ToolCall'];
export type ToolCalled = components['schemas']['ToolCalled'];
export type ToolFinished = components['schemas']['ToolFinished'];
export type ToolMessage = components['schemas']['ToolMessage'];
export type ToolProgress = components['schemas']['ToolProgress'];
export type ToolStarted = components['schemas']['ToolStarted'];
export type UnusableAssistant = components['schemas']['UnusableAssistant'];
export type Usage = components['schemas']['Usage'];
export type UsageLine = components['schemas']['UsageLine'];
export type Variance = components['schemas']['Variance'];
export type Welcome = components['schemas']['Welcome'];
export type WritablePlace = components['schemas']['WritablePlace'];
export type WrittenCell = components['schemas']['WrittenCell'];
export type ClientFrame = components['schemas']['ClientFrame'];
export type BranchesBeginning = components['schemas']['BranchesBeginning'];
export type CellFates = components['schemas']['CellFates'];
export type ChatBranching = components['schemas']['ChatBranching'];
export type ChatChange = components['schemas']['ChatChange'];
export type NewMessage = components['schemas']['NewMessage'];
export type ProjectConsent = components['schemas']['ProjectConsent'];
export type ServiceTest = components['schemas']['ServiceTest'];
export type WantedBudgets = components['schemas']['WantedBudgets'];
export type WantedService = components['schemas']['WantedService'];
export type WantedSummary = components['schemas']['WantedSummary'];
export type AnswerFrame = components['schemas']['AnswerFrame'];
export type Ask = components['schemas']['Ask'];
export type Attach = components['schemas']['Attach'];
export type Changed = components['schemas']['Changed'];
export type Compact = components['schemas']['Compact'];
export type ContextItem = components['schemas']['ContextItem'];
export type Detach = components['schemas']['Detach'];
export type Drive = components['schemas']['Drive'];
export type EventPlace = components['schemas']['EventPlace'];
export type Extend = components['schemas']['Extend'];
export type Follow = components['schemas']['Follow'];
export type Hello = components['schemas']['Hello'];
export type Input = components['schemas']['Input'];
export type Ping = components['schemas']['Ping'];
export type PlacedCell = components['schemas']['PlacedCell'];
export type Queue = components['schemas']['Queue'];
export type ReplyFrame = components['schemas']['ReplyFrame'];
export type StopFrame = components['schemas']['StopFrame'];
export type Unfollow = components['schemas']['Unfollow'];
export type WireCell = components['schemas']['WireCell'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

/** Both sides speak the same one. */
export const PROTOCOL = 1;
/** What is checked when it comes. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  AssistantDetails: {
    properties: {
      name: { type: 'string' },
      description: { type: 'string' },
      instructions: { type: 'string' },
      model: { type: 'string' },
      temperature: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      effort: { type: 'string' },
      parameters: { additionalProperties: true, type: 'object' },
      tools: { anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: 'null' }] },
      adapter: { type: 'string' },
      library: { anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: 'null' }] },
      is_public: { type: 'boolean' },
      is_default: { type: 'boolean' },
      disable_memory: { type: 'boolean' },
      memory_for_guests: { type: 'boolean' },
      disable_default_prompt: { type: 'boolean' },
      disable_web_browsing: { type: 'boolean' },
      scenes: { items: { $ref: '#/components/schemas/SceneDetails' }, type: 'array' },
      place: { type: 'string' },
      file: { type: 'string' },
      version: { type: 'string' }
    },
    required: [
      'name',
      'description',
      'instructions',
      'model',
      'temperature',
      'effort',
      'parameters',
      'tools',
      'adapter',
      'library',
      'is_public',
      'is_default',
      'disable_memory',
      'memory_for_guests',
      'disable_default_prompt',
      'disable_web_browsing',
      'scenes',
      'place',
      'file',
      'version'
    ],
    type: 'object'
  },
  AssistantSummaries: {
    properties: {
      assistants: { items: { $ref: '#/components/schemas/AssistantSummary' }, type: 'array' },
      problems: { items: { type: 'string' }, type: 'array' },
      places: { default: [], items: { $ref: '#/components/schemas/WritablePlace' }, type: 'array' },
      unusable: {
        default: [],
        items: { $ref: '#/components/schemas/UnusableAssistant' },
        type: 'array'
      }
    },
    required: ['assistants', 'problems'],
    type: 'object'
  },
  BranchList: {
    properties: {
      phase: { enum: ['', 'copying', 'running', 'over'], type: 'string' },
      prompt: { type: 'string' },
      branches: { items: { $ref: '#/components/schemas/BranchSummary' }, type: 'array' }
    },
    required: ['phase', 'prompt', 'branches'],
    type: 'object'
  },
  ChangedFiles: {
    properties: {
      back: { default: [], items: { $ref: '#/components/schemas/ChangedFile' }, type: 'array' },
      stays: { default: [], items: { $ref: '#/components/schemas/ChangedFile' }, type: 'array' },
      run_id: { default: '', type: 'string' },
      step: { default: 0, type: 'integer' }
    },
    type: 'object'
  },
  ChatContext: {
    properties: {
      parts: { default: [], items: { $ref: '#/components/schemas/ContextPiece' }, type: 'array' },
      tokens: { default: 0, type: 'integer' },
      limit: { default: 60000, type: 'integer' },
      summary: { default: '', type: 'string' },
      words: { default: '', type: 'string' },
      dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      cached_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null }
    },
    type: 'object'
  },
  ChatMessages: {
    properties: {
      chat: { type: 'string' },
      messages: { default: [], items: { $ref: '#/components/schemas/ChatMessage' }, type: 'array' },
      before: { default: '', type: 'string' },
      waiting: {
        default: [],
        items: { $ref: '#/components/schemas/WaitingMessage' },
        type: 'array'
      }
    },
    required: ['chat'],
    type: 'object'
  },
  ChatSummary: {
    properties: {
      id: { type: 'string' },
      title: { type: 'string' },
      notebook_path: { type: 'string' },
      updated_at: { type: 'number' },
      runs: { type: 'integer' },
      run: { default: '', type: 'string' },
      waits_for_answer: { default: false, type: 'boolean' },
      branched_from: { default: '', type: 'string' },
      prompt: { default: '', type: 'string' },
      prompt_adds: { default: false, type: 'boolean' },
      expires_at: { default: 0, type: 'number' },
      pins: { default: [], items: { type: 'string' }, type: 'array' },
      text_filters: { default: [], items: { type: 'string' }, type: 'array' },
      thumbs: {
        additionalProperties: { $ref: '#/components/schemas/RunThumb' },
        default: {},
        type: 'object'
      },
      undone: { additionalProperties: { type: 'integer' }, default: {}, type: 'object' }
    },
    required: ['id', 'title', 'notebook_path', 'updated_at', 'runs'],
    type: 'object'
  },
  EarlierCells: {
    properties: { cells: { items: { type: 'string' }, type: 'array' } },
    required: ['cells'],
    type: 'object'
  },
  Health: {
    properties: { version: { type: 'string' }, enabled: { default: true, type: 'boolean' } },
    required: ['version'],
    type: 'object'
  },
  KernelSnapshots: {
    properties: {
      snapshots: { items: { $ref: '#/components/schemas/Snapshot' }, type: 'array' },
      held_bytes: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null }
    },
    required: ['snapshots'],
    type: 'object'
  },
  KeptBranch: { properties: { run: { type: 'string' } }, required: ['run'], type: 'object' },
  LibraryHits: {
    properties: {
      hits: { items: { $ref: '#/components/schemas/LibraryHit' }, type: 'array' },
      problem: { default: '', type: 'string' }
    },
    required: ['hits'],
    type: 'object'
  },
  LibraryState: {
    properties: {
      documents: { items: { $ref: '#/components/schemas/LibraryDocument' }, type: 'array' },
      indexing: { anyOf: [{ $ref: '#/components/schemas/IndexingState' }, { type: 'null' }] },
      libraries: {
        default: [],
        items: { $ref: '#/components/schemas/LibrarySummary' },
        type: 'array'
      }
    },
    required: ['documents', 'indexing'],
    type: 'object'
  },
  MemoryList: {
    properties: {
      memories: { items: { $ref: '#/components/schemas/KeptMemory' }, type: 'array' },
      proposals: { items: { $ref: '#/components/schemas/Proposed' }, type: 'array' },
      is_on: { default: true, type: 'boolean' }
    },
    required: ['memories', 'proposals'],
    type: 'object'
  },
  MissingCells: {
    properties: {
      run: { type: 'string' },
      chat: { type: 'string' },
      cells: { items: { $ref: '#/components/schemas/AgentCell' }, type: 'array' }
    },
    required: ['run', 'chat', 'cells'],
    type: 'object'
  },
  Models: {
    properties: { models: { items: { type: 'string' }, type: 'array' } },
    required: ['models'],
    type: 'object'
  },
  OneVariable: { properties: { text: { type: 'string' } }, required: ['text'], type: 'object' },
  Preview: {
    properties: {
      outputs: { items: { $ref: '#/components/schemas/PreviewOutput' }, type: 'array' },
      execution: { $ref: '#/components/schemas/Execution' },
      addresses: { items: { type: 'string' }, type: 'array' },
      obstacle: { default: '', type: 'string' }
    },
    required: ['outputs', 'execution', 'addresses'],
    type: 'object'
  },
  ProjectTextRows: {
    properties: {
      texts: { default: [], items: { $ref: '#/components/schemas/ProjectTextRow' }, type: 'array' },
      problems: { default: [], items: { type: 'string' }, type: 'array' }
    },
    type: 'object'
  },
  ProviderList: {
    properties: {
      providers: { items: { $ref: '#/components/schemas/ProviderOffer' }, type: 'array' },
      any_address: { type: 'boolean' },
      set_model: { type: 'string' },
      new_key_place: { type: 'string' }
    },
    required: ['providers', 'any_address', 'set_model', 'new_key_place'],
    type: 'object'
  },
  LeaderboardPage: { properties: { html: { type: 'string' } }, required: ['html'], type: 'object' },
  ResultComparison: {
    properties: {
      difference: { $ref: '#/components/schemas/Estimate' },
      better: { type: 'integer' },
      worse: { type: 'integer' },
      equal: { type: 'integer' },
      p_value: { type: 'number' },
      detectable: { type: 'number' },
      shared: { type: 'integer' },
      only_first: { type: 'integer' },
      only_second: { type: 'integer' },
      rows: { items: { $ref: '#/components/schemas/ComparedRow' }, type: 'array' },
      next: { anyOf: [{ type: 'integer' }, { type: 'null' }] }
    },
    required: [
      'difference',
      'better',
      'worse',
      'equal',
      'p_value',
      'detectable',
      'shared',
      'only_first',
      'only_second',
      'rows',
      'next'
    ],
    type: 'object'
  },
  ResultListing: {
    properties: {
      version: { type: 'string' },
      results: {
        anyOf: [
          { items: { $ref: '#/components/schemas/ResultPlace' }, type: 'array' },
          { type: 'null' }
        ]
      },
      is_cut: { type: 'boolean' }
    },
    required: ['version', 'results', 'is_cut'],
    type: 'object'
  },
  ResultNumbers: {
    properties: {
      version: { type: 'string' },
      agent: { type: 'string' },
      suite: { type: 'string' },
      models: { items: { type: 'string' }, type: 'array' },
      passed: { type: 'integer' },
      total: { type: 'integer' },
      share: { $ref: '#/components/schemas/Estimate' },
      points: { $ref: '#/components/schemas/Estimate' },
      by_check: {
        additionalProperties: { $ref: '#/components/schemas/CheckNumbers' },
        type: 'object'
      },
      by_status: { additionalProperties: { type: 'integer' }, type: 'object' },
      by_group: {
        additionalProperties: { $ref: '#/components/schemas/GroupNumbers' },
        type: 'object'
      },
      check_errors: { type: 'integer' },
      failures: { additionalProperties: { type: 'integer' }, type: 'object' },
      not_run: { items: { $ref: '#/components/schemas/SampleNotRun' }, type: 'array' },
      epochs: { type: 'integer' },
      at_k: { additionalProperties: { $ref: '#/components/schemas/Estimate' }, type: 'object' },
      variance: { anyOf: [{ $ref: '#/components/schemas/Variance' }, { type: 'null' }] },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      cost_each: { anyOf: [{ $ref: '#/components/schemas/Estimate' }, { type: 'null' }] },
      seconds: { type: 'number' },
      seconds_each: { anyOf: [{ $ref: '#/components/schemas/Estimate' }, { type: 'null' }] },
      tokens: { type: 'integer' },
      retries: { type: 'integer' },
      unreadable: { type: 'integer' }
    },
    required: [
      'version',
      'agent',
      'suite',
      'models',
      'passed',
      'total',
      'share',
      'points',
      'by_check',
      'by_status',
      'by_group',
      'check_errors',
      'failures',
      'not_run',
      'epochs',
      'at_k',
      'variance',
      'cost_dollars',
      'cost_each',
      'seconds',
      'seconds_each',
      'tokens',
      'retries',
      'unreadable'
    ],
    type: 'object'
  },
  RecordedRunCell: {
    properties: {
      cell_id: { type: 'string' },
      source: { type: 'string' },
      cell_type: { enum: ['code', 'markdown', 'raw'], type: 'string' },
      after: { type: 'string' },
      outputs: { items: { additionalProperties: true, type: 'object' }, type: 'array' },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      fate: {
        anyOf: [
          { enum: ['saved', 'deleted', 'discarded'], type: 'string' },
          { const: '', type: 'string' }
        ]
      }
    },
    required: ['cell_id', 'source', 'cell_type', 'after', 'outputs', 'execution_count', 'fate'],
    type: 'object'
  },
  RunPage: {
    properties: {
      version: { type: 'string' },
      runs: {
        anyOf: [{ items: { $ref: '#/components/schemas/RunRow' }, type: 'array' }, { type: 'null' }]
      },
      after: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      statuses: { default: [], items: { type: 'string' }, type: 'array' },
      models: { default: [], items: { type: 'string' }, type: 'array' },
      lanes: { default: [], items: { type: 'string' }, type: 'array' }
    },
    required: ['version', 'runs'],
    type: 'object'
  },
  RunSample: {
    properties: {
      id: { type: 'string' },
      run_id: { default: '', type: 'string' },
      suite: { default: '', type: 'string' },
      task: {
        $ref: '#/components/schemas/SampleTask',
        default: {
          name: '',
          index: '',
          session: '',
          step: 0,
          epoch: 1,
          group: '',
          family: '',
          metadata: {},
          attempt: 0
        }
      },
      agent: { default: '', type: 'string' },
      model: { additionalProperties: true, default: {}, type: 'object' },
      input: { default: '', type: 'string' },
      target: { default: '', type: 'string' },
      files: { additionalProperties: { type: 'string' }, default: {}, type: 'object' },
      setup: { default: [], items: { type: 'string' }, type: 'array' },
      tools: { default: [], items: { additionalProperties: true, type: 'object' }, type: 'array' },
      messages: {
        default: [],
        items: { additionalProperties: true, type: 'object' },
        type: 'array'
      },
      cells: { default: [], items: { $ref: '#/components/schemas/SampleCell' }, type: 'array' },
      written: { default: [], items: { $ref: '#/components/schemas/WrittenCell' }, type: 'array' },
      events: {
        default: [],
        items: {
          anyOf: [
            { $ref: '#/components/schemas/ReplyGiven' },
            { $ref: '#/components/schemas/ToolCalled' },
            { $ref: '#/components/schemas/NoticeGiven' }
          ]
        },
        type: 'array'
      },
      status: { default: 'running', type: 'string' },
      cause: { default: '', type: 'string' },
      error: { default: '', type: 'string' },
      limit: { default: '', type: 'string' },
      retries: { default: 0, type: 'integer' },
      result: { default: null },
      scores: { default: [], items: { $ref: '#/components/schemas/Score' }, type: 'array' },
      usage: { additionalProperties: true, default: {}, type: 'object' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      time: { $ref: '#/components/schemas/SampleTime', default: { started_at: 0, seconds: 0 } },
      env: { additionalProperties: true, default: {}, type: 'object' },
      notebook: { additionalProperties: true, default: {}, type: 'object' },
      run: { additionalProperties: true, default: {}, type: 'object' },
      schema: { default: 'cellwright.sample/1', type: 'string' },
      chat: { default: '', type: 'string' }
    },
    required: ['id'],
    type: 'object'
  },
  SamplePage: {
    properties: {
      version: { type: 'string' },
      samples: { items: { $ref: '#/components/schemas/SampleRow' }, type: 'array' },
      next: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      fitting: { type: 'integer' },
      total: { type: 'integer' },
      statuses: { items: { type: 'string' }, type: 'array' },
      groups: { items: { type: 'string' }, type: 'array' }
    },
    required: ['version', 'samples', 'next', 'fitting', 'total', 'statuses', 'groups'],
    type: 'object'
  },
  ServiceCheck: {
    properties: {
      name: { type: 'string' },
      status: { enum: ['ok', 'warn', 'blocked'], type: 'string' },
      text: { type: 'string' },
      action: { type: 'string' },
      code: { default: '', type: 'string' }
    },
    required: ['name', 'status', 'text', 'action'],
    type: 'object'
  },
  ServiceState: {
    properties: {
      model: { type: 'string' },
      base_url: { type: 'string' },
      has_key: { type: 'boolean' },
      key_source: { type: 'string' },
      is_demo: { type: 'boolean' },
      notice: { type: 'string' },
      mode: { enum: ['plan', 'ask', 'edits', 'auto'], type: 'string' },
      modes: { items: { enum: ['plan', 'ask', 'edits', 'auto'], type: 'string' }, type: 'array' },
      models_allowed: { items: { type: 'string' }, type: 'array' },
      endpoints_locked: { type: 'boolean' },
      recording: { type: 'boolean' },
      warnings: { items: { type: 'string' }, type: 'array' },
      parameters: { additionalProperties: true, default: {}, type: 'object' }
    },
    required: [
      'model',
      'base_url',
      'has_key',
      'key_source',
      'is_demo',
      'notice',
      'mode',
      'modes',
      'models_allowed',
      'endpoints_locked',
      'recording',
      'warnings'
    ],
    type: 'object'
  },
  TakenFile: {
    properties: {
      file: { type: 'string' },
      name: { type: 'string' },
      size_bytes: { type: 'integer' },
      mime: { type: 'string' },
      library: { default: '', type: 'string' }
    },
    required: ['file', 'name', 'size_bytes', 'mime'],
    type: 'object'
  },
  ToolList: {
    properties: {
      tools: { items: { $ref: '#/components/schemas/ListedTool' }, type: 'array' },
      sign_ins: { default: [], items: { $ref: '#/components/schemas/ListedSignIn' }, type: 'array' }
    },
    required: ['tools'],
    type: 'object'
  },
  UsageTotals: {
    properties: {
      rows: { items: { $ref: '#/components/schemas/UsageLine' }, type: 'array' },
      budgets: { items: { $ref: '#/components/schemas/Budget' }, type: 'array' }
    },
    required: ['rows', 'budgets'],
    type: 'object'
  },
  UndoneRun: {
    properties: {
      run: { type: 'string' },
      is_undone: { type: 'boolean' },
      step: { type: 'integer' },
      taken_at: { type: 'number' },
      files: { $ref: '#/components/schemas/ChangedFiles' }
    },
    required: ['run', 'is_undone', 'step', 'taken_at', 'files'],
    type: 'object'
  },
  VariableSummary: {
    properties: { name: { type: 'string' }, type: { type: 'string' }, text: { type: 'string' } },
    required: ['name', 'type', 'text'],
    type: 'object'
  },
  WaitingMessage: {
    properties: { id: { type: 'string' }, role: { type: 'string' }, text: { type: 'string' } },
    required: ['id', 'role', 'text'],
    type: 'object'
  },
  RunStatus: {
    enum: [
      'running',
      'completed',
      'agent context limit',
      'agent validation failed',
      'agent invalid action',
      'task limit reached',
      'task error',
      'unknown',
      'cancelled'
    ],
    type: 'string'
  },
  Mode: { enum: ['plan', 'ask', 'edits', 'auto'], type: 'string' },
  Part: {
    anyOf: [{ $ref: '#/components/schemas/TextPart' }, { $ref: '#/components/schemas/ImagePart' }]
  },
  OutputMessage: {
    anyOf: [
      { $ref: '#/components/schemas/StreamOutput' },
      { $ref: '#/components/schemas/DisplayData' },
      { $ref: '#/components/schemas/ExecuteResult' },
      { $ref: '#/components/schemas/ErrorOutput' },
      { $ref: '#/components/schemas/DisplayUpdate' },
      { $ref: '#/components/schemas/ClearOutput' }
    ]
  },
  CellEvent: {
    anyOf: [
      { $ref: '#/components/schemas/CellAdded' },
      { $ref: '#/components/schemas/CellEdited' },
      { $ref: '#/components/schemas/CellRemoved' },
      { $ref: '#/components/schemas/CellMoved' },
      { $ref: '#/components/schemas/CellStarted' },
      { $ref: '#/components/schemas/CellOutput' },
      { $ref: '#/components/schemas/CellFinished' }
    ]
  },
  RunEvent: {
    anyOf: [
      { $ref: '#/components/schemas/RunStarted' },
      { $ref: '#/components/schemas/StateCaptured' },
      { $ref: '#/components/schemas/ModelAsked' },
      { $ref: '#/components/schemas/TextDelta' },
      { $ref: '#/components/schemas/ReasoningDelta' },
      { $ref: '#/components/schemas/ModelRetrying' },
      { $ref: '#/components/schemas/ModelSilent' },
      { $ref: '#/components/schemas/ModelReplied' },
      { $ref: '#/components/schemas/ToolStarted' },
      { $ref: '#/components/schemas/ApprovalAsked' },
      { $ref: '#/components/schemas/ApprovalAnswered' },
      { $ref: '#/components/schemas/CellAdded' },
      { $ref: '#/components/schemas/CellEdited' },
      { $ref: '#/components/schemas/CellRemoved' },
      { $ref: '#/components/schemas/CellMoved' },
      { $ref: '#/components/schemas/CellStarted' },
      { $ref: '#/components/schemas/CellOutput' },
      { $ref: '#/components/schemas/CellFinished' },
      { $ref: '#/components/schemas/ToolFinished' },
      { $ref: '#/components/schemas/ToolProgress' },
      { $ref: '#/components/schemas/Notice' },
      { $ref: '#/components/schemas/HistoryCompacted' },
      { $ref: '#/components/schemas/RunFinished' }
    ]
  },
  ServerFrame: {
    anyOf: [
      { $ref: '#/components/schemas/Welcome' },
      { $ref: '#/components/schemas/CaughtUp' },
      { $ref: '#/components/schemas/ChatFrame' },
      { $ref: '#/components/schemas/ChatDeleted' },
      { $ref: '#/components/schemas/Accepted' },
      { $ref: '#/components/schemas/PageRequest' },
      { $ref: '#/components/schemas/ErrorFrame' },
      { $ref: '#/components/schemas/Pong' },
      { $ref: '#/components/schemas/EventsFrame' }
    ]
  },
  Accepted: {
    properties: {
      request: { type: 'string' },
      chat: { type: 'string' },
      queued: { type: 'boolean' },
      type: { const: 'accepted', default: 'accepted', type: 'string' }
    },
    required: ['request', 'chat', 'queued'],
    type: 'object'
  },
  AgentCell: {
    properties: {
      cell_id: { type: 'string' },
      source: { type: 'string' },
      cell_type: { enum: ['code', 'markdown', 'raw'], type: 'string' },
      after: { type: 'string' },
      outputs: { items: { additionalProperties: true, type: 'object' }, type: 'array' },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }] }
    },
    required: ['cell_id', 'source', 'cell_type', 'after', 'outputs', 'execution_count'],
    type: 'object'
  },
  ApprovalAnswered: {
    properties: {
      call_id: { type: 'string' },
      allowed: { type: 'boolean' },
      by: { type: 'string' },
      reason: { default: '', type: 'string' },
      previewed: { default: false, type: 'boolean' },
      adopted: { default: false, type: 'boolean' },
      kind: { const: 'approval_answered', default: 'approval_answered', type: 'string' }
    },
    required: ['call_id', 'allowed', 'by'],
    type: 'object'
  },
  ApprovalAsked: {
    properties: {
      call_id: { type: 'string' },
      reason: { type: 'string' },
      kind: { const: 'approval_asked', default: 'approval_asked', type: 'string' }
    },
    required: ['call_id', 'reason'],
    type: 'object'
  },
  AssistantMessage: {
    properties: {
      text: { default: '', type: 'string' },
      tool_calls: { default: [], items: { $ref: '#/components/schemas/ToolCall' }, type: 'array' },
      reasoning: { default: '', type: 'string' },
      refusal: { default: '', type: 'string' },
      author: { default: '', type: 'string' },
      origin: { default: '', enum: ['', 'user'], type: 'string' },
      provider_items: {
        anyOf: [{ $ref: '#/components/schemas/ProviderItems' }, { type: 'null' }],
        default: null
      },
      role: { const: 'assistant', default: 'assistant', type: 'string' }
    },
    type: 'object'
  },
  AssistantSummary: {
    properties: {
      name: { type: 'string' },
      description: { type: 'string' },
      model: { type: 'string' },
      scenes: { default: [], items: { type: 'string' }, type: 'array' },
      is_public: { default: false, type: 'boolean' },
      is_default: { default: false, type: 'boolean' },
      place: { default: '', type: 'string' }
    },
    required: ['name', 'description', 'model'],
    type: 'object'
  },
  AttemptSummary: {
    properties: {
      number: { type: 'integer' },
      run_id: { type: 'string' },
      status: { type: 'string' },
      answer: { default: '', type: 'string' },
      scores: {
        additionalProperties: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        default: {},
        type: 'object'
      },
      passed: { anyOf: [{ type: 'boolean' }, { type: 'null' }], default: null },
      votes: { default: 0, type: 'integer' },
      cells: { default: 0, type: 'integer' },
      errors: { default: 0, type: 'integer' },
      tokens: { default: 0, type: 'integer' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      seconds: { default: 0, type: 'number' }
    },
    required: ['number', 'run_id', 'status'],
    type: 'object'
  },
  BranchMark: {
    properties: {
      group: { type: 'string' },
      number: { type: 'integer' },
      count: { type: 'integer' },
      label: { default: '', type: 'string' }
    },
    required: ['group', 'number', 'count'],
    type: 'object'
  },
  BranchSummary: {
    properties: {
      number: { type: 'integer' },
      label: { type: 'string' },
      model: { type: 'string' },
      status: {
        enum: [
          'running',
          'completed',
          'agent context limit',
          'agent validation failed',
          'agent invalid action',
          'task limit reached',
          'task error',
          'unknown',
          'cancelled'
        ],
        type: 'string'
      },
      doing: { type: 'string' },
      run: { type: 'string' },
      answer: { type: 'string' },
      problem: { type: 'string' },
      variables: { items: { type: 'string' }, type: 'array' },
      files: { items: { type: 'string' }, type: 'array' },
      cells: { type: 'integer' },
      seconds: { type: 'number' },
      tokens: { type: 'integer' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      picture: { type: 'string' }
    },
    required: [
      'number',
      'label',
      'model',
      'status',
      'doing',
      'run',
      'answer',
      'problem',
      'variables',
      'files',
      'cells',
      'seconds',
      'tokens',
      'cost_dollars',
      'picture'
    ],
    type: 'object'
  },
  Budget: {
    properties: {
      name: { type: 'string' },
      used: { type: 'number' },
      month: { type: 'string' },
      limit_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      limit_tokens: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      unpriced_calls: { default: 0, type: 'integer' }
    },
    required: ['name', 'used', 'month'],
    type: 'object'
  },
  CaughtUp: {
    properties: {
      chat: { type: 'string' },
      type: { const: 'caught_up', default: 'caught_up', type: 'string' }
    },
    required: ['chat'],
    type: 'object'
  },
  CellAdded: {
    properties: {
      cell_id: { type: 'string' },
      source: { type: 'string' },
      cell_type: { default: 'code', enum: ['code', 'markdown', 'raw'], type: 'string' },
      after: { default: '', type: 'string' },
      call_id: { default: '', type: 'string' },
      is_scratch: { default: false, type: 'boolean' },
      kind: { const: 'cell_added', default: 'cell_added', type: 'string' }
    },
    required: ['cell_id', 'source'],
    type: 'object'
  },
  CellEdited: {
    properties: {
      cell_id: { type: 'string' },
      source: { type: 'string' },
      previous_hash: { type: 'string' },
      call_id: { default: '', type: 'string' },
      outputs: {
        anyOf: [
          {
            items: {
              anyOf: [
                { $ref: '#/components/schemas/StreamOutput' },
                { $ref: '#/components/schemas/DisplayData' },
                { $ref: '#/components/schemas/ExecuteResult' },
                { $ref: '#/components/schemas/ErrorOutput' }
              ]
            },
            type: 'array'
          },
          { type: 'null' }
        ],
        default: null
      },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      kind: { const: 'cell_edited', default: 'cell_edited', type: 'string' }
    },
    required: ['cell_id', 'source', 'previous_hash'],
    type: 'object'
  },
  CellFinished: {
    properties: {
      cell_id: { type: 'string' },
      execution: { $ref: '#/components/schemas/Execution' },
      kind: { const: 'cell_finished', default: 'cell_finished', type: 'string' }
    },
    required: ['cell_id', 'execution'],
    type: 'object'
  },
  CellMoved: {
    properties: {
      cell_id: { type: 'string' },
      after: { default: '', type: 'string' },
      call_id: { default: '', type: 'string' },
      kind: { const: 'cell_moved', default: 'cell_moved', type: 'string' }
    },
    required: ['cell_id'],
    type: 'object'
  },
  CellOutput: {
    properties: {
      cell_id: { type: 'string' },
      message: {
        anyOf: [
          { $ref: '#/components/schemas/StreamOutput' },
          { $ref: '#/components/schemas/DisplayData' },
          { $ref: '#/components/schemas/ExecuteResult' },
          { $ref: '#/components/schemas/ErrorOutput' },
          { $ref: '#/components/schemas/DisplayUpdate' },
          { $ref: '#/components/schemas/ClearOutput' }
        ]
      },
      kind: { const: 'cell_output', default: 'cell_output', type: 'string' }
    },
    required: ['cell_id', 'message'],
    type: 'object'
  },
  CellRemoved: {
    properties: {
      cell_id: { type: 'string' },
      previous_hash: { type: 'string' },
      call_id: { default: '', type: 'string' },
      kind: { const: 'cell_removed', default: 'cell_removed', type: 'string' }
    },
    required: ['cell_id', 'previous_hash'],
    type: 'object'
  },
  CellStarted: {
    properties: {
      cell_id: { type: 'string' },
      kind: { const: 'cell_started', default: 'cell_started', type: 'string' }
    },
    required: ['cell_id'],
    type: 'object'
  },
  ChangedFile: {
    properties: {
      path: { type: 'string' },
      was: { default: '', type: 'string' },
      why: { default: '', type: 'string' }
    },
    required: ['path'],
    type: 'object'
  },
  ChatDeleted: {
    properties: {
      chat: { type: 'string' },
      type: { const: 'chat_deleted', default: 'chat_deleted', type: 'string' }
    },
    required: ['chat'],
    type: 'object'
  },
  ChatFrame: {
    properties: {
      state: { $ref: '#/components/schemas/ChatState' },
      type: { const: 'chat', default: 'chat', type: 'string' }
    },
    required: ['state'],
    type: 'object'
  },
  ChatMessage: {
    properties: {
      run: { type: 'string' },
      role: { type: 'string' },
      hidden: { type: 'boolean' },
      text: { type: 'string' },
      assistant: {
        anyOf: [{ $ref: '#/components/schemas/MessageAuthor' }, { type: 'null' }],
        default: null
      },
      calls: { default: [], items: { $ref: '#/components/schemas/MessageCall' }, type: 'array' },
      tool: { default: '', type: 'string' },
      call: { default: '', type: 'string' },
      is_error: { default: false, type: 'boolean' }
    },
    required: ['run', 'role', 'hidden', 'text'],
    type: 'object'
  },
  ChatState: {
    properties: {
      id: { type: 'string' },
      title: { default: '', type: 'string' },
      notebook_path: { default: '', type: 'string' },
      updated_at: { default: 0, type: 'number' },
      run: { default: '', type: 'string' },
      phase: {
        default: 'idle',
        enum: ['idle', 'starting', 'model', 'kernel_busy', 'tool', 'approval', 'input'],
        type: 'string'
      },
      queue: { default: [], items: { $ref: '#/components/schemas/QueuedPrompt' }, type: 'array' },
      queue_paused: { default: false, type: 'boolean' },
      driver: { default: '', type: 'string' },
      approval: { default: '', type: 'string' },
      approval_problem: { default: '', type: 'string' },
      input: {
        anyOf: [{ $ref: '#/components/schemas/InputAsked' }, { type: 'null' }],
        default: null
      },
      context_tokens: { default: 0, type: 'integer' },
      context_limit: { default: 0, type: 'integer' },
      superseded: {
        default: [],
        items: { $ref: '#/components/schemas/SupersededRun' },
        type: 'array'
      },
      branches: { default: '', enum: ['', 'copying', 'running', 'over'], type: 'string' }
    },
    required: ['id'],
    type: 'object'
  },
  CheckNumbers: {
    properties: {
      value: { type: 'number' },
      low: { type: 'number' },
      high: { type: 'number' },
      method: { type: 'string' },
      count: { type: 'integer' },
      passed: { type: 'integer' }
    },
    required: ['value', 'low', 'high', 'method', 'count', 'passed'],
    type: 'object'
  },
  Choice: {
    properties: {
      number: { type: 'integer' },
      way: { enum: ['check', 'judge', 'vote'], type: 'string' },
      reason: { type: 'string' },
      attempts: { items: { $ref: '#/components/schemas/AttemptSummary' }, type: 'array' },
      judge: { default: '', type: 'string' },
      judge_run: { default: '', type: 'string' },
      judge_usage: {
        $ref: '#/components/schemas/Usage',
        default: {
          prompt_tokens: 0,
          completion_tokens: 0,
          cached_tokens: 0,
          cache_write_tokens: 0,
          reasoning_tokens: 0,
          estimated: false
        }
      },
      judge_cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null }
    },
    required: ['number', 'way', 'reason', 'attempts'],
    type: 'object'
  },
  ClearOutput: {
    properties: {
      wait: { default: false, type: 'boolean' },
      kind: { const: 'clear_output', default: 'clear_output', type: 'string' }
    },
    type: 'object'
  },
  ComparedRow: {
    properties: {
      index: { type: 'string' },
      change: { enum: ['worse', 'better', 'same'], type: 'string' },
      delta: { type: 'number' },
      first: { $ref: '#/components/schemas/ComparedSide' },
      second: { $ref: '#/components/schemas/ComparedSide' }
    },
    required: ['index', 'change', 'delta', 'first', 'second'],
    type: 'object'
  },
  ComparedSide: {
    properties: {
      id: { type: 'string' },
      value: { type: 'number' },
      tries: { type: 'integer' },
      epoch: { type: 'integer' },
      status: { type: 'string' },
      why: { type: 'string' }
    },
    required: ['id', 'value', 'tries', 'epoch', 'status', 'why'],
    type: 'object'
  },
  Content: {
    properties: {
      type: {
        enum: [
          'text',
          'code',
          'files',
          'urls',
          'oral_text',
          'references',
          'image',
          'chart',
          'audio',
          'json',
          'thought',
          'plan',
          'function_call',
          'progress',
          'browser'
        ],
        type: 'string'
      },
      text: { additionalProperties: true, type: 'object' },
      name: { default: '', type: 'string' },
      visible_scope: { default: 'all', enum: ['all', 'llm', 'user'], type: 'string' },
      is_error: { default: false, type: 'boolean' },
      raw_data: { additionalProperties: true, default: {}, type: 'object' },
      usage: { default: [], items: { $ref: '#/components/schemas/ModelUsage' }, type: 'array' },
      metrics: {
        anyOf: [{ $ref: '#/components/schemas/Metrics' }, { type: 'null' }],
        default: null
      }
    },
    required: ['type', 'text'],
    type: 'object'
  },
  ContextPiece: {
    properties: {
      name: { type: 'string' },
      pieces: { type: 'integer' },
      tokens: { type: 'integer' }
    },
    required: ['name', 'pieces', 'tokens'],
    type: 'object'
  },
  DisplayData: {
    properties: {
      data: { additionalProperties: true, type: 'object' },
      metadata: { additionalProperties: true, default: {}, type: 'object' },
      display_id: { default: '', type: 'string' },
      kind: { const: 'display_data', default: 'display_data', type: 'string' }
    },
    required: ['data'],
    type: 'object'
  },
  DisplayUpdate: {
    properties: {
      display_id: { type: 'string' },
      data: { additionalProperties: true, type: 'object' },
      metadata: { additionalProperties: true, default: {}, type: 'object' },
      kind: { const: 'update_display_data', default: 'update_display_data', type: 'string' }
    },
    required: ['display_id', 'data'],
    type: 'object'
  },
  ErrorFrame: {
    properties: {
      code: { type: 'string' },
      message: { type: 'string' },
      hint: { default: '', type: 'string' },
      request: { default: '', type: 'string' },
      chat: { default: '', type: 'string' },
      type: { const: 'error', default: 'error', type: 'string' }
    },
    required: ['code', 'message'],
    type: 'object'
  },
  ErrorOutput: {
    properties: {
      ename: { type: 'string' },
      evalue: { type: 'string' },
      traceback: { default: [], items: { type: 'string' }, type: 'array' },
      kind: { const: 'error', default: 'error', type: 'string' }
    },
    required: ['ename', 'evalue'],
    type: 'object'
  },
  Estimate: {
    properties: {
      value: { type: 'number' },
      low: { type: 'number' },
      high: { type: 'number' },
      method: { type: 'string' },
      count: { type: 'integer' }
    },
    required: ['value', 'low', 'high', 'method', 'count'],
    type: 'object'
  },
  EventsFrame: {
    properties: {
      chat: { type: 'string' },
      run: { type: 'string' },
      items: { items: { $ref: '#/components/schemas/RecordedEvent' }, type: 'array' },
      type: { const: 'events', default: 'events', type: 'string' }
    },
    required: ['chat', 'run', 'items'],
    type: 'object'
  },
  ExecuteResult: {
    properties: {
      data: { additionalProperties: true, type: 'object' },
      metadata: { additionalProperties: true, default: {}, type: 'object' },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      display_id: { default: '', type: 'string' },
      kind: { const: 'execute_result', default: 'execute_result', type: 'string' }
    },
    required: ['data'],
    type: 'object'
  },
  Execution: {
    properties: {
      status: {
        enum: ['ok', 'error', 'interrupted', 'timeout', 'died', 'aborted'],
        type: 'string'
      },
      duration_seconds: { type: 'number' },
      error: {
        anyOf: [{ $ref: '#/components/schemas/ErrorOutput' }, { type: 'null' }],
        default: null
      },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      result_summary: { default: '', type: 'string' },
      changed: {
        default: [],
        items: { $ref: '#/components/schemas/VariableSummary' },
        type: 'array'
      },
      removed: { default: [], items: { type: 'string' }, type: 'array' },
      files: { default: [], items: { $ref: '#/components/schemas/FileChange' }, type: 'array' },
      cwd: { default: '', type: 'string' },
      note: { default: '', type: 'string' },
      figures: { default: [], items: { type: 'string' }, type: 'array' },
      cpu_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      rss_bytes: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      waited_seconds: { default: 0, type: 'number' }
    },
    required: ['status', 'duration_seconds'],
    type: 'object'
  },
  FileChange: {
    properties: {
      path: { type: 'string' },
      change: { enum: ['created', 'modified', 'deleted'], type: 'string' },
      size_bytes: { default: 0, type: 'integer' }
    },
    required: ['path', 'change'],
    type: 'object'
  },
  FormField: {
    properties: {
      name: { type: 'string' },
      title: { type: 'string' },
      kind: { enum: ['text', 'number', 'boolean', 'choice', 'choices'], type: 'string' },
      description: { default: '', type: 'string' },
      format: { default: '', type: 'string' },
      required: { default: false, type: 'boolean' },
      options: { default: [], items: { $ref: '#/components/schemas/FormOption' }, type: 'array' },
      given: { default: [], items: { type: 'string' }, type: 'array' }
    },
    required: ['name', 'title', 'kind'],
    type: 'object'
  },
  FormOption: {
    properties: { value: { type: 'string' }, title: { type: 'string' } },
    required: ['value', 'title'],
    type: 'object'
  },
  FormRequest: {
    properties: {
      server: { type: 'string' },
      message: { type: 'string' },
      fields: { default: [], items: { $ref: '#/components/schemas/FormField' }, type: 'array' },
      url: { default: '', type: 'string' },
      problem: { default: '', type: 'string' }
    },
    required: ['server', 'message'],
    type: 'object'
  },
  GroupNumbers: {
    properties: {
      value: { type: 'number' },
      passed: { type: 'integer' },
      total: { type: 'integer' },
      low: { type: 'number' },
      high: { type: 'number' }
    },
    required: ['value', 'passed', 'total', 'low', 'high'],
    type: 'object'
  },
  HistoryCompacted: {
    properties: {
      kind: { const: 'history_compacted', default: 'history_compacted', type: 'string' },
      tokens_before: { type: 'integer' },
      tokens_after: { type: 'integer' }
    },
    required: ['tokens_before', 'tokens_after'],
    type: 'object'
  },
  ImagePart: {
    properties: {
      mime: { type: 'string' },
      data: { type: 'string' },
      caption: { default: '', type: 'string' },
      kind: { const: 'image', default: 'image', type: 'string' }
    },
    required: ['mime', 'data'],
    type: 'object'
  },
  IndexingState: {
    properties: { done: { type: 'integer' }, total: { type: 'integer' }, name: { type: 'string' } },
    required: ['done', 'total', 'name'],
    type: 'object'
  },
  InputAsked: {
    properties: {
      request: { type: 'string' },
      prompt: { type: 'string' },
      password: { default: false, type: 'boolean' },
      form: {
        anyOf: [{ $ref: '#/components/schemas/FormRequest' }, { type: 'null' }],
        default: null
      }
    },
    required: ['request', 'prompt'],
    type: 'object'
  },
  KeptMemory: {
    properties: {
      id: { type: 'string' },
      text: { type: 'string' },
      scope: { enum: ['user', 'project'], type: 'string' },
      created_at: { type: 'number' },
      updated_at: { type: 'number' },
      source_run: { type: 'string' },
      folder: { default: '', type: 'string' }
    },
    required: ['id', 'text', 'scope', 'created_at', 'updated_at', 'source_run'],
    type: 'object'
  },
  LibraryDocument: {
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      place: { type: 'string' },
      kind: { type: 'string' },
      chunks: { type: 'integer' },
      is_embedded: { type: 'boolean' },
      indexed_at: { type: 'number' },
      problem: { type: 'string' },
      library: { default: '', type: 'string' }
    },
    required: ['id', 'name', 'place', 'kind', 'chunks', 'is_embedded', 'indexed_at', 'problem'],
    type: 'object'
  },
  LibraryHit: {
    properties: {
      number: { type: 'integer' },
      document_id: { type: 'string' },
      name: { type: 'string' },
      place: { type: 'string' },
      heading: { type: 'string' },
      text: { type: 'string' },
      score: { type: 'number' },
      anchor: { default: '', type: 'string' }
    },
    required: ['number', 'document_id', 'name', 'place', 'heading', 'text', 'score'],
    type: 'object'
  },
  LibrarySummary: {
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      place: { type: 'string' },
      is_default: { type: 'boolean' },
      documents: { type: 'integer' }
    },
    required: ['id', 'name', 'place', 'is_default', 'documents'],
    type: 'object'
  },
  ListedSignIn: {
    properties: {
      name: { type: 'string' },
      host: { type: 'string' },
      state: { enum: ['offered', 'wanted', 'waiting', 'done'], type: 'string' },
      page: { default: '', type: 'string' },
      problem: { default: '', type: 'string' }
    },
    required: ['name', 'host', 'state'],
    type: 'object'
  },
  ListedTool: {
    properties: {
      name: { type: 'string' },
      kind: { type: 'string' },
      source: { type: 'string' },
      description: { type: 'string' },
      enabled: { type: 'boolean' },
      problem: { type: 'string' }
    },
    required: ['name', 'kind', 'source', 'description', 'enabled', 'problem'],
    type: 'object'
  },
  MessageAuthor: {
    properties: { id: { type: 'string' }, name: { type: 'string' } },
    required: ['id', 'name'],
    type: 'object'
  },
  MessageCall: {
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      arguments: { anyOf: [{ type: 'string' }, { type: 'null' }] }
    },
    required: ['id', 'name', 'arguments'],
    type: 'object'
  },
  Metrics: {
    properties: {
      begin: { default: 0, type: 'number' },
      end: { default: 0, type: 'number' },
      duration_seconds: { default: 0, type: 'number' },
      first_output_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      memory_delta_megabytes: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      kernel_cpu_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null }
    },
    type: 'object'
  },
  ModelAsked: {
    properties: {
      kind: { const: 'model_asked', default: 'model_asked', type: 'string' },
      step: { type: 'integer' }
    },
    required: ['step'],
    type: 'object'
  },
  ModelReplied: {
    properties: {
      message: { $ref: '#/components/schemas/AssistantMessage' },
      finish_reason: { type: 'string' },
      usage: { $ref: '#/components/schemas/Usage' },
      model: { type: 'string' },
      duration_seconds: { default: 0, type: 'number' },
      first_delta_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      attempts: { default: 1, type: 'integer' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      truncated: { default: false, type: 'boolean' },
      dropped_parameters: { default: [], items: { type: 'string' }, type: 'array' },
      kind: { const: 'model_replied', default: 'model_replied', type: 'string' }
    },
    required: ['message', 'finish_reason', 'usage', 'model'],
    type: 'object'
  },
  ModelRetrying: {
    properties: {
      attempt: { type: 'integer' },
      delay_seconds: { type: 'number' },
      reason: { type: 'string' },
      kind: { const: 'model_retrying', default: 'model_retrying', type: 'string' }
    },
    required: ['attempt', 'delay_seconds', 'reason'],
    type: 'object'
  },
  ModelSilent: {
    properties: {
      seconds: { type: 'number' },
      kind: { const: 'model_silent', default: 'model_silent', type: 'string' }
    },
    required: ['seconds'],
    type: 'object'
  },
  ModelUsage: {
    properties: {
      model: { type: 'string' },
      usage: {
        $ref: '#/components/schemas/Usage',
        default: {
          prompt_tokens: 0,
          completion_tokens: 0,
          cached_tokens: 0,
          cache_write_tokens: 0,
          reasoning_tokens: 0,
          estimated: false
        }
      }
    },
    required: ['model'],
    type: 'object'
  },
  NamedCell: {
    properties: {
      cell_id: { type: 'string' },
      cell_type: { enum: ['code', 'markdown', 'raw'], type: 'string' },
      source: { type: 'string' },
      position: { type: 'integer' },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }
    },
    required: ['cell_id', 'cell_type', 'source', 'position'],
    type: 'object'
  },
  Notice: {
    properties: {
      level: { enum: ['info', 'warning', 'error'], type: 'string' },
      text: { type: 'string' },
      action: { default: '', type: 'string' },
      code: { default: '', type: 'string' },
      contents: { default: [], items: { $ref: '#/components/schemas/Content' }, type: 'array' },
      usage: { default: [], items: { $ref: '#/components/schemas/ModelUsage' }, type: 'array' },
      kind: { const: 'notice', default: 'notice', type: 'string' }
    },
    required: ['level', 'text'],
    type: 'object'
  },
  NoticeGiven: {
    properties: {
      text: { type: 'string' },
      kind: { const: 'notice', default: 'notice', type: 'string' }
    },
    required: ['text'],
    type: 'object'
  },
  PageRequest: {
    properties: {
      request: { type: 'string' },
      chat: { type: 'string' },
      notebook: { type: 'string' },
      operation: { enum: ['cells', 'confirm'], type: 'string' },
      cell_id: { default: '', type: 'string' },
      source_hash: { default: '', type: 'string' },
      message_id: { default: '', type: 'string' },
      type: { const: 'request', default: 'request', type: 'string' }
    },
    required: ['request', 'chat', 'notebook', 'operation'],
    type: 'object'
  },
  Parameters: {
    properties: {
      model: { type: 'string' },
      temperature: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      max_output_tokens: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      extra: { additionalProperties: true, default: {}, type: 'object' }
    },
    required: ['model'],
    type: 'object'
  },
  Pong: {
    properties: {
      at: { type: 'number' },
      type: { const: 'pong', default: 'pong', type: 'string' }
    },
    required: ['at'],
    type: 'object'
  },
  PreviewOutput: {
    properties: { text: { type: 'string' }, picture: { default: '', type: 'string' } },
    required: ['text'],
    type: 'object'
  },
  ProjectTextRow: {
    properties: {
      id: { type: 'string' },
      state: { type: 'string' },
      type: { type: 'string' },
      name: { type: 'string' },
      path: { type: 'string' },
      size_bytes: { type: 'integer' },
      about: { type: 'string' },
      text: { type: 'string' },
      place: { type: 'string' }
    },
    required: ['id', 'state', 'type', 'name', 'path', 'size_bytes', 'about', 'text', 'place'],
    type: 'object'
  },
  Proposed: {
    properties: {
      id: { type: 'string' },
      action: { enum: ['add', 'update', 'delete'], type: 'string' },
      text: { type: 'string' },
      scope: { enum: ['user', 'project'], type: 'string' },
      memory_id: { type: 'string' },
      reason: { type: 'string' },
      source_run: { type: 'string' },
      created_at: { type: 'number' }
    },
    required: ['id', 'action', 'text', 'scope', 'memory_id', 'reason', 'source_run', 'created_at'],
    type: 'object'
  },
  ProviderItems: {
    properties: {
      service: { type: 'string' },
      api: { type: 'string' },
      model: { type: 'string' },
      items: { items: { additionalProperties: true, type: 'object' }, type: 'array' }
    },
    required: ['service', 'api', 'model', 'items'],
    type: 'object'
  },
  ProviderOffer: {
    properties: {
      name: { type: 'string' },
      base_url: { type: 'string' },
      example: { type: 'string' },
      model: { type: 'string' },
      needs_key: { type: 'boolean' },
      has_key: { type: 'boolean' },
      is_key_set: { type: 'boolean' },
      port: { type: 'integer' },
      models: {
        anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: 'null' }],
        default: null
      },
      has_credentials: { default: false, type: 'boolean' }
    },
    required: [
      'name',
      'base_url',
      'example',
      'model',
      'needs_key',
      'has_key',
      'is_key_set',
      'port'
    ],
    type: 'object'
  },
  QueuedPrompt: {
    properties: { id: { type: 'string' }, prompt: { type: 'string' } },
    required: ['id', 'prompt'],
    type: 'object'
  },
  ReasoningDelta: {
    properties: {
      text: { type: 'string' },
      kind: { const: 'reasoning_delta', default: 'reasoning_delta', type: 'string' }
    },
    required: ['text'],
    type: 'object'
  },
  RecordedEvent: {
    properties: {
      sequence: { type: 'integer' },
      time: { type: 'number' },
      event: {
        anyOf: [
          { $ref: '#/components/schemas/RunStarted' },
          { $ref: '#/components/schemas/StateCaptured' },
          { $ref: '#/components/schemas/ModelAsked' },
          { $ref: '#/components/schemas/TextDelta' },
          { $ref: '#/components/schemas/ReasoningDelta' },
          { $ref: '#/components/schemas/ModelRetrying' },
          { $ref: '#/components/schemas/ModelSilent' },
          { $ref: '#/components/schemas/ModelReplied' },
          { $ref: '#/components/schemas/ToolStarted' },
          { $ref: '#/components/schemas/ApprovalAsked' },
          { $ref: '#/components/schemas/ApprovalAnswered' },
          { $ref: '#/components/schemas/CellAdded' },
          { $ref: '#/components/schemas/CellEdited' },
          { $ref: '#/components/schemas/CellRemoved' },
          { $ref: '#/components/schemas/CellMoved' },
          { $ref: '#/components/schemas/CellStarted' },
          { $ref: '#/components/schemas/CellOutput' },
          { $ref: '#/components/schemas/CellFinished' },
          { $ref: '#/components/schemas/ToolFinished' },
          { $ref: '#/components/schemas/ToolProgress' },
          { $ref: '#/components/schemas/Notice' },
          { $ref: '#/components/schemas/HistoryCompacted' },
          { $ref: '#/components/schemas/RunFinished' }
        ]
      }
    },
    required: ['sequence', 'time', 'event'],
    type: 'object'
  },
  ReplyGiven: {
    properties: {
      at: { type: 'number' },
      message: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      number: { default: 0, type: 'integer' },
      model: { default: '', type: 'string' },
      finish_reason: { default: '', type: 'string' },
      usage: { additionalProperties: true, default: {}, type: 'object' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      seconds: { default: 0, type: 'number' },
      first_delta_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      attempts: { default: 1, type: 'integer' },
      kind: { const: 'reply', default: 'reply', type: 'string' }
    },
    required: ['at'],
    type: 'object'
  },
  ResultPlace: {
    properties: {
      path: { type: 'string' },
      agent: { type: 'string' },
      suite: { type: 'string' },
      size_bytes: { type: 'integer' },
      modified_at: { type: 'number' },
      state: { enum: ['done', 'going', 'unfinished'], type: 'string' },
      version: { type: 'string' }
    },
    required: ['path', 'agent', 'suite', 'size_bytes', 'modified_at', 'state', 'version'],
    type: 'object'
  },
  RunFinished: {
    properties: {
      status: {
        enum: [
          'running',
          'completed',
          'agent context limit',
          'agent validation failed',
          'agent invalid action',
          'task limit reached',
          'task error',
          'unknown',
          'cancelled'
        ],
        type: 'string'
      },
      answer: { default: '', type: 'string' },
      reason: { default: '', type: 'string' },
      cause: { default: '', type: 'string' },
      usage: {
        $ref: '#/components/schemas/Usage',
        default: {
          prompt_tokens: 0,
          completion_tokens: 0,
          cached_tokens: 0,
          cache_write_tokens: 0,
          reasoning_tokens: 0,
          estimated: false
        }
      },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      duration_seconds: { default: 0, type: 'number' },
      kind: { const: 'run_finished', default: 'run_finished', type: 'string' }
    },
    required: ['status'],
    type: 'object'
  },
  RunRow: {
    properties: {
      id: { type: 'string' },
      chat: { type: 'string' },
      status: { type: 'string' },
      cause: { type: 'string' },
      reason: { type: 'string' },
      prompt: { type: 'string' },
      model: { type: 'string' },
      lane: { type: 'string' },
      started_at: { type: 'number' },
      seconds: { type: 'number' },
      tokens: { type: 'integer' },
      is_estimated: { type: 'boolean' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }] }
    },
    required: [
      'id',
      'chat',
      'status',
      'cause',
      'reason',
      'prompt',
      'model',
      'lane',
      'started_at',
      'seconds',
      'tokens',
      'is_estimated',
      'cost_dollars'
    ],
    type: 'object'
  },
  RunStarted: {
    properties: {
      prompt: { type: 'string' },
      lane: { type: 'string' },
      mode: { type: 'string' },
      parameters: { $ref: '#/components/schemas/Parameters' },
      base_url: { default: '', type: 'string' },
      files: { default: [], items: { type: 'string' }, type: 'array' },
      limits: { additionalProperties: true, default: {}, type: 'object' },
      source_run: { default: '', type: 'string' },
      continues: { default: '', type: 'string' },
      earlier_messages: { default: 0, type: 'integer' },
      version: { default: '', type: 'string' },
      assistant: { default: '', type: 'string' },
      file_names: { default: [], items: { type: 'string' }, type: 'array' },
      adapter: { default: '', type: 'string' },
      given: { additionalProperties: { type: 'string' }, default: {}, type: 'object' },
      text_filters: {
        anyOf: [{ items: { type: 'string' }, type: 'array' }, { type: 'null' }],
        default: null
      },
      notes: { default: [], items: { type: 'string' }, type: 'array' },
      branch: {
        anyOf: [{ $ref: '#/components/schemas/BranchMark' }, { type: 'null' }],
        default: null
      },
      kind: { const: 'run_started', default: 'run_started', type: 'string' }
    },
    required: ['prompt', 'lane', 'mode', 'parameters'],
    type: 'object'
  },
  RunThumb: {
    properties: { is_up: { type: 'boolean' }, comment: { default: '', type: 'string' } },
    required: ['is_up'],
    type: 'object'
  },
  SampleCell: {
    properties: {
      id: { type: 'string' },
      origin: { type: 'string' },
      source: { type: 'string' },
      status: { default: '', type: 'string' },
      execution_count: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null },
      outputs: {
        default: [],
        items: { additionalProperties: true, type: 'object' },
        type: 'array'
      },
      error: { default: '', type: 'string' },
      seconds: { default: 0, type: 'number' },
      changed: { default: [], items: { type: 'string' }, type: 'array' },
      removed: { default: [], items: { type: 'string' }, type: 'array' },
      is_kept: { default: true, type: 'boolean' },
      files: { additionalProperties: { type: 'string' }, default: {}, type: 'object' },
      note: { default: '', type: 'string' },
      call_id: { default: '', type: 'string' },
      at: { default: 0, type: 'number' },
      cpu_seconds: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      rss_bytes: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null }
    },
    required: ['id', 'origin', 'source'],
    type: 'object'
  },
  SampleNotRun: {
    properties: {
      index: { type: 'string' },
      epoch: { type: 'integer' },
      error: { type: 'string' },
      info: { type: 'string' }
    },
    required: ['index', 'epoch', 'error', 'info'],
    type: 'object'
  },
  SampleRow: {
    properties: {
      id: { type: 'string' },
      index: { type: 'string' },
      epoch: { type: 'integer' },
      group: { type: 'string' },
      family: { type: 'string' },
      status: { type: 'string' },
      passed: { type: 'boolean' },
      is_scored: { type: 'boolean' },
      why: { type: 'string' },
      input: { type: 'string' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      seconds: { type: 'number' },
      tokens: { type: 'integer' },
      retries: { type: 'integer' }
    },
    required: [
      'id',
      'index',
      'epoch',
      'group',
      'family',
      'status',
      'passed',
      'is_scored',
      'why',
      'input',
      'cost_dollars',
      'seconds',
      'tokens',
      'retries'
    ],
    type: 'object'
  },
  SampleTask: {
    properties: {
      name: { default: '', type: 'string' },
      index: { anyOf: [{ type: 'integer' }, { type: 'string' }], default: '' },
      session: { default: '', type: 'string' },
      step: { default: 0, type: 'integer' },
      epoch: { default: 1, type: 'integer' },
      group: { default: '', type: 'string' },
      family: { default: '', type: 'string' },
      metadata: { additionalProperties: true, default: {}, type: 'object' },
      attempt: { default: 0, type: 'integer' }
    },
    type: 'object'
  },
  SampleTime: {
    properties: {
      started_at: { default: 0, type: 'number' },
      seconds: { default: 0, type: 'number' }
    },
    type: 'object'
  },
  SceneDetails: {
    properties: {
      label: { type: 'string' },
      prompt: { type: 'string' },
      when: { anyOf: [{ additionalProperties: true, type: 'object' }, { type: 'null' }] }
    },
    required: ['label', 'prompt', 'when'],
    type: 'object'
  },
  Score: {
    properties: {
      name: { type: 'string' },
      value: { anyOf: [{ type: 'number' }, { type: 'null' }] },
      passed: { type: 'boolean' },
      explanation: { default: '', type: 'string' },
      error: { default: '', type: 'string' },
      points: { default: 1, type: 'number' },
      expected: { default: '', type: 'string' },
      found: { default: '', type: 'string' },
      code: { default: '', type: 'string' },
      choice: { anyOf: [{ $ref: '#/components/schemas/Choice' }, { type: 'null' }], default: null }
    },
    required: ['name', 'value', 'passed'],
    type: 'object'
  },
  Snapshot: {
    properties: {
      snapshot_id: { type: 'string' },
      label: { type: 'string' },
      run_id: { type: 'string' },
      step: { type: 'integer' },
      is_later: { type: 'boolean' },
      taken_at: { type: 'number' },
      changes: {
        additionalProperties: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        default: {},
        type: 'object'
      }
    },
    required: ['snapshot_id', 'label', 'run_id', 'step', 'is_later', 'taken_at'],
    type: 'object'
  },
  StateCaptured: {
    properties: { kind: { const: 'state_captured', default: 'state_captured', type: 'string' } },
    type: 'object',
    required: []
  },
  StreamOutput: {
    properties: {
      name: { type: 'string' },
      text: { type: 'string' },
      kind: { const: 'stream', default: 'stream', type: 'string' }
    },
    required: ['name', 'text'],
    type: 'object'
  },
  SupersededRun: {
    properties: { run: { type: 'string' }, by: { type: 'string' } },
    required: ['run', 'by'],
    type: 'object'
  },
  TextDelta: {
    properties: {
      text: { type: 'string' },
      kind: { const: 'text_delta', default: 'text_delta', type: 'string' }
    },
    required: ['text'],
    type: 'object'
  },
  TextPart: {
    properties: {
      text: { type: 'string' },
      kind: { const: 'text', default: 'text', type: 'string' }
    },
    required: ['text'],
    type: 'object'
  },
  ToolCall: {
    properties: { id: { type: 'string' }, name: { type: 'string' }, arguments: { type: 'string' } },
    required: ['id', 'name', 'arguments'],
    type: 'object'
  },
  ToolCalled: {
    properties: {
      at: { type: 'number' },
      call_id: { type: 'string' },
      name: { type: 'string' },
      status: { default: 'ok', type: 'string' },
      decision: { default: '', type: 'string' },
      seconds: { default: 0, type: 'number' },
      arguments: {
        anyOf: [{ additionalProperties: true, type: 'object' }, { type: 'null' }],
        default: null
      },
      usage: { default: [], items: { $ref: '#/components/schemas/ModelUsage' }, type: 'array' },
      contents: { default: [], items: { $ref: '#/components/schemas/Content' }, type: 'array' },
      kind: { const: 'tool', default: 'tool', type: 'string' }
    },
    required: ['at', 'call_id', 'name'],
    type: 'object'
  },
  ToolFinished: {
    properties: {
      call_id: { type: 'string' },
      name: { type: 'string' },
      message: { $ref: '#/components/schemas/ToolMessage' },
      status: { default: 'ok', enum: ['ok', 'error', 'refused', 'cancelled'], type: 'string' },
      duration_seconds: { default: 0, type: 'number' },
      shown: { default: '', type: 'string' },
      contents: { default: [], items: { $ref: '#/components/schemas/Content' }, type: 'array' },
      metrics: {
        anyOf: [{ $ref: '#/components/schemas/Metrics' }, { type: 'null' }],
        default: null
      },
      usage: { default: [], items: { $ref: '#/components/schemas/ModelUsage' }, type: 'array' },
      kind: { const: 'tool_finished', default: 'tool_finished', type: 'string' }
    },
    required: ['call_id', 'name', 'message'],
    type: 'object'
  },
  ToolMessage: {
    properties: {
      call_id: { type: 'string' },
      name: { type: 'string' },
      parts: {
        items: {
          anyOf: [
            { $ref: '#/components/schemas/TextPart' },
            { $ref: '#/components/schemas/ImagePart' }
          ]
        },
        type: 'array'
      },
      is_error: { default: false, type: 'boolean' },
      origin: { default: '', enum: ['', 'user'], type: 'string' },
      role: { const: 'tool', default: 'tool', type: 'string' }
    },
    required: ['call_id', 'name', 'parts'],
    type: 'object'
  },
  ToolProgress: {
    properties: {
      call_id: { type: 'string' },
      text: { type: 'string' },
      fraction: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
      kind: { const: 'tool_progress', default: 'tool_progress', type: 'string' }
    },
    required: ['call_id', 'text'],
    type: 'object'
  },
  ToolStarted: {
    properties: {
      call_id: { type: 'string' },
      name: { type: 'string' },
      arguments: { additionalProperties: true, type: 'object' },
      label: { default: '', type: 'string' },
      risk: { default: '', type: 'string' },
      cells: { default: [], items: { $ref: '#/components/schemas/NamedCell' }, type: 'array' },
      kind: { const: 'tool_started', default: 'tool_started', type: 'string' }
    },
    required: ['call_id', 'name', 'arguments'],
    type: 'object'
  },
  UnusableAssistant: {
    properties: { name: { type: 'string' }, problem: { type: 'string' }, file: { type: 'string' } },
    required: ['name', 'problem', 'file'],
    type: 'object'
  },
  Usage: {
    properties: {
      prompt_tokens: { default: 0, type: 'integer' },
      completion_tokens: { default: 0, type: 'integer' },
      cached_tokens: { default: 0, type: 'integer' },
      cache_write_tokens: { default: 0, type: 'integer' },
      reasoning_tokens: { default: 0, type: 'integer' },
      estimated: { default: false, type: 'boolean' }
    },
    type: 'object'
  },
  UsageLine: {
    properties: {
      key: { type: 'string' },
      label: { type: 'string' },
      runs: { type: 'integer' },
      calls: { type: 'integer' },
      input_tokens: { type: 'integer' },
      cached_tokens: { type: 'integer' },
      output_tokens: { type: 'integer' },
      cost_dollars: { anyOf: [{ type: 'number' }, { type: 'null' }] }
    },
    required: [
      'key',
      'label',
      'runs',
      'calls',
      'input_tokens',
      'cached_tokens',
      'output_tokens',
      'cost_dollars'
    ],
    type: 'object'
  },
  Variance: {
    properties: {
      between: { type: 'number' },
      within: { type: 'number' },
      rerun_error: { type: 'number' }
    },
    required: ['between', 'within', 'rerun_error'],
    type: 'object'
  },
  Welcome: {
    properties: {
      protocol: { type: 'integer' },
      version: { type: 'string' },
      server: { type: 'string' },
      type: { const: 'welcome', default: 'welcome', type: 'string' }
    },
    required: ['protocol', 'version', 'server'],
    type: 'object'
  },
  WritablePlace: {
    properties: { place: { type: 'string' }, folder: { type: 'string' } },
    required: ['place', 'folder'],
    type: 'object'
  },
  WrittenCell: {
    properties: {
      id: { type: 'string' },
      cell_type: { type: 'string' },
      source: { type: 'string' },
      origin: { default: 'agent', type: 'string' },
      call_id: { default: '', type: 'string' },
      is_kept: { default: true, type: 'boolean' }
    },
    required: ['id', 'cell_type', 'source'],
    type: 'object'
  }
};
