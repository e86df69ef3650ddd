"""The record of a run: its events, folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from cellwright.record.cells import Cell
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    CellOutput,
    CellRemoved,
    CellStarted,
    Event,
    HistoryCompacted,
    ModelAsked,
    ModelReplied,
    ModelRetrying,
    Notice,
    ReasoningDelta,
    RunFinished,
    RunStarted,
    RunStatus,
    StateCaptured,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import Message
from cellwright.record.prompts import Manifest, Parameters
from cellwright.record.recorded_calls import RecordedCall, RecordedStep
from cellwright.record.recorded_cells import CellLog, RecordedCell, RecordedExecution
from cellwright.record.transcripts import Transcript
from cellwright.record.usage import Usage

SCHEMA = "cellwright.run/1"


@dataclass(frozen=True)
class RecordedEvent:
    """An event with what the store adds to it."""

    run_id: str
    sequence: int
    """1, 2, 3 … within the run; 0 for what is shown but not recorded."""
    time: float
    """Seconds since the epoch, UTC."""
    event: Event


class Journal(Protocol):
    """Where a run's events are written, before anything of them is shown.

    A journal belongs to one publisher, which lets one thread in at a time.
    """

    @property
    def run_id(self) -> str:
        """The run's id."""
        ...

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Write events, in one transaction; on return they are safe.

        Returns each of them, in order, with its place in the record. Never raises for a store
        that fails: the run goes on and the person is told.
        """
        ...

    def take_notices(self) -> tuple[Notice, ...]:
        """What the person should know about the record; each notice is handed out once."""
        ...


class Runs(Protocol):
    """Where runs are recorded, and read again."""

    def start(self, *events: Event) -> Journal:
        """A journal for a new run, with its first events written."""
        ...

    def record(self, run_id: str) -> RunRecord:
        """The record of a run.

        Raises:
            SetupError: There is no such run.
        """
        ...


@dataclass(frozen=True)
class RunRecord:
    """A run as a whole: what ``%agent show`` shows, exports read and benchmarks score."""

    run_id: str
    status: RunStatus
    prompt: str
    parameters: Parameters
    lane: str = ""
    mode: str = ""
    base_url: str = ""
    answer: str = ""
    reason: str = ""
    cause: str = ""
    started_at: float = 0.0
    duration_seconds: float = 0.0
    files: Mapping[str, str] = field(default_factory=dict)
    """Named files and their SHA-256."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    start_cells: tuple[Cell, ...] = ()
    start_executed: tuple[str, ...] = ()
    packages: Mapping[str, str] = field(default_factory=dict)
    kernel: Mapping[str, Any] = field(default_factory=dict)
    cwd: str = ""
    notebook_path: str = ""
    messages: tuple[Message, ...] = ()
    """The whole transcript, the system message first."""
    history_replaced_at: tuple[int, ...] = ()
    """Places in ``messages`` from which on the model was given a shortened history."""
    tools: tuple[Manifest, ...] = ()
    cells: tuple[RecordedCell, ...] = ()
    """Cells the run made or ran, in order, with full outputs."""
    executions: tuple[RecordedExecution, ...] = ()
    """Every time one of them ran, in order, the failed attempts too."""
    calls: tuple[RecordedCall, ...] = ()
    steps: tuple[RecordedStep, ...] = ()
    notices: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    source_run: str = ""
    continues: str = ""
    earlier_messages: int = 0
    """How many of ``messages`` had been said before this run's own question."""
    version: str = ""
    assistant: str = ""
    adapter: str = ""
    """How the model was talked with at first."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What the person had set for tools, by name."""
    text_filters: tuple[str, ...] | None = None
    """What was done to the person's words before they were sent, by name; None: all."""
    notes: tuple[str, ...] = ()
    """What had waited for the question, as it is shown."""
    schema: str = SCHEMA


