"""What a run emits, in order: a tagged union of frozen values.

They are folded into a run's record (``run_record.fold``); ids, numbers and times are the store's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.record.content import Content, Metrics
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    Message,
    ModelUsage,
    Parameters,
    ToolMessage,
    Usage,
)
from cellwright.record.outputs import Cell, CellType, Execution, Output, OutputMessage

RunStatus = Literal[
    "running",
    "completed",
    "agent context limit",
    "agent validation failed",
    "agent invalid action",
    "task limit reached",
    "task error",
    "unknown",
    "cancelled",
]
"""AgentBench's sample statuses, with ``cancelled`` added (requirements table 2b)."""


@dataclass(frozen=True)
class BranchMark:
    """Which of several attempts from the same state a run is."""

    group: str
    """The same for all of them."""
    number: int
    """From 1."""
    count: int
    """How many there were."""
    label: str = ""
    """What is special about it, such as its model; empty: nothing."""


@dataclass(frozen=True)
class RunStarted:
    """A run begins; written before the first request."""

    prompt: str
    lane: str
    """Where the loop and the code run: ``magic``, ``panel``, ``cli``, ``replay``, ``bench``, or in
    a copy of the live kernel: ``branch``; ``judge`` runs none and chooses one of those."""
    mode: str
    """``plan``, ``ask``, ``edits`` or ``auto``."""
    parameters: Parameters
    base_url: str = ""
    """Host and path of the service; never a key."""
    files: tuple[str, ...] = ()
    limits: Mapping[str, Any] = field(default_factory=dict)
    source_run: str = ""
    """The run this one replays or runs again."""
    continues: str = ""
    """The run whose conversation goes on here."""
    earlier_messages: int = 0
    """How many messages had been said before this run's own question."""
    version: str = ""
    """cellwright's version."""
    assistant: str = ""
    """Name of the assistant that was chosen; empty: none was."""
    file_names: tuple[str, ...] = ()
    """What the person calls ``files``, in their order; empty: as they are named there."""
    adapter: str = ""
    """How the model is talked with at first, such as ``native``; empty: an older record."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What the person set for tools, by name."""
    text_filters: tuple[str, ...] | None = None
    """What is done to the person's words before they are sent, by name; None: all there is."""
    notes: tuple[str, ...] = ()
    """What waited for the question and is shown with it; the messages have all of it."""
    branch: BranchMark | None = None
    """None: there was one attempt alone."""
    kind: Literal["run_started"] = field(default="run_started", init=False)


@dataclass(frozen=True)
class StateCaptured:
    """The state the run starts from: enough to start again from the same place."""

    cells: tuple[Cell, ...] = ()
    """The notebook as it was, where there is one."""
    executed: tuple[str, ...] = ()
    """Source of the cells the person had run in this kernel, in order."""
    packages: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """SHA-256 of each named file."""
    cwd: str = ""
    kernel: Mapping[str, Any] = field(default_factory=dict)
    notebook_path: str = ""
    kind: Literal["state_captured"] = field(default="state_captured", init=False)


@dataclass(frozen=True)
class ModelAsked:
    """A request is about to go out; carries only what the history grew by."""

    step: int
    messages: tuple[Message, ...]
    """Messages added since the last request; the first one carries all of them."""
    tools: tuple[Manifest, ...] = ()
    """The tools, on the first request of a run."""
    replaces_history: bool = False
    """True when ``messages`` is the whole history anew (compaction, summary turn)."""
    kind: Literal["model_asked"] = field(default="model_asked", init=False)


@dataclass(frozen=True)
class TextDelta:
    """More text of the reply."""

    text: str
    kind: Literal["text_delta"] = field(default="text_delta", init=False)


@dataclass(frozen=True)
class ReasoningDelta:
    """More of the thinking a provider shows."""

    text: str
    kind: Literal["reasoning_delta"] = field(default="reasoning_delta", init=False)


