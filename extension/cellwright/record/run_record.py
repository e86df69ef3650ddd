"""The record of a run: its events, folded."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from cellwright.record import outputs
from cellwright.record.choices import Choice
from cellwright.record.content import Content
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    BranchMark,
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
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    Message,
    ModelUsage,
    Parameters,
    ToolMessage,
    Usage,
)
from cellwright.record.outputs import (
    PROVENANCE,
    Cell,
    CellType,
    DisplayData,
    DisplayUpdate,
    ExecuteResult,
    Execution,
    Output,
    OutputMessage,
    source_hash,
)
from cellwright.text.cleaning import plain_text

# The whole conversation of a run, put together from what each request added to it.


class Transcript:
    """Takes requests, pieces of replies, replies and tool results, in order.

    A request carries what the history grew by since the last one, the last reply and its tool
    results included; so these count only as long as no request has repeated them.
    """

    def __init__(self) -> None:
        self.replaced_at: list[int] = []
        """Where a request brought a whole new history."""
        self._asked: list[Message] = []
        self._since: list[Message] = []
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._is_void = False

    def asked(self, messages: Iterable[Message], *, replaces_history: bool) -> None:
        """A request went out."""
        self.forget_partial()
        if replaces_history:
            self._asked += self._since
            self.replaced_at.append(len(self._asked))
            messages = _without(messages, self._asked)
        else:
            messages = tuple(messages)
            self._asked += _without(self._since, messages)
        self._asked += messages
        self._since = []

    def streamed(self, *, text: str = "", reasoning: str = "") -> None:
        """A piece of a reply came."""
        if self._is_void:
            self.forget_partial()
        self._text.append(text)
        self._reasoning.append(reasoning)

    def retried(self) -> None:
        """The reply is asked for again; where nothing more comes, its pieces are all there is."""
        self._is_void = True

    def forget_partial(self) -> None:
        """The pieces since the last request are void."""
        self._text = []
        self._reasoning = []
        self._is_void = False

    def said(self, message: Message) -> None:
        """A whole reply or a tool result came."""
        self.forget_partial()
        self._since.append(message)

    def messages(self) -> tuple[Message, ...]:
        """Everything so far; a reply that broke off is the last message."""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        partial = [AssistantMessage(text, reasoning=reasoning)] if text or reasoning else []
        return (*self._asked, *self._since, *partial)


def _without(messages: Iterable[Message], known: Iterable[Message]) -> list[Message]:
    identities = {_identity(message) for message in known}
    return [message for message in messages if _identity(message) not in identities]


def _identity(message: Message) -> object:
    # A tool result that was cut to make room is still the result of its call.
    return message.call_id if isinstance(message, ToolMessage) else message


# Calls of tools and replies of the model in a run, put together from what was reported.


@dataclass(frozen=True)
class RecordedCall:
    """A tool call with its decision and its one result."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    status: str
    """``ok``, ``error``, ``refused``, ``cancelled`` or ``running``."""
    decision: str = ""
    """Who allowed or refused it, and why."""
    duration_seconds: float = 0.0
    started_at: float = 0.0
    """Seconds since the epoch."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of models that the tool itself asked."""
    contents: tuple[Content, ...] = ()
    """What it said to the person, as typed pieces."""


@dataclass(frozen=True)
class RecordedStep:
    """One model reply and what it cost."""

    number: int
    model: str
    finish_reason: str
    usage: Usage
    cost_dollars: float | None
    duration_seconds: float
    attempts: int
    first_delta_seconds: float | None = None
    ended_at: float = 0.0
    """Seconds since the epoch."""


# The cells of a run and every time one of them ran, put together from what was reported.


HUMAN_EDIT = "human-edit"


@dataclass(frozen=True)
class RecordedCell:
    """A cell of the run as it was in the end."""

    cell: Cell
    origin: str
    """``agent``, ``user``, or ``human-edit`` of what an agent wrote and a person changed."""
    execution: Execution | None = None
    """How its last execution ended; None: it never ran, or it had not ended."""
    call_id: str = ""
    started_at: float | None = None
    """Seconds since the epoch."""
    is_removed: bool = False
    """It was taken out of the notebook again."""