def fold(events: Iterable[RecordedEvent]) -> RunRecord:
    """The record of one run.

    Works on any prefix of the events: a run without ``RunFinished`` has the status ``running``,
    which the store turns into an interrupted one when its process is gone.
    """
    folding = _Folding()
    for recorded in events:
        folding.add(recorded)
    return folding.record()


class _Folding:
    """The state of a fold; every event kind has one method."""

    def __init__(self) -> None:
        self.head = RunRecord("", "running", "", Parameters(""))
        self.last_time = 0.0
        self.finished: RunFinished | None = None
        self.transcript = Transcript()
        self.cells = CellLog()
        self.calls: list[RecordedCall] = []
        self.steps: list[RecordedStep] = []
        self.notices: list[str] = []
        self.usage_of_tools = Usage()
        self.step = 0
        self.asked_at = 0.0
        self.waited_seconds = 0.0
        """How long the user was waited for; counts in a run that has no end of its own."""

    def add(self, recorded: RecordedEvent) -> None:
        if not self.head.run_id:
            self.head = replace(self.head, run_id=recorded.run_id, started_at=recorded.time)
        self.last_time = recorded.time
        take = _METHODS.get(type(recorded.event))
        if take is not None:
            take(self, recorded.event)

    def record(self) -> RunRecord:
        usage = sum((step.usage for step in self.steps), self.usage_of_tools)
        costs = [step.cost_dollars for step in self.steps if step.cost_dollars is not None]
        record = replace(
            self.head,
            duration_seconds=max(0.0, self.last_time - self.head.started_at - self.waited_seconds),
            messages=self.transcript.messages(),
            history_replaced_at=tuple(self.transcript.replaced_at),
            cells=self.cells.cells(),
            executions=self.cells.executions(),
            calls=tuple(self.calls),
            steps=tuple(self.steps),
            notices=tuple(self.notices),
            usage=usage,
            cost_dollars=sum(costs) if costs else None,
        )
        return record if self.finished is None else _ended(record, self.finished)

    def run_started(self, event: RunStarted) -> None:
        self.head = replace(
            self.head,
            prompt=event.prompt,
            parameters=event.parameters,
            lane=event.lane,
            mode=event.mode,
            base_url=event.base_url,
            files=dict.fromkeys(event.files, ""),
            limits=event.limits,
            source_run=event.source_run,
            continues=event.continues,
            earlier_messages=event.earlier_messages,
            version=event.version,
            adapter=event.adapter,
            assistant=event.assistant,
            given=event.given,
            text_filters=event.text_filters,
            notes=event.notes,
        )

    def state_captured(self, event: StateCaptured) -> None:
        self.cells.known(event.cells)
        self.head = replace(
            self.head,
            start_cells=event.cells,
            start_executed=event.executed,
            packages=event.packages,
            files={**self.head.files, **event.files},
            cwd=event.cwd,
            kernel=event.kernel,
            notebook_path=event.notebook_path,
        )

    def model_asked(self, event: ModelAsked) -> None:
        self.step = event.step
        self.transcript.asked(event.messages, replaces_history=event.replaces_history)
        if event.tools:
            self.head = replace(self.head, tools=event.tools)

    def text_delta(self, event: TextDelta) -> None:
        self.transcript.streamed(text=event.text)

    def reasoning_delta(self, event: ReasoningDelta) -> None:
        self.transcript.streamed(reasoning=event.text)

    def model_retrying(self, event: ModelRetrying) -> None:
        self.transcript.forget_partial()

    def model_replied(self, event: ModelReplied) -> None:
        self.transcript.said(event.message)
        self.steps.append(
            RecordedStep(
                number=self.step,
                model=event.model,
                finish_reason=event.finish_reason,
                usage=event.usage,
                cost_dollars=event.cost_dollars,
                duration_seconds=event.duration_seconds,
                attempts=event.attempts,
                first_delta_seconds=event.first_delta_seconds,
                ended_at=self.last_time,
            )
        )

    def tool_started(self, event: ToolStarted) -> None:
        self.cells.call_id = event.call_id
        call = RecordedCall(event.call_id, event.name, event.arguments, "running")
        self.calls.append(replace(call, started_at=self.last_time))

    def approval_asked(self, event: ApprovalAsked) -> None:
        self.asked_at = self.last_time
        self._change_call(event.call_id, decision=f"asked: {event.reason}")

    def approval_answered(self, event: ApprovalAnswered) -> None:
        self.waited_seconds += self.last_time - (self.asked_at or self.last_time)
        self.asked_at = 0.0
        word = "allowed" if event.allowed else "refused"
        reason = f": {event.reason}" if event.reason else ""
        self._change_call(event.call_id, decision=f"{word} by {event.by}{reason}")

    def tool_finished(self, event: ToolFinished) -> None:
        self.cells.call_id = ""
        self.transcript.said(event.message)
        self.usage_of_tools = sum((item.usage for item in event.usage), self.usage_of_tools)
        self._change_call(
            event.call_id,
            status=event.status,
            duration_seconds=event.duration_seconds,
            usage=event.usage,
            contents=event.contents,
        )

    def notice(self, event: Notice) -> None:
        self.notices.append(f"{event.text} {event.action}".strip())

    def history_compacted(self, event: HistoryCompacted) -> None:
        self.transcript.asked(event.messages, replaces_history=True)

    def run_finished(self, event: RunFinished) -> None:
        self.finished = event

    def cell_added(self, event: CellAdded) -> None:
        self.cells.added(event.cell_id, event.source, event.cell_type, event.call_id)

    def cell_edited(self, event: CellEdited) -> None:
        self.cells.edited(event.cell_id, event.source, event.call_id)

    def cell_removed(self, event: CellRemoved) -> None:
        self.cells.removed(event.cell_id)

    def cell_started(self, event: CellStarted) -> None:
        self.cells.started(event.cell_id, self.last_time)

    def cell_output(self, event: CellOutput) -> None:
        self.cells.sent(event.cell_id, event.message, self.last_time)

    def cell_finished(self, event: CellFinished) -> None:
        self.waited_seconds += event.execution.waited_seconds
        self.cells.finished(event.cell_id, event.execution)

    def _change_call(self, call_id: str, **changes: Any) -> None:
        for index in range(len(self.calls) - 1, -1, -1):
            if self.calls[index].call_id == call_id:
                self.calls[index] = replace(self.calls[index], **changes)
                return