@dataclass(frozen=True)
class ModelRetrying:
    """A request failed and is sent again after a wait; deltas shown so far are void."""

    attempt: int
    delay_seconds: float
    reason: str
    kind: Literal["model_retrying"] = field(default="model_retrying", init=False)


@dataclass(frozen=True)
class ModelSilent:
    """No data came for a while; display only, not recorded."""

    seconds: float
    kind: Literal["model_silent"] = field(default="model_silent", init=False)


@dataclass(frozen=True)
class ModelReplied:
    """A whole reply is there."""

    message: AssistantMessage
    finish_reason: str
    usage: Usage
    model: str
    duration_seconds: float = 0.0
    first_delta_seconds: float | None = None
    attempts: int = 1
    cost_dollars: float | None = None
    truncated: bool = False
    dropped_parameters: tuple[str, ...] = ()
    kind: Literal["model_replied"] = field(default="model_replied", init=False)


@dataclass(frozen=True)
class NamedCell:
    """A cell that a call names, as it was when the person was asked about the call."""

    cell_id: str
    cell_type: CellType
    source: str
    position: int
    """From 1."""
    execution_count: int | None = None

    @property
    def name(self) -> str:
        """As the person finds it: by the number beside it, else by its place."""
        if self.execution_count is not None:
            return f"[{self.execution_count}]"
        return f"no. {self.position}"


@dataclass(frozen=True)
class ToolStarted:
    """A call the model asked for is looked at; it may still be refused."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    label: str = ""
    """What it does, in words for people."""
    risk: str = ""
    cells: tuple[NamedCell, ...] = ()
    """Those it changes, deletes or puts something behind; only where the person is asked."""
    kind: Literal["tool_started"] = field(default="tool_started", init=False)


@dataclass(frozen=True)
class ApprovalAsked:
    """The person has to allow a call before it runs."""

    call_id: str
    reason: str
    kind: Literal["approval_asked"] = field(default="approval_asked", init=False)


@dataclass(frozen=True)
class ApprovalAnswered:
    """Somebody or the mode decided."""

    call_id: str
    allowed: bool
    by: str
    """``person``, ``mode`` or ``batch``."""
    reason: str = ""
    previewed: bool = False
    """Whoever decided had tried the call in a copy of the kernel before."""
    adopted: bool = False
    """They kept the result of that instead of letting the call run its code again."""
    kind: Literal["approval_answered"] = field(default="approval_answered", init=False)

    @property
    def after(self) -> str:
        """What the person had seen before, in words that follow a verb; empty: no preview."""
        if self.adopted:
            return " with the result of its preview"
        return " after a preview" if self.previewed else ""


@dataclass(frozen=True)
class CellAdded:
    """A cell comes into being."""

    cell_id: str
    source: str
    cell_type: CellType = "code"
    after: str = ""
    """Id of the cell it follows; empty: at the end."""
    call_id: str = ""
    is_scratch: bool = False
    """It is run and recorded, and no notebook shows it."""
    kind: Literal["cell_added"] = field(default="cell_added", init=False)


@dataclass(frozen=True)
class CellEdited:
    """A cell's source is replaced, or what it shows."""

    cell_id: str
    source: str
    previous_hash: str
    call_id: str = ""
    outputs: tuple[Output, ...] | None = None
    """What it shows from now on; None: what it did before."""
    execution_count: int | None = None
    """Stands beside ``outputs``."""
    kind: Literal["cell_edited"] = field(default="cell_edited", init=False)


@dataclass(frozen=True)
class CellRemoved:
    """A cell is taken out."""

    cell_id: str
    previous_hash: str
    call_id: str = ""
    kind: Literal["cell_removed"] = field(default="cell_removed", init=False)


@dataclass(frozen=True)
class CellMoved:
    """A cell goes to another place."""

    cell_id: str
    after: str = ""
    """Id of the cell it follows now; empty: at the start."""
    call_id: str = ""
    kind: Literal["cell_moved"] = field(default="cell_moved", init=False)


