"""What a call of a component answers: one envelope after another, or all of it in one.

Source: requirements 000-31 and 000-35. A content is in the answer when it is for whom the caller
asks: unless told otherwise for the person, so what is for the model alone is left out. Raw data
is for nobody.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from cellwright.record.content import ComponentOutput, Content, ContentType, Metrics, Role, Scope
from cellwright.record.content_streams import ContentRedactor, merge
from cellwright.record.messages import Manifest, ModelUsage
from cellwright.record.values import safe_json, to_dict
from cellwright.server.routes import Refusal
from cellwright.text.redaction import Redactor
from cellwright.tools.evaluation import reserved_names

View = Literal["user", "llm", "all"]
"""Whose contents are in the answer: the person's, the model's, or everybody's."""
VIEWS: Mapping[str, frozenset[Scope]] = {
    "user": frozenset({"all", "user"}),
    "llm": frozenset({"all", "llm"}),
    "all": frozenset({"all", "user", "llm"}),
}
Status = Literal["running", "done", "error", "interrupt"]


@dataclass(frozen=True)
class ContentEvent:
    """Where in its making a content is."""

    id: str
    """The same for all pieces of one stream, so that text can be put together."""
    status: Literal["preparing", "running", "done", "error"]
    name: str
    """The tool that says it."""
    created_time: str
    """ISO 8601, UTC."""
    error_code: str = ""
    error_message: str = ""


@dataclass(frozen=True)
class SaidContent:
    """One typed piece of what a component said."""

    type: ContentType
    text: Mapping[str, Any]
    event: ContentEvent
    name: str = ""
    visible_scope: Scope = "all"
    is_error: bool = False
    usage: tuple[ModelUsage, ...] = ()
    metrics: Metrics | None = None


@dataclass(frozen=True)
class Envelope:
    """What is sent at once."""

    run_id: str
    chat_id: str
    message_id: str
    """The same for all that one role says in a run."""
    trace_id: str
    """Of OpenTelemetry where that is set up, else the run's own id."""
    seq: int
    """1, 2, 3 … within the run."""
    status: Status
    is_completion: bool
    """Nothing comes after this one."""
    role: Role = "tool"
    content: tuple[SaidContent, ...] = ()
    usage: tuple[ModelUsage, ...] = ()
    """Tokens that the whole call took; in the last envelope alone."""
    metrics: Metrics | None = None
    """What the whole call took; in the last envelope alone."""


@dataclass(frozen=True)
class RunIds:
    """What all envelopes of a run carry."""

    run_id: str
    chat_id: str
    trace_id: str
    tool: str


@dataclass(frozen=True)
class CallEnding:
    """How a call ended."""

    status: Status = "done"
    code: str = ""
    message: str = ""
    """Why, in words, told as a content of its own; empty: the component has said it."""
    usage: tuple[ModelUsage, ...] = ()
    metrics: Metrics | None = None


def seen_by(output: ComponentOutput, view: View) -> ComponentOutput:
    """The part of an output that is for them, without raw data."""
    kept = [item for item in output.content if item.visible_scope in VIEWS[view]]
    return replace(output, content=tuple(replace(item, raw_data={}) for item in kept))


def server_sent(envelope: Envelope) -> str:
    """An envelope as a server-sent event; its id is its number."""
    data = json.dumps(to_dict(envelope), ensure_ascii=False)
    return f"id: {envelope.seq}\ndata: {data}\n\n"


