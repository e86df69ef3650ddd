"""``cellwright.sample/1``: a run as a benchmark item: its values, its messages, its packed form.

What a run says is in it once: ``messages`` and ``cells`` hold the texts, and ``events`` say when
each of them came, what it took and what was decided, and point to them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.llm.openai_format import message_from_openai
from cellwright.record.content import Content
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    ModelUsage,
    Part,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)
from cellwright.record.run_record import Grade as Grade
from cellwright.record.run_record import Score as Score
from cellwright.record.run_record import list_checks
from cellwright.record.run_record import sum_points as sum_points
from cellwright.record.values import from_dict, json_or_none, safe_json, tag_of, to_dict

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
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What its author says of it."""
    attempt: int = 0
    """Which of several attempts at it this is, from 1; 0: there was one alone."""


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
    def title(self) -> str:
        """What a person calls it: the sample of its suite, or the run."""
        index, suite = self.task.index, self.suite or self.task.name
        named = f"{suite}-{index}" if suite and isinstance(index, int) else str(index)
        epoch = f"-{self.task.epoch}" if self.task.epoch > 1 else ""
        return (named or self.run_id or self.id) + epoch

    @property
    def passed(self) -> bool:
        """Whether there are checks and all of them passed."""
        checks = list_checks(self.scores)
        return bool(checks) and all(score.passed for score in checks)

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


# Messages of a sample: OpenAI's chat format, and beside it what that format has no place for.
#
# Readers that know the format alone find what they know: ``role``, ``content``, ``tool_calls``,
# ``tool_call_id``. Ours are ``reasoning_content``, ``refusal``, ``is_error``, the ``name`` of a
# tool message's tool, a picture's ``caption`` and, where they say something, ``sent_as``,
# ``origin`` and ``author``; a tool message may hold pictures.


JSON = dict[str, Any]


def format_messages(messages: Iterable[Message]) -> tuple[JSON, ...]:
    """Messages as a sample holds them; nothing of them is lost."""
    return tuple(_format(message) for message in messages)


def parse_messages(messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages of a sample as values.

    Raises:
        ValueError: A message has a role that is not known.
    """
    return tuple(message_from_openai(message) for message in messages)


def arguments_said(messages: Iterable[Message]) -> dict[str, Any]:
    """What each call's message says its arguments are; None where that is no JSON."""
    found: dict[str, Any] = {}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            found[call.id] = json_or_none(call.arguments)
    return found


def _format(message: Message) -> JSON:
    match message:
        case SystemMessage():
            return {"role": "system", "content": message.text} | _marks(message, "system")
        case UserMessage():
            return {"role": "user", "content": _content(message.parts)} | _marks(message, "user")
        case ToolMessage():
            told: JSON = {"role": "tool", "tool_call_id": message.call_id, "name": message.name}
            told["content"] = _content(message.parts)
            origin = {"origin": message.origin} if message.origin else {}
            return told | ({"is_error": True} if message.is_error else {}) | origin
        case AssistantMessage():
            return _said(message)


def _said(message: AssistantMessage) -> JSON:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in message.tool_calls
    ]
    said: JSON = {"role": "assistant", "content": message.text or (None if calls else "")}
    more = {
        "tool_calls": calls,
        "reasoning_content": message.reasoning,
        "refusal": message.refusal,
        "author": message.author,
        "origin": message.origin,
    }
    return said | {name: value for name, value in more.items() if value}


def _marks(message: SystemMessage | UserMessage, usual: str) -> JSON:
    sent_as = {"sent_as": message.sent_as} if message.sent_as != usual else {}
    origin = message.origin if isinstance(message, SystemMessage) else ""
    return sent_as | ({"origin": origin} if origin else {})


def _content(parts: tuple[Part, ...]) -> Any:
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return [_format_part(part) for part in parts]


def _format_part(part: Part) -> JSON:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    url = {"url": f"data:{part.mime};base64,{part.data}"}
    caption = {"caption": part.caption} if part.caption else {}
    return {"type": "image_url", "image_url": url, **caption}


# A sample as small as it can be stored: no defaults, and what many samples share said once.
#
# What is the same in sample after sample (instructions, tools, limits, the kernel) is kept in a
# file of its own, one text a line under the first digits of its hash, and named where it stood.
# Only known places are looked at, so that nothing an agent says can be taken for such a name.


Keep = Callable[[Any], str]
"""Keeps a value and gives its name."""
Take = Callable[[str], Any]
"""The value of a name."""
SHARED = "shared"
CANARY = "benchmark data, not for training: cellwright canary 6f1d0c52-8f3b-4b0e-9f5e-2a6c7d1e43b8"
"""Stands in what we write of samples: a model that can go on from it has seen such files."""
WHOLE_FIELDS = ("tools", "env", "run")
SHORT_CHARACTERS = 120
"""Shorter values stand where they are."""


def trimmed(record: SampleRecord) -> dict[str, Any]:
    """The record as plain JSON data, without what is as a new record has it."""
    plain: dict[str, Any] = safe_json(_without_defaults(record))
    return {"schema": record.schema or SCHEMA, "canary": CANARY, **plain}


def pack(record: SampleRecord, keep: Keep) -> dict[str, Any]:
    """The record as it is stored beside others."""
    packed = trimmed(record)
    for name in WHOLE_FIELDS:
        if name in packed:
            packed[name] = _kept(packed[name], keep)
    if _is_name(packed.get("tools")):
        packed["tools"] = [packed["tools"]]
    packed["messages"] = [
        {**message, "content": _kept(message["content"], keep)}
        if message.get("role") == "system"
        else message
        for message in packed.get("messages", ())
    ]
    return packed


def unpack(packed: Mapping[str, Any], take: Take) -> dict[str, Any]:
    """What ``SampleRecord.from_dict`` reads; of a record that is not packed, the same."""
    whole = dict(packed)
    tools = whole.get("tools")
    if isinstance(tools, list) and len(tools) == 1 and _is_name(tools[0]):
        whole["tools"] = tools[0]
    for name in WHOLE_FIELDS:
        if name in whole:
            whole[name] = _taken(whole[name], take)
    whole["messages"] = [
        {**message, "content": _taken(message.get("content"), take)}
        if message.get("role") == "system"
        else message
        for message in whole.get("messages") or ()
    ]
    return whole


def resolved(record: SampleRecord, take: Take) -> SampleRecord:
    """A record that was read as it was packed, with what it shares put in its place."""
    return SampleRecord.from_dict(unpack(record.to_dict(), take))


def name_of(value: Any) -> str:
    """Sixteen digits that name a JSON value."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]


def _kept(value: Any, keep: Keep) -> Any:
    if _is_name(value) or len(json.dumps(value)) > SHORT_CHARACTERS:
        return {SHARED: keep(value)}
    return value


def _taken(value: Any, take: Take) -> Any:
    return take(value[SHARED]) if _is_name(value) else value


def _is_name(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {SHARED}


def _without_defaults(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_without_defaults(item) for item in value]
    if not dataclasses.is_dataclass(value):
        return to_dict(value)
    kind: Any = type(value)
    is_tagged = tag_of(kind) is not None
    return {
        field.name: _without_defaults(getattr(value, field.name))
        for field in dataclasses.fields(value)
        if not _is_default(field, getattr(value, field.name), is_tagged=is_tagged)
    }


def _is_default(field: dataclasses.Field[Any], value: Any, *, is_tagged: bool) -> bool:
    if is_tagged and not field.init:
        return False
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    # 0 and False, 1 and True are equal, and are not the same JSON.
    return type(value) is type(field.default) and bool(value == field.default)
