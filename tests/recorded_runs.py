"""Runs to store, fold and export: real shapes, small sizes."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelAsked,
    ModelReplied,
    Notice,
    RunFinished,
    RunStarted,
    StateCaptured,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    Message,
    Parameters,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from cellwright.record.outputs import (
    Cell,
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    OutputMessage,
    StreamOutput,
)
from cellwright.record.run_record import RecordedEvent, RunRecord, fold

RUN_ID = "20261121-093015-ab12cd"
START = 1_795_253_415.0
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
SYSTEM = SystemMessage("You work in a notebook.")
RUN_CELL = Manifest("run_cell", "Run code.", {"type": "object"})
LOAD = "import pandas as pd\ndf = pd.read_csv('sales.csv')"
WRONG = "df.groupby('regoin')['revenue'].sum()"
RIGHT = "best = df.groupby('region')['revenue'].sum()\nbest"
WRONG_ERROR = ErrorOutput("KeyError", "'regoin'", ("\x1b[31mKeyError\x1b[0m: 'regoin'",))


def recorded(events: Iterable[Event], run_id: str = RUN_ID) -> list[RecordedEvent]:
    """The events as a store hands them back, one second apart."""
    return [
        RecordedEvent(run_id, number, START + number - 1, event)
        for number, event in enumerate(events, start=1)
    ]


def record_of(events: Iterable[Event]) -> RunRecord:
    """The record of a run with these events."""
    return fold(recorded(events))


def started(prompt: str = "Which region sold most?") -> RunStarted:
    """The first event of a run."""
    return RunStarted(
        prompt,
        "magic",
        "auto",
        Parameters("demo-analyst"),
        base_url="http://127.0.0.1:8000/v1",
        files=("sales.csv",),
        limits={"step_limit": 12},
        version="0.1.0",
    )


def user(text: str) -> UserMessage:
    """What a person says."""
    return UserMessage((TextPart(text),))


def replied(message: AssistantMessage, number: int = 1) -> ModelReplied:
    """A whole reply."""
    reason = "tool_calls" if message.tool_calls else "stop"
    usage = Usage(100 * number, 10, 50)
    return ModelReplied(message, reason, usage, "demo-analyst-1", 0.5, 0.1, 1, 0.001)


def called(call_id: str, name: str = "run_cell", arguments: str = "{}") -> AssistantMessage:
    """A reply that asks for one tool."""
    return AssistantMessage("", (ToolCall(call_id, name, arguments),))


def result(call_id: str, text: str, name: str = "run_cell") -> ToolMessage:
    """The one answer to a call."""
    return ToolMessage(call_id, name, (TextPart(text),))


def cell_run(
    call_id: str,
    cell_id: str,
    source: str,
    *messages: OutputMessage,
    status: str = "ok",
    edits: bool = False,
) -> list[Event]:
    """A tool call that runs a cell, from ToolStarted to ToolFinished."""
    error = next((m for m in messages if isinstance(m, ErrorOutput)), None)
    begin: Event = CellAdded(cell_id, source, call_id=call_id)
    if edits:
        begin = CellEdited(cell_id, source, "0" * 16, call_id)
    return [
        ToolStarted(call_id, "run_cell", {"code": source}, "run a cell", "run"),
        begin,
        CellStarted(cell_id),
        *(CellOutput(cell_id, message) for message in messages),
        CellFinished(cell_id, Execution(status, 0.25, error)),  # type: ignore[arg-type]
        ToolFinished(call_id, "run_cell", result(call_id, "seen"), "ok", 0.3),
    ]


def analysis_run() -> list[Event]:
    """A run with a failed attempt, its repair, a table and a picture."""
    table = ExecuteResult({"text/plain": "region\nnorth 10", "text/html": "<table></table>"})
    first: tuple[Message, ...] = (SYSTEM, user("Which region sold most?"))
    loading = cell_run("c1", "cell-1", LOAD, StreamOutput("stdout", "320 rows\n"))
    loading[1:1] = [ApprovalAsked("c1", "it runs code"), ApprovalAnswered("c1", True, "mode")]
    load = AssistantMessage("I load the file.", (ToolCall("c1", "run_cell", "{}"),))
    return [
        started(),
        StateCaptured(
            cells=(Cell("own", "code", "x = 1"),),
            executed=("x = 1",),
            packages={"pandas": "3.1.1"},
            files={"sales.csv": "ab" * 32},
            cwd="folder",
            kernel={"language": "python", "version": "3.11"},
        ),
        ModelAsked(1, first, (RUN_CELL,)),
        TextDelta("I load "),
        TextDelta("the file."),
        replied(load),
        *loading,
        ModelAsked(2, (load, result("c1", "seen"))),
        replied(called("c2"), 2),
        *cell_run("c2", "cell-2", WRONG, WRONG_ERROR, status="error"),
        ModelAsked(3, (called("c2"), result("c2", "seen"))),
        replied(called("c3"), 3),
        *cell_run("c3", "cell-2", RIGHT, table, DisplayData({"image/png": PIXEL}), edits=True),
        ModelAsked(4, (called("c3"), result("c3", "seen"))),
        TextDelta("North sold most."),
        replied(AssistantMessage("North sold **most**."), 4),
        Notice("info", "One file was read.", "See the list.", "files"),
        RunFinished("completed", "North sold **most**.", duration_seconds=12.5),
    ]


def twelve_events() -> list[Event]:
    """A run with a cell, a large picture, and an answer."""
    large = DisplayData({"image/png": "A" * 100_000})
    return [
        started(),
        StateCaptured(executed=("x = 1",)),
        ModelAsked(1, (SYSTEM, user("go")), (RUN_CELL,)),
        TextDelta("I load"),
        replied(called("c1")),
        *cell_run("c1", "cell-1", LOAD, StreamOutput("stdout", "320 rows\n"), large)[:-1],
        RunFinished("completed", "done"),
    ]
