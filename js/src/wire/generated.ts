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
    /** @description ``ask`` was accepted: it runs, or waits in the queue. */
    readonly Accepted: {
      readonly request: string;
      readonly chat: string;
      readonly queued: boolean;
      /** @constant */
      readonly type: 'accepted';
    };
    /** @description Somebody or the mode decided. */
    readonly ApprovalAnswered: {
      readonly call_id: string;
      readonly allowed: boolean;
      /** @description ``person``, ``mode`` or ``batch``. */
      readonly by: string;
      readonly reason: string;
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
      /** @constant */
      readonly kind: 'cell_added';
    };
    /** @description A cell's source is replaced. */
    readonly CellEdited: {
      readonly cell_id: string;
      readonly source: string;
      readonly previous_hash: string;
      readonly call_id: string;
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
      readonly input: components['schemas']['InputAsked'] | null;
      /** @description Tokens of the last request. */
      readonly context_tokens: number;
      /** @description How many the model takes; 0: not known. */
      readonly context_limit: number;
      readonly superseded: readonly components['schemas']['SupersededRun'][];
    };
    /** @description Everything shown so far goes: now, or when the next output comes (``wait``). */
    readonly ClearOutput: {
      readonly wait: boolean;
      /** @constant */
      readonly kind: 'clear_output';
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
    /** @description What a running cell's ``input()`` asks. */
    readonly InputAsked: {
      readonly request: string;
      readonly prompt: string;
      readonly password: boolean;
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
      /** @description ``cells.source_hash`` that the cell must have. */
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
    /**
     * @description What a provider sent with a reply and wants back as it was; no other one is sent it.
     *
     *     ``llm.provider_items`` makes them and puts them into requests.
     */
    readonly ProviderItems: {
      /** @description Host and port. */
      readonly service: string;
      /** @description ``chat``, ``responses`` or ``messages``. */
      readonly api: string;
      /** @description As it was asked for. */
      readonly model: string;
      readonly items: readonly JsonObject[];
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
    /** @description A run begins; written before the first request. */
    readonly RunStarted: {
      readonly prompt: string;
      /** @description Where the loop and the code run: ``magic``, ``panel``, ``cli``, ``replay``, ``bench``. */
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
      /** @constant */
      readonly kind: 'run_started';
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
    /** @description A variable of the kernel in one line. */
    readonly VariableSummary: {
      readonly name: string;
      /** @description The type's name, such as ``DataFrame``. */
      readonly type: string;
      /** @description Shape, length or a short value, such as ``320 rows x 6 columns``. */
      readonly text: string;
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
    /** @description What the person says of a call that waits for them. */
    readonly AnswerFrame: {
      readonly chat: string;
      readonly call_id: string;
      readonly allowed: boolean;
      readonly reason?: string;
      readonly for_session?: boolean;
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
    /** @description What became of an agent's cell in the document. */
    readonly CellFate: {
      readonly run: string;
      readonly cell_id: string;
      /** @enum {string} */
      readonly fate: 'saved' | 'deleted' | 'discarded';
      /** @constant */
      readonly type: 'cell_fate';
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
      | components['schemas']['CellFate']
      | components['schemas']['Ping'];
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type Accepted = components['schemas']['Accepted'];
export type ApprovalAnswered = components['schemas']['ApprovalAnswered'];
export type ApprovalAsked = components['schemas']['ApprovalAsked'];
export type AssistantMessage = components['schemas']['AssistantMessage'];
export type CaughtUp = components['schemas']['CaughtUp'];
export type CellAdded = components['schemas']['CellAdded'];
export type CellEdited = components['schemas']['CellEdited'];
export type CellFinished = components['schemas']['CellFinished'];
export type CellMoved = components['schemas']['CellMoved'];
export type CellOutput = components['schemas']['CellOutput'];
export type CellRemoved = components['schemas']['CellRemoved'];
export type CellStarted = components['schemas']['CellStarted'];
export type ChatDeleted = components['schemas']['ChatDeleted'];
export type ChatFrame = components['schemas']['ChatFrame'];
export type ChatState = components['schemas']['ChatState'];
export type ClearOutput = components['schemas']['ClearOutput'];
export type Content = components['schemas']['Content'];
export type DisplayData = components['schemas']['DisplayData'];
export type DisplayUpdate = components['schemas']['DisplayUpdate'];
export type ErrorFrame = components['schemas']['ErrorFrame'];
export type ErrorOutput = components['schemas']['ErrorOutput'];
export type EventsFrame = components['schemas']['EventsFrame'];
export type ExecuteResult = components['schemas']['ExecuteResult'];
export type Execution = components['schemas']['Execution'];
export type FileChange = components['schemas']['FileChange'];
export type HistoryCompacted = components['schemas']['HistoryCompacted'];
export type ImagePart = components['schemas']['ImagePart'];
export type InputAsked = components['schemas']['InputAsked'];
export type Metrics = components['schemas']['Metrics'];
export type ModelAsked = components['schemas']['ModelAsked'];
export type ModelReplied = components['schemas']['ModelReplied'];
export type ModelRetrying = components['schemas']['ModelRetrying'];
export type ModelSilent = components['schemas']['ModelSilent'];
export type ModelUsage = components['schemas']['ModelUsage'];
export type NamedCell = components['schemas']['NamedCell'];
export type Notice = components['schemas']['Notice'];
export type PageRequest = components['schemas']['PageRequest'];
export type Parameters = components['schemas']['Parameters'];
export type Pong = components['schemas']['Pong'];
export type ProviderItems = components['schemas']['ProviderItems'];
export type QueuedPrompt = components['schemas']['QueuedPrompt'];
export type ReasoningDelta = components['schemas']['ReasoningDelta'];
export type RecordedEvent = components['schemas']['RecordedEvent'];
export type RunFinished = components['schemas']['RunFinished'];
export type RunStarted = components['schemas']['RunStarted'];
export type StateCaptured = components['schemas']['StateCaptured'];
export type StreamOutput = components['schemas']['StreamOutput'];
export type SupersededRun = components['schemas']['SupersededRun'];
export type TextDelta = components['schemas']['TextDelta'];
export type TextPart = components['schemas']['TextPart'];
export type ToolCall = components['schemas']['ToolCall'];
export type ToolFinished = components['schemas']['ToolFinished'];
export type ToolMessage = components['schemas']['ToolMessage'];
export type ToolProgress = components['schemas']['ToolProgress'];
export type ToolStarted = components['schemas']['ToolStarted'];
export type Usage = components['schemas']['Usage'];
export type VariableSummary = components['schemas']['VariableSummary'];
export type Welcome = components['schemas']['Welcome'];
export type RunStatus = components['schemas']['RunStatus'];
export type Mode = components['schemas']['Mode'];
export type Part = components['schemas']['Part'];
export type OutputMessage = components['schemas']['OutputMessage'];
export type CellEvent = components['schemas']['CellEvent'];
export type RunEvent = components['schemas']['RunEvent'];
export type ServerFrame = components['schemas']['ServerFrame'];
export type AnswerFrame = components['schemas']['AnswerFrame'];
export type Ask = components['schemas']['Ask'];
export type Attach = components['schemas']['Attach'];
export type CellFate = components['schemas']['CellFate'];
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
export type ClientFrame = components['schemas']['ClientFrame'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;

/** Both sides speak the same one. */
export const PROTOCOL = 1;
/** What is checked when it comes. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
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
  ApprovalAnswered: {
    properties: {
      call_id: { type: 'string' },
      allowed: { type: 'boolean' },
      by: { type: 'string' },
      reason: { default: '', type: 'string' },
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
      }
    },
    required: ['id'],
    type: 'object'
  },
  ClearOutput: {
    properties: {
      wait: { default: false, type: 'boolean' },
      kind: { const: 'clear_output', default: 'clear_output', type: 'string' }
    },
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
  InputAsked: {
    properties: {
      request: { type: 'string' },
      prompt: { type: 'string' },
      password: { default: false, type: 'boolean' }
    },
    required: ['request', 'prompt'],
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
      kind: { const: 'run_started', default: 'run_started', type: 'string' }
    },
    required: ['prompt', 'lane', 'mode', 'parameters'],
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
  VariableSummary: {
    properties: { name: { type: 'string' }, type: { type: 'string' }, text: { type: 'string' } },
    required: ['name', 'type', 'text'],
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
  }
};