@dataclass(frozen=True)
class RecordedExecution:
    """One time a cell ran, with the source it had then: a repaired cell has several."""

    cell_id: str
    source: str
    origin: str
    """``agent``, ``user``, or ``human-edit`` of what an agent wrote and a person changed."""
    outputs: tuple[Output, ...] = ()
    execution: Execution | None = None
    """None: it had not ended when the record stops."""
    call_id: str = ""
    started_at: float = 0.0
    """Seconds since the epoch."""

    @property
    def code_done(self) -> str:
        """The source as far as it ran: of a cell that failed, what stands above the error.

        Later cells may need what those did. Empty where it is not known how far a cell came.
        """
        if self.execution is None:
            return ""
        return self.source if self.execution.status == "ok" else _done(self.source, self.execution)


CELL_LINE = re.compile(r"^Cell In\[(\d+)\], line (\d+)", re.M)
"""Where IPython says in a traceback which line of which cell it is about."""


def _done(source: str, failed: Execution) -> str:
    frames = plain_text("\n".join(failed.error.traceback)) if failed.error is not None else ""
    own = failed.execution_count
    # A function that the cell defines stands above the line that calls it.
    lines = [int(line) for count, line in CELL_LINE.findall(frames) if own in (None, int(count))]
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError):  # magics, or a text that never ran
        return ""
    ends = [each.end_lineno or 0 for each in statements]
    last = max((end for end in ends if end < max(lines, default=0)), default=0)
    return "\n".join(source.split("\n")[:last])


@dataclass
class _Run:
    """An execution while its messages are still coming."""

    start: RecordedExecution
    messages: list[OutputMessage] = field(default_factory=list)

    def value(self) -> RecordedExecution:
        return replace(self.start, outputs=outputs.fold(self.messages))


def _origin(cell: Cell) -> str:
    """Who wrote a cell that was there before the run: what an agent wrote has its hash."""
    made = cell.metadata.get(PROVENANCE)
    written = made.get("hash") if isinstance(made, Mapping) else None
    if not isinstance(written, str) or not written:
        return "user"
    return "agent" if written == source_hash(cell.source) else HUMAN_EDIT


