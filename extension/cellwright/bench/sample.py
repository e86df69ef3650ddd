"""``cellwright.sample/1``: a run seen as a benchmark item, as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.lm.openai_format import messages_to_openai
from cellwright.outputs import safe_json, to_nbformat
from cellwright.recording import RecordedExecution, RunRecord
from cellwright.values import from_dict, to_dict

__all__ = ["SampleCell", "SampleRecord", "SampleTask", "SampleTime", "Score", "sample_of"]

SCHEMA = "cellwright.sample/1"


@dataclass(frozen=True)
class SampleTask:
    """Which sample of which task this was."""

    name: str = ""
    index: int | str = ""
    session: str = ""
    step: int = 0
    epoch: int = 1
    """1 for the first time the sample was run."""
    group: str = ""
    """What results are split by."""
    family: str = ""
    """Samples of one family vary together: intervals are clustered by it."""


@dataclass(frozen=True)
class SampleCell:
    """One time a cell ran."""

    id: str
    origin: str
    """``agent``, ``user``, ``setup``, ``check`` or ``human-edit``."""
    source: str
    status: str = ""
    """``ok``, ``error``, ``timeout`` …; empty: it had not ended."""
    execution_count: int | None = None
    outputs: tuple[Mapping[str, Any], ...] = ()
    """As nbformat has them."""
    error: str = ""
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    """Names of variables that are new or another object."""
    removed: tuple[str, ...] = ()
    is_kept: bool = True
    """Whether the cell is in the notebook in the end."""


@dataclass(frozen=True)
class Score:
    """What one check found."""

    name: str
    value: float | None
    """From 0 to 1; None: the check itself failed, so nothing is known."""
    passed: bool
    explanation: str = ""
    error: str = ""
    """Why the check could not be made."""


@dataclass(frozen=True)
class SampleTime:
    """When, and how long."""

    started_at: float = 0.0
    """Seconds since the epoch, UTC."""
    seconds: float = 0.0


@dataclass(frozen=True)
class SampleRecord:
    """A run as a benchmark item: what was asked, what was done, what it scored."""

    id: str
    """Names the sample, the agent and the epoch."""
    run_id: str = ""
    suite: str = ""
    task: SampleTask = field(default_factory=SampleTask)
    agent: str = ""
    model: Mapping[str, Any] = field(default_factory=dict)
    """Its name and the parameters of the request."""
    input: str = ""
    target: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Names and SHA-256."""
    setup: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    messages: tuple[Mapping[str, Any], ...] = ()
    """In the shape of OpenAI's chat format."""
    cells: tuple[SampleCell, ...] = ()
    status: str = "running"
    cause: str = ""
    error: str = ""
    """Why, where it did not simply complete."""
    limit: str = ""
    """Which limit was reached."""
    retries: int = 0
    """How often a failure of the infrastructure made the sample start again."""
    result: Any = None
    """The answer, as JSON."""
    scores: tuple[Score, ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    cost_dollars: float | None = None
    time: SampleTime = field(default_factory=SampleTime)
    env: Mapping[str, Any] = field(default_factory=dict)
    """Kernel, packages and our own version."""
    schema: str = SCHEMA

    @property
    def passed(self) -> bool:
        """Whether there are checks and all of them passed."""
        return bool(self.scores) and all(score.passed for score in self.scores)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        plain: dict[str, Any] = safe_json(to_dict(self))
        return plain

    @classmethod
    def from_dict(cls, data: Any) -> SampleRecord:
        """The record that ``data`` describes; keys of a newer version are ignored.

        Raises:
            ValueError: It is no such record.
        """
        record: SampleRecord = from_dict(cls, data)
        if not record.schema.startswith("cellwright.sample/"):
            raise ValueError(f"schema is {record.schema!r}; it must be {SCHEMA!r}")
        return record


def sample_of(record: RunRecord, name: str, *, packages: bool = False) -> SampleRecord:
    """The sample that a run is, before anything was scored.

    Args:
        record: The run.
        name: The sample's id.
        packages: Keep the list of installed packages, which is long.
    """
    kernel = {key: value for key, value in record.kernel.items() if key != "process_id"}
    env = {"kernel": kernel, "version": record.version}
    gone = {made.cell.id for made in record.cells if made.is_removed}
    return SampleRecord(
        id=name,
        run_id=record.run_id,
        model={key: value for key, value in to_dict(record.parameters).items() if value},
        input=record.prompt,
        files=dict(record.files),
        setup=record.start_executed,
        tools=tuple({"name": tool.name} for tool in record.tools),
        messages=tuple(messages_to_openai(record.messages, vision=True)),
        cells=tuple(_cell(ran, is_kept=ran.cell_id not in gone) for ran in record.executions),
        status=record.status,
        cause=record.cause,
        error=record.reason if record.status != "completed" else "",
        limit=record.cause if record.status == "task limit reached" else "",
        result=record.answer,
        usage={key: value for key, value in to_dict(record.usage).items() if value},
        cost_dollars=record.cost_dollars,
        time=SampleTime(record.started_at, record.duration_seconds),
        env={**env, "packages": dict(record.packages)} if packages else env,
    )


def _cell(ran: RecordedExecution, *, is_kept: bool) -> SampleCell:
    cell = SampleCell(ran.cell_id, ran.origin, ran.source, is_kept=is_kept)
    ended = ran.execution
    if ended is None:
        return cell
    return SampleCell(
        ran.cell_id,
        ran.origin,
        ran.source,
        ended.status,
        ended.execution_count,
        tuple(to_nbformat(output) for output in ran.outputs),
        f"{ended.error.ename}: {ended.error.evalue}" if ended.error is not None else "",
        ended.duration_seconds,
        tuple(variable.name for variable in ended.changed),
        ended.removed,
        is_kept,
    )