@dataclass(frozen=True)
class CellStarted:
    """A cell begins to run."""

    cell_id: str
    kind: Literal["cell_started"] = field(default="cell_started", init=False)


@dataclass(frozen=True)
class CellOutput:
    """A running cell sent something (or an earlier one did, late)."""

    cell_id: str
    message: OutputMessage
    kind: Literal["cell_output"] = field(default="cell_output", init=False)


@dataclass(frozen=True)
class CellFinished:
    """A cell ended."""

    cell_id: str
    execution: Execution
    kind: Literal["cell_finished"] = field(default="cell_finished", init=False)


@dataclass(frozen=True)
class ToolFinished:
    """The one result of a call, as the model will read it."""

    call_id: str
    name: str
    message: ToolMessage
    status: Literal["ok", "error", "refused", "cancelled"] = "ok"
    duration_seconds: float = 0.0
    shown: str = ""
    """What is for the person and not for the model, as plain text."""
    contents: tuple[Content, ...] = ()
    """What is for the person as typed pieces; empty where ``shown`` says all there is."""
    metrics: Metrics | None = None
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of models that the tool itself asked."""
    kind: Literal["tool_finished"] = field(default="tool_finished", init=False)


@dataclass(frozen=True)
class ToolProgress:
    """A tool that takes long says how far it is; neither an answer nor sent to the model."""

    call_id: str
    text: str
    fraction: float | None = None
    """From 0 to 1, where it is known."""
    kind: Literal["tool_progress"] = field(default="tool_progress", init=False)


@dataclass(frozen=True)
class Notice:
    """Something the person should know; ``action`` says what to do."""

    level: Literal["info", "warning", "error"]
    text: str
    action: str = ""
    code: str = ""
    """A short name for programs, such as ``context_truncated``."""
    contents: tuple[Content, ...] = ()
    """What it is about, such as the sources that stand beside a question."""
    usage: tuple[ModelUsage, ...] = ()
    kind: Literal["notice"] = field(default="notice", init=False)


COMPACT_PROMPT = "/compact"
SUMMARY_PROMPT = "/summary"
"""What runs are recorded as having been asked that shorten a conversation and ask no model."""


@dataclass(frozen=True)
class HistoryCompacted:
    """The conversation was made shorter between two of its answers."""

    messages: tuple[Message, ...]
    """What is left of it: the next request begins with these."""
    tokens_before: int
    """Of the last request."""
    tokens_after: int
    """About what is left of them."""
    summary: str = ""
    """What stands for the turns that are left out; a person may have changed it."""
    kind: Literal["history_compacted"] = field(default="history_compacted", init=False)


@dataclass(frozen=True)
class RunFinished:
    """The run is over."""

    status: RunStatus
    answer: str = ""
    reason: str = ""
    """Why, in plain words; empty for a plain ``completed``."""
    cause: str = ""
    """A short name for programs: ``step_limit``, ``stopped``, ``kernel_died``, ``refused`` …"""
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    duration_seconds: float = 0.0
    kind: Literal["run_finished"] = field(default="run_finished", init=False)


CellEvent = (
    CellAdded | CellEdited | CellRemoved | CellMoved | CellStarted | CellOutput | CellFinished
)

Event = (
    RunStarted
    | StateCaptured
    | ModelAsked
    | TextDelta
    | ReasoningDelta
    | ModelRetrying
    | ModelSilent
    | ModelReplied
    | ToolStarted
    | ApprovalAsked
    | ApprovalAnswered
    | CellAdded
    | CellEdited
    | CellRemoved
    | CellMoved
    | CellStarted
    | CellOutput
    | CellFinished
    | ToolFinished
    | ToolProgress
    | Notice
    | HistoryCompacted
    | RunFinished
)


# The JSON Schema of what a run emits.


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an event."""
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(Event)
    schema: dict[str, Any] = adapter.json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return schema