class CellLog:
    """Takes what happened to cells, in order, and tells what they are by then."""

    def __init__(self) -> None:
        self.call_id = ""
        """The tool call that is being answered."""
        self._cells: dict[str, RecordedCell] = {}
        self._start: dict[str, Cell] = {}
        self._runs: list[_Run] = []
        self._last_run: dict[str, _Run] = {}
        self._shown: dict[str, list[_Run]] = {}

    def known(self, cells: Iterable[Cell]) -> None:
        """Take the cells that were there before the run."""
        self._start.update((cell.id, cell) for cell in cells)

    def added(self, cell_id: str, source: str, cell_type: CellType, call_id: str) -> None:
        """A cell came into being."""
        cell = Cell(cell_id, cell_type, source)
        self._cells[cell_id] = RecordedCell(cell, "agent", call_id=call_id or self.call_id)

    def edited(self, event: CellEdited) -> None:
        """A cell's source was replaced, or what it shows."""
        known = self._known(event.cell_id)
        cell = replace(known.cell, source=event.source)
        if event.outputs is not None:
            # What it showed when it ran stays with that execution.
            self._last_run.pop(event.cell_id, None)
            cell = replace(cell, outputs=event.outputs, execution_count=event.execution_count)
        is_new = known.cell.source != event.source
        origin = "agent" if is_new and known.origin == HUMAN_EDIT else known.origin
        call_id = event.call_id or self.call_id
        self._cells[event.cell_id] = replace(known, cell=cell, origin=origin, call_id=call_id)

    def removed(self, cell_id: str) -> None:
        """A cell was taken out."""
        self._cells[cell_id] = replace(self._known(cell_id), is_removed=True)

    def started(self, cell_id: str, time: float) -> None:
        """A cell began to run: what it showed before is gone."""
        known = self._known(cell_id)
        call_id = self.call_id or known.call_id
        self._cells[cell_id] = replace(known, call_id=call_id, started_at=time, execution=None)
        run = _Run(
            RecordedExecution(
                cell_id, known.cell.source, known.origin, call_id=call_id, started_at=time
            )
        )
        self._runs.append(run)
        self._last_run[cell_id] = run

    def sent(self, cell_id: str, message: OutputMessage, time: float) -> None:
        """A cell sent something, during its run or late."""
        if cell_id not in self._last_run:
            self.started(cell_id, time)
        run = self._last_run[cell_id]
        if isinstance(message, DisplayUpdate):
            for holder in self._shown.get(message.display_id, [run]):
                holder.messages.append(message)
            return
        run.messages.append(message)
        if isinstance(message, (DisplayData, ExecuteResult)) and message.display_id:
            holders = self._shown.setdefault(message.display_id, [])
            if not any(holder is run for holder in holders):
                holders.append(run)

    def finished(self, cell_id: str, execution: Execution) -> None:
        """A cell's run ended."""
        self._cells[cell_id] = replace(self._known(cell_id), execution=execution)
        run = self._last_run.get(cell_id)
        if run is not None:
            run.start = replace(run.start, execution=execution)

    def executions(self) -> tuple[RecordedExecution, ...]:
        """Every execution so far, in order."""
        return tuple(run.value() for run in self._runs)

    def cells(self) -> tuple[RecordedCell, ...]:
        """Every cell touched so far, in order, as it is by now."""
        return tuple(self._cell(recorded) for recorded in self._cells.values())

    def _known(self, cell_id: str) -> RecordedCell:
        if cell_id not in self._cells:
            cell = self._start.get(cell_id) or Cell(cell_id, "code", "")
            self._cells[cell_id] = RecordedCell(cell, _origin(cell))
        return self._cells[cell_id]

    def _cell(self, recorded: RecordedCell) -> RecordedCell:
        run = self._last_run.get(recorded.cell.id)
        if run is None:
            return recorded
        count = recorded.execution.execution_count if recorded.execution else None
        cell = replace(recorded.cell, outputs=run.value().outputs, execution_count=count)
        return replace(recorded, cell=cell)


# What a run is worth, by checks and by people; it is given when the run is over.


@dataclass(frozen=True)
class Score:
    """What one check found, or what a person thinks of a run."""

    name: str
    value: float | None
    """From 0 to 1; None: the check itself failed, so nothing is known."""
    passed: bool
    explanation: str = ""
    error: str = ""
    """Why the check could not be made."""
    points: float = 1.0
    """What it counts."""
    expected: str = ""
    """What should be, in a few words or as code."""
    found: str = ""
    """What was there instead, where the explanation does not say it."""
    code: str = ""
    """The cell that makes the check again (``exports.grading``); empty: nobody can."""
    choice: Choice | None = None
    """Of what the run was chosen; only the score ``chosen`` has it."""

    @property
    def earned(self) -> float:
        """The points it gave; none where nothing is known."""
        return (self.value or 0.0) * self.points


THUMB = "thumb"
"""The name of a person's score that is up or down."""


def make_thumb(comment: str, *, is_up: bool) -> Score:
    """The score of a person who finds a run good, or not."""
    return Score(THUMB, float(is_up), passed=is_up, explanation=comment)


CHOSEN = "chosen"
"""The name of the score of a run that was chosen out of several attempts; it is no check."""


def make_chosen(choice: Choice) -> Score:
    """The score of the run that was chosen; no points."""
    count = len(choice.attempts)
    words = f"Attempt {choice.number} of {count}, chosen by {choice.way}: {choice.reason}"
    return Score(CHOSEN, 1.0, passed=True, explanation=words, points=0.0, choice=choice)


def choice_of(scores: Iterable[Score]) -> Choice | None:
    """Of what a run was chosen, by its scores; None: it was the only attempt, or not chosen."""
    return next((score.choice for score in scores if score.choice is not None), None)