@dataclass
class Envelopes:
    """Makes the envelopes of one run, from any thread.

    What comes in pieces is redacted as one text: the end of a piece is held back while more could
    make a secret of it.
    """

    ids: RunIds
    view: View
    redactor: Redactor
    keeps: bool = False
    """What is said is kept for one answer at the end."""
    _count: int = 0
    _kept: list[ComponentOutput] = field(default_factory=list)
    _streams: dict[tuple[str, ...], str] = field(default_factory=dict)
    _contents: dict[Role, ContentRedactor] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begun(self) -> Envelope:
        """The first one: the run is recorded from here on."""
        with self._lock:
            return self._envelope((), "tool", "running")

    def said(self, output: ComponentOutput) -> Envelope | None:
        """Something was said; None: nothing of it is for them, or can be told yet."""
        seen = seen_by(output, self.view)
        if self.keeps and seen.content:
            self._kept.append(seen)
        if self.keeps or not seen.content:
            return None
        with self._lock:
            redactor = self._redactor_of(seen.role)
            shown = [item for each in seen.content if (item := redactor.feed(each)) is not None]
            said = tuple(self._content(item, seen.role, None) for item in shown)
            return self._envelope(said, seen.role, "running") if said else None

    def ended(self, ending: CallEnding) -> tuple[Envelope, ...]:
        """The last one, and before it what was held back."""
        outputs = list(self._kept)
        if ending.message:
            words = Content("text", {"info": ending.message}, is_error=True)
            outputs.append(ComponentOutput((words,)))
        whole = merge(outputs)
        role = whole[0].role if whole else "tool"
        with self._lock:
            redactor = self._redactor_of(role)
            contents = [redactor.end(item) for output in whole for item in output.content]
            said = tuple(self._content(item, role, ending) for item in contents if item)
            held = tuple(self._held_back())
            last = self._envelope(said, role, ending.status)
            last = replace(last, is_completion=True, usage=ending.usage, metrics=ending.metrics)
            return (*held, last)

    def _held_back(self) -> Iterator[Envelope]:
        for role, redactor in self._contents.items():
            said = tuple(self._content(item, role, None) for item in redactor.flush())
            if said:
                yield self._envelope(said, role, "running")

    def _redactor_of(self, role: Role) -> ContentRedactor:
        return self._contents.setdefault(role, ContentRedactor(self.redactor))

    def _envelope(self, said: tuple[SaidContent, ...], role: Role, status: Status) -> Envelope:
        self._count += 1
        return Envelope(
            self.ids.run_id,
            self.ids.chat_id,
            f"{self.ids.run_id}:{role}",
            self.ids.trace_id,
            self._count,
            status,
            is_completion=False,
            role=role,
            content=said,
        )

    def _content(self, item: Content, role: Role, ending: CallEnding | None) -> SaidContent:
        key = (role, item.type, item.name, item.visible_scope, str(item.is_error))
        stream = self._streams.setdefault(key, f"{self.ids.run_id}:{len(self._streams) + 1}")
        event = ContentEvent(
            stream,
            "running" if ending is None else "done",
            self.ids.tool,
            datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        if item.is_error:
            code = ending.code if ending is not None and ending.code else "tool_error"
            message = str(item.text.get("info", ""))
            event = replace(event, status="error", error_code=code, error_message=message)
        return SaidContent(
            item.type,
            item.text,
            event,
            item.name,
            item.visible_scope,
            item.is_error,
            item.usage,
            item.metrics,
        )


# What a call takes: arguments, checked against the schema of the component.


MESSAGE_CHARACTERS = 300
ERRORS_TOLD = 20
DEPTH_LIMIT = 40


@dataclass(frozen=True)
class ArgumentError:
    """What is wrong with one argument; both places are JSON pointers."""

    path: str
    """In the arguments."""
    schema_path: str
    """In the tool's schema of its parameters."""
    message: str


class ArgumentsRefusal(Refusal):
    """Arguments that a tool cannot be called with; all that is wrong is told."""

    def __init__(self, tool: str, errors: Iterable[ArgumentError], code: str = "arguments") -> None:
        found = list(errors)[:ERRORS_TOLD]
        words = "; ".join(f"{error.path or '/'}: {error.message}" for error in found)
        message = f"{tool!r} cannot be called with these arguments: {words}."
        super().__init__(400, message, "See its manifest.", code)
        self.details = {"errors": [asdict(error) for error in found]}


def checked_arguments(manifest: Manifest, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the tool gets them.

    Raises:
        ArgumentsRefusal: Some do not fit, are not known, or are the system's own.
    """
    name, schema = manifest.name, manifest.parameters
    if _is_deeper(arguments, DEPTH_LIMIT):
        raise ArgumentsRefusal(name, [ArgumentError("", "", "nested too deeply")])
    given: dict[str, Any] = safe_json(arguments)
    reserved = reserved_names(given)
    if reserved:
        taken = [ArgumentError(_pointer([n]), "", "is set by the system alone") for n in reserved]
        raise ArgumentsRefusal(name, taken, code="reserved")
    errors = [*_unknown(given, schema), *_misfits(given, schema)]
    if errors:
        raise ArgumentsRefusal(name, errors)
    return given


def _unknown(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
    """Names that the schema does not have; where it forbids them, it says so itself."""
    if "additionalProperties" in schema or "properties" not in schema:
        return
    for name in given:
        if name not in schema["properties"]:
            yield ArgumentError(_pointer([name]), "/properties", "is not known")


def _misfits(given: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[ArgumentError]:
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY
    from referencing.exceptions import Unresolvable

    # With a registry of its own it never looks for a schema elsewhere.
    validator = Draft202012Validator(dict(schema), registry=REGISTRY)
    try:
        for error in validator.iter_errors(given):
            yield ArgumentError(
                _pointer(error.absolute_path),
                _pointer(error.absolute_schema_path),
                error.message[:MESSAGE_CHARACTERS],
            )
    except Unresolvable as error:
        yield ArgumentError("", "", f"its schema refers to {error.ref!r}, which is not there")


def _pointer(steps: Iterable[Any]) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, (Mapping, list)):
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in inner)