def _ended(record: RunRecord, event: RunFinished) -> RunRecord:
    return replace(
        record,
        status=event.status,
        answer=event.answer,
        reason=event.reason,
        cause=event.cause,
        duration_seconds=event.duration_seconds or record.duration_seconds,
        usage=record.usage if record.steps else event.usage,
        # The run's own end knows what tools cost, too.
        cost_dollars=record.cost_dollars if event.cost_dollars is None else event.cost_dollars,
    )


_METHODS: dict[type, Callable[[_Folding, Any], None]] = {
    RunStarted: _Folding.run_started,
    StateCaptured: _Folding.state_captured,
    ModelAsked: _Folding.model_asked,
    TextDelta: _Folding.text_delta,
    ReasoningDelta: _Folding.reasoning_delta,
    ModelRetrying: _Folding.model_retrying,
    ModelReplied: _Folding.model_replied,
    ToolStarted: _Folding.tool_started,
    ApprovalAsked: _Folding.approval_asked,
    ApprovalAnswered: _Folding.approval_answered,
    CellAdded: _Folding.cell_added,
    CellEdited: _Folding.cell_edited,
    CellRemoved: _Folding.cell_removed,
    CellStarted: _Folding.cell_started,
    CellOutput: _Folding.cell_output,
    CellFinished: _Folding.cell_finished,
    ToolFinished: _Folding.tool_finished,
    Notice: _Folding.notice,
    HistoryCompacted: _Folding.history_compacted,
    RunFinished: _Folding.run_finished,
}