def list_checks(scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores that say something of the run's worth: all but that it was chosen."""
    return tuple(score for score in scores if score.name != CHOSEN)


UNDONE = "undone"
"""The name of the score of a run that the person took back."""


def calls_from(recorded: Iterable[RecordedEvent], step: int) -> set[str]:
    """Ids of a run's calls, from the one on that ran this of its cells, counted from 1."""
    calls: list[str] = []
    first, ran = 0, 0
    for event in (each.event for each in recorded):
        if isinstance(event, ToolStarted):
            calls.append(event.call_id)
        elif isinstance(event, CellStarted):
            ran += 1
            if ran == step:
                first = len(calls) - 1
    return set(calls[first:])


def make_undone(step: int = 0) -> Score:
    """The score of a run whose variables were taken back, from one of its cells on; no points."""
    words = f"Undone by the user from cell {step} on." if step else "Undone by the user."
    return Score(UNDONE, 0.0, passed=False, explanation=words, points=0.0)


def undone_step(score: Score) -> int:
    """From which of a run's cells on it was undone, counted from 1; 0: all of it."""
    found = re.search(r"from cell (\d+) on", score.explanation)
    return int(found[1]) if found else 0


AFTERWARDS = (UNDONE, "redone", "files_back", "files_forth")
"""Codes of notices that say what the user did with a run when it was over; it took no longer."""


def note_of_undo(step: int | None, remark: str = "") -> Notice:
    """What the record of a run says of its undo, or of its redo.

    Args:
        step: From which of its cells on, counted from 1; 0: all of it, None: it was redone.
        remark: A sentence more.
    """
    said = "Redone by the user." if step is None else make_undone(step).explanation
    code = "redone" if step is None else UNDONE
    return Notice("info", f"{said} {remark}".rstrip(), code=code)


def note_of_files_moved(paths: Iterable[str], *, is_forth: bool) -> Notice:
    """What the record of a run says when files were put back as before it, or forth."""
    where = "forth" if is_forth else "back"
    return Notice("info", f"The user put files {where}: {', '.join(paths)}.", code=f"files_{where}")


@dataclass(frozen=True)
class Grade:
    """Points of several scores, together."""

    earned: float = 0.0
    points: float = 0.0

    def __str__(self) -> str:
        share = f" ({self.earned / self.points:.0%})" if self.points else ""
        return f"{self.earned:g} of {self.points:g} points{share}"


def sum_points(scores: Iterable[Score]) -> Grade:
    """The grade that scores add up to; a check that could not be made earns nothing."""
    all_scores = tuple(scores)
    return Grade(sum(s.earned for s in all_scores), sum(s.points for s in all_scores))


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
    branch: BranchMark | None = None
    """Which of several attempts from the same state it is; None: the only one."""
    schema: str = SCHEMA
    scores: tuple[Score, ...] = ()
    """What it was found worth later; the store keeps them beside the events."""

    @property
    def unfinished_reply(self) -> AssistantMessage | None:
        """What came of a reply that broke off at the end of the run; None: nothing did."""
        own = self.messages[self.earlier_messages :]
        replies = [message for message in own if isinstance(message, AssistantMessage)]
        if self.status in ("completed", "running") or len(replies) <= len(self.steps):
            return None
        return replies[-1] if own[-1] is replies[-1] and not replies[-1].tool_calls else None

    @property
    def reason_line(self) -> str:
        """Why it ended, as one line: what a traceback comes to, or all that a service said.

        Services say it in several lines, and LiteLLM ends with one of its own settings.
        """
        lines = self.reason.split("\n") if self.cause == "internal" else [self.reason]
        said = [" ".join(line.split()) for line in lines]
        return next(filter(None, reversed(said)), "")


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
        if not (isinstance(recorded.event, Notice) and recorded.event.code in AFTERWARDS):
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
            branch=event.branch,
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
        self.transcript.retried()

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
        self._change_call(event.call_id, decision=f"{word} by {event.by}{event.after}{reason}")

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
        self.cells.edited(event)

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
