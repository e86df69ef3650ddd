"""``cellwright.sample/1``: a run seen as a benchmark item, as one JSON object.

What a run says is in it once: ``messages`` and ``cells`` hold the texts, and ``events`` say when
each of them came, what it took and what was decided, and point to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.record.content import Content
from cellwright.record.outputs import safe_json
from cellwright.record.usage import ModelUsage
from cellwright.record.values import from_dict, to_dict

SCHEMA = "cellwright.sample/1"


@dataclass(frozen=True)
class SampleTask:
    """Which sample of which task this was."""

    name: str = ""
    index: int | str = ""
    session: str = ""
    """What several samples that share one kernel belong to."""
    step: int = 0
    """Its place in that session."""
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
    files: Mapping[str, str] = field(default_factory=dict)
    """Files it made, changed or removed: ``created``, ``modified`` or ``deleted``."""
    note: str = ""
    """What else is to be known, such as ``stopped after 120 s``."""
    call_id: str = ""
    """The tool call that ran it."""
    at: float = 0.0
    """When it began, in seconds since the run did."""
    cpu_seconds: float | None = None
    """None: it was not measured."""
    rss_bytes: int | None = None
    """Memory of the kernel after it; None: it was not measured."""


@dataclass(frozen=True)
class WrittenCell:
    """A cell that was written and never ran."""

    id: str
    cell_type: str
    source: str
    origin: str = "agent"
    call_id: str = ""
    is_kept: bool = True


@dataclass(frozen=True)
class ReplyGiven:
    """The model replied; what it said is in ``messages``."""

    at: float
    """When it was whole, in seconds since the run began."""
    message: int | None = None
    """Its place in ``messages``; None: it was not kept there."""
    number: int = 0
    model: str = ""
    """As the service named it; empty: as it was asked for."""
    finish_reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Numbers that are not zero."""
    cost_dollars: float | None = None
    seconds: float = 0.0
    first_delta_seconds: float | None = None
    attempts: int = 1
    kind: Literal["reply"] = field(default="reply", init=False)


@dataclass(frozen=True)
class ToolCalled:
    """A tool was called; its arguments and its result are in ``messages``, by the call's id."""

    at: float
    """When it was looked at, in seconds since the run began."""
    call_id: str
    name: str
    status: str = "ok"
    decision: str = ""
    """Who allowed or refused it, and why."""
    seconds: float = 0.0
    arguments: Mapping[str, Any] | None = None
    """Where they are not what the message says."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of models that the tool itself asked."""
    contents: tuple[Content, ...] = ()
    """What it said to the person, as typed pieces."""
    kind: Literal["tool"] = field(default="tool", init=False)


@dataclass(frozen=True)
class NoticeGiven:
    """Something the person was told."""

    text: str
    kind: Literal["notice"] = field(default="notice", init=False)


SampleEvent = ReplyGiven | ToolCalled | NoticeGiven


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
    """Its name, where it was asked, and the parameters of the request."""
    input: str = ""
    target: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Names and SHA-256."""
    setup: tuple[str, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    """Name, description and parameters of each."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """In the shape of OpenAI's chat format (``bench.sample_messages``)."""
    cells: tuple[SampleCell, ...] = ()
    written: tuple[WrittenCell, ...] = ()
    events: tuple[SampleEvent, ...] = ()
    """In order of time, the notices last."""
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
    notebook: Mapping[str, Any] = field(default_factory=dict)
    """Its path and the SHA-256 of its cells ``before`` and ``after``."""
    run: Mapping[str, Any] = field(default_factory=dict)
    """How it was run: lane, mode, limits, and what it goes on from."""
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
