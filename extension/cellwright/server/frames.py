"""The frames of the panel's WebSocket: what each side sends, and how text becomes a frame.

``make wire`` makes the panel's types of them; ``wire_events`` makes the frames of events.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Annotated, Any, Literal, Union, cast

from cellwright.errors import CellwrightError
from cellwright.record.values import INTEGER_LIMIT, read_json, safe_json, to_dict
from cellwright.settings import Mode
from cellwright.text.redaction import Redactor
from cellwright.tools import FormRequest

PROTOCOL = 1

Phase = Literal["idle", "starting", "model", "kernel_busy", "tool", "approval", "input"]
BranchesPhase = Literal["", "copying", "running", "over"]
"""How far the branches of a chat are; empty: it has none."""


@dataclass(frozen=True)
class ObjectName:
    """Marks a field of a frame that names something which belongs to somebody:
    ``application.check_objects`` refuses a frame that names what is another person's."""

    kind: Literal["chat", "run", "file", "kernel", "notebook"]
    may_be_gone: bool = False
    """What does not exist any more is no reason to refuse the frame."""


@dataclass(frozen=True)
class WireCell:
    """A cell of a notebook as the file format has it."""

    id: str
    cell_type: Literal["code", "markdown", "raw"]
    source: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[Mapping[str, Any], ...] = ()
    execution_count: int | None = None


@dataclass(frozen=True)
class ContextItem:
    """What a person put beside their prompt; which fields say something depends on the kind."""

    kind: Literal["variable", "cell", "selection", "error", "file"]
    name: str = ""
    """A variable's, or a file's as the person knows it."""
    cell_id: str = ""
    text: str = ""
    file: Annotated[str, ObjectName("file")] = ""
    """The name that the upload route gave."""


@dataclass(frozen=True)
class EventPlace:
    """Where in the record a tab has got to."""

    run: Annotated[str, ObjectName("run", may_be_gone=True)]
    sequence: int


@dataclass(frozen=True)
class PlacedCell:
    """A cell and the id of the one before it; empty: it is the first."""

    cell: WireCell
    after: str = ""


@dataclass(frozen=True)
class Welcome:
    """The answer to ``hello``."""

    protocol: int
    version: str
    server: str
    """Changes with every start of the server."""
    type: Literal["welcome"] = field(default="welcome", init=False)


@dataclass(frozen=True)
class CaughtUp:
    """All that had been recorded before ``follow`` has been sent."""

    chat: str
    type: Literal["caught_up"] = field(default="caught_up", init=False)


@dataclass(frozen=True)
class QueuedPrompt:
    """A prompt that waits its turn."""

    id: str
    prompt: str


@dataclass(frozen=True)
class InputAsked:
    """What a running cell's ``input()`` asks, or a service that works."""

    request: str
    prompt: str
    password: bool = False
    form: FormRequest | None = None
    """What a service wants; null: a line of text is."""


@dataclass(frozen=True)
class SupersededRun:
    """A run that another one took the place of: kept, and the model is not told of it."""

    run: str
    by: str


@dataclass(frozen=True)
class ChatState:
    """What a chat is doing."""

    id: str
    title: str = ""
    notebook_path: str = ""
    """Path of its notebook; empty: a chat of its own."""
    updated_at: float = 0.0
    run: str = ""
    """Id of the run that is going on; empty: none."""
    phase: Phase = "idle"
    queue: tuple[QueuedPrompt, ...] = ()
    queue_paused: bool = False
    """The queue waits because the last run failed or was stopped."""
    driver: str = ""
    """Tab that inserts the cells and answers; empty: none is connected."""
    approval: str = ""
    """Call that waits for the person; empty: none."""
    approval_problem: str = ""
    """Why the result of its preview could not be kept; empty: that was not tried."""
    input: InputAsked | None = None
    context_tokens: int = 0
    """Tokens of the last request."""
    context_limit: int = 0
    """How many the model takes; 0: not known."""
    superseded: tuple[SupersededRun, ...] = ()
    branches: BranchesPhase = ""
    """Until one of them is kept or all are dropped, the chat answers no other prompt."""


@dataclass(frozen=True)
class ChatFrame:
    """What a chat is doing, whenever that changes."""

    state: ChatState
    type: Literal["chat"] = field(default="chat", init=False)


@dataclass(frozen=True)
class ChatDeleted:
    """A chat is no more."""

    chat: str
    type: Literal["chat_deleted"] = field(default="chat_deleted", init=False)


@dataclass(frozen=True)
class Accepted:
    """``ask`` was accepted: it runs, or waits in the queue."""

    request: str
    chat: str
    queued: bool
    type: Literal["accepted"] = field(default="accepted", init=False)


@dataclass(frozen=True)
class PageRequest:
    """The server wants something of the tab that drives: the notebook's cells, or to know that a
    cell is there with this source before it runs."""

    request: str
    chat: str
    notebook: str
    operation: Literal["cells", "confirm"]
    cell_id: str = ""
    source_hash: str = ""
    """``record.outputs.source_hash`` that the cell must have."""
    message_id: str = ""
    """Id of the kernel message that will run it, for widgets that capture output."""
    type: Literal["request"] = field(default="request", init=False)


@dataclass(frozen=True)
class ErrorFrame:
    """Something that a tab asked for was not done."""

    code: str
    """A short name for programs, such as ``busy``, ``not_driver``, ``disabled``, ``setup``."""
    message: str
    hint: str = ""
    request: str = ""
    chat: str = ""
    type: Literal["error"] = field(default="error", init=False)


@dataclass(frozen=True)
class Pong:
    """Somebody is there."""

    at: float
    type: Literal["pong"] = field(default="pong", init=False)


ServerFrame = (
    Welcome | CaughtUp | ChatFrame | ChatDeleted | Accepted | PageRequest | ErrorFrame | Pong
)


# What a tab sends.


ChatId = Annotated[str, ObjectName("chat")]
AttachedId = Annotated[str, ObjectName("notebook")]
"""``Attach.notebook`` of a notebook that this tab has open."""


@dataclass(frozen=True)
class Hello:
    """The first frame of every connection."""

    protocol: int
    version: str
    tab: str
    nonce: str
    """Known to this page alone; an approval counts only with the nonce of the asking page."""
    type: Literal["hello"] = field(default="hello", init=False)


@dataclass(frozen=True)
class Follow:
    """Send what came after this place, then what comes; None: everything."""

    chat: ChatId
    after: EventPlace | None = None
    type: Literal["follow"] = field(default="follow", init=False)


@dataclass(frozen=True)
class Unfollow:
    """Send nothing more of this chat."""

    chat: ChatId
    type: Literal["unfollow"] = field(default="unfollow", init=False)


@dataclass(frozen=True)
class Ask:
    """A prompt: it runs, or waits its turn."""

    request: str
    chat: ChatId
    prompt: str
    mode: Mode
    model: str = ""
    """Empty: the set one."""
    context: tuple[ContextItem, ...] = ()
    notebook: str = ""
    """``Attach.notebook``; empty: none, a kernel is started for the chat."""
    instead: bool = False
    """Stop what runs and ask this instead."""
    assistant: str = ""
    """Name of the assistant that answers; empty: none."""
    supersedes: Annotated[str, ObjectName("run", may_be_gone=True)] = ""
    """The run whose question this takes the place of, with all that followed; empty: none."""
    type: Literal["ask"] = field(default="ask", init=False)


@dataclass(frozen=True)
class StopFrame:
    """Stop the run of a chat."""

    chat: ChatId
    type: Literal["stop"] = field(default="stop", init=False)


@dataclass(frozen=True)
class AnswerFrame:
    """What the person says of a call that waits for them."""

    chat: ChatId
    call_id: str
    allowed: bool
    reason: str = ""
    for_session: bool = False
    adopt: bool = False
    """The result of the call's preview takes the place of running it, where it can."""
    type: Literal["answer"] = field(default="answer", init=False)


@dataclass(frozen=True)
class Input:
    """What the person typed for a cell's ``input()``."""

    chat: ChatId
    request: str
    value: str
    type: Literal["input"] = field(default="input", init=False)


@dataclass(frozen=True)
class Queue:
    """Remove, change or move (``position``) a waiting prompt; None leaves as it is."""

    chat: ChatId
    action: Literal["remove", "edit", "move", "send_now", "resume"]
    id: str = ""
    prompt: str | None = None
    position: int | None = None
    type: Literal["queue"] = field(default="queue", init=False)


@dataclass(frozen=True)
class Extend:
    """Let the running cell go on for longer."""

    chat: ChatId
    seconds: float
    type: Literal["extend"] = field(default="extend", init=False)


@dataclass(frozen=True)
class Compact:
    """Make the conversation shorter now; refused while a run goes on."""

    request: str
    chat: ChatId
    type: Literal["compact"] = field(default="compact", init=False)


@dataclass(frozen=True)
class Drive:
    """Become the tab that inserts cells and answers; refused while another live tab is."""

    chat: ChatId
    notebook: str = ""
    type: Literal["drive"] = field(default="drive", init=False)


@dataclass(frozen=True)
class Attach:
    """A notebook that this tab has open; sent again when something of it changes."""

    notebook: str
    """Made by the tab when it opened the document; stays through renames."""
    path: str
    kernel_id: Annotated[str, ObjectName("kernel")] = ""
    """Empty: no kernel is running."""
    editable: bool = True
    type: Literal["attach"] = field(default="attach", init=False)


@dataclass(frozen=True)
class Detach:
    """The person closed a notebook."""

    notebook: AttachedId
    type: Literal["detach"] = field(default="detach", init=False)


@dataclass(frozen=True)
class Changed:
    """The person changed the notebook while a run goes on."""

    notebook: AttachedId
    cells: tuple[PlacedCell, ...] = ()
    removed: tuple[str, ...] = ()
    type: Literal["changed"] = field(default="changed", init=False)


@dataclass(frozen=True)
class ReplyFrame:
    """The answer to a ``request`` frame."""

    request: str
    ok: bool
    reason: str = ""
    """Why not: ``gone``, ``changed``, ``read_only``, ``closed``."""
    cells: tuple[WireCell, ...] = ()
    type: Literal["reply"] = field(default="reply", init=False)


@dataclass(frozen=True)
class Ping:
    """Is anybody there?"""

    at: float
    type: Literal["ping"] = field(default="ping", init=False)


ClientFrame = (
    Hello
    | Follow
    | Unfollow
    | Ask
    | StopFrame
    | AnswerFrame
    | Input
    | Queue
    | Extend
    | Compact
    | Drive
    | Attach
    | Detach
    | Changed
    | ReplyFrame
    | Ping
)

CLIENT_FRAMES: Mapping[str, type] = {frame.type: frame for frame in typing.get_args(ClientFrame)}


# Parsing collects every complaint about a frame before it refuses it.


FRAMES_WITH_CELLS = ("reply", "changed")
"""An output may hold half of a character, and integers of 64 bits without a sign."""
SHOWN_CHARACTERS = 60
COMPLAINT_LIMIT = 5


class FrameError(ValueError):
    """A text that is no frame.

    Args:
        code: ``bad_frame`` or ``unknown_frame``.
        message: What is wrong with it.
        data: What could be read of it.
    """

    def __init__(self, code: str, message: str, data: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.code = code
        self._data = data

    @property
    def frame(self) -> ErrorFrame:
        """What the tab is told."""
        return ErrorFrame(
            self.code,
            str(self),
            "Reload the page; its version may differ from the server's.",
            request=self._text("request"),
            chat=self._text("chat"),
        )

    def _text(self, name: str) -> str:
        value = self._data.get(name)
        return value if isinstance(value, str) else ""


def parse_frame(text: str | bytes) -> ClientFrame:
    """The frame that a tab sent.

    Raises:
        FrameError: It is none; the text names all that is wrong with it.
    """
    try:
        data = _read(text)
    except ValueError as error:
        raise FrameError("bad_frame", f"A frame is not JSON: {error}.", {}) from None
    if not isinstance(data, dict):
        raise FrameError("bad_frame", f"A frame is an object, not {_shown(data)}.", {})
    kind = data.get("type")
    frame_class = CLIENT_FRAMES.get(kind) if isinstance(kind, str) else None
    if frame_class is None:
        raise FrameError("unknown_frame", f"There is no frame of type {_shown(kind)}.", data)
    checking = _Checking()
    frame = checking.value(frame_class, data, "")
    if checking.complaints:
        told = "; ".join(checking.complaints[:COMPLAINT_LIMIT])
        raise FrameError("bad_frame", f"A frame of type {kind!r} is wrong: {told}.", data)
    return cast("ClientFrame", frame)


def _read(text: str | bytes) -> Any:
    """The value of a frame's text; what a person's cells hold is mended and not refused.

    Raises:
        ValueError: It is not JSON that can be used.
    """
    try:
        return read_json(text)
    except ValueError:
        with suppress(ValueError, RecursionError):
            data = json.loads(text)
            if isinstance(data, dict) and data.get("type") in FRAMES_WITH_CELLS:
                return safe_json(data)
        raise


def format_frame(frame: ServerFrame) -> str:
    """The text of a frame."""
    return json.dumps(to_dict(frame), separators=(",", ":"))


@dataclass(frozen=True)
class _Shape:
    """A field of a dataclass and what it takes."""

    field: Field[Any]
    annotation: Any

    @property
    def is_required(self) -> bool:
        return self.field.default is MISSING and self.field.default_factory is MISSING


@functools.cache
def _shapes(cls: type) -> tuple[_Shape, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(_Shape(item, hints[item.name]) for item in fields(cls) if item.init)


class _Checking:
    """Makes values of JSON data and collects what does not fit."""

    def __init__(self) -> None:
        self.complaints: list[str] = []

    def value(self, annotation: Any, data: Any, where: str) -> Any:
        """The value; anything at all where it does not fit, which is complained about."""
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if is_dataclass(annotation):
            return self._dataclass(cast("type", annotation), data, where)
        if origin is tuple:
            return self._tuple(arguments[0], data, where)
        if origin in (Union, types.UnionType):
            return None if data is None else self.value(arguments[0], data, where)
        if origin is Literal:
            if data not in arguments or not isinstance(data, str):
                self._complain(where, f"one of {', '.join(arguments)}", data)
            return data
        return self._plain(dict if origin is not None else annotation, data, where)

    def _dataclass(self, cls: type, data: Any, where: str) -> Any:
        if not isinstance(data, dict):
            self._complain(where, "an object", data)
            return None
        found: dict[str, Any] = {}
        for shape in _shapes(cls):
            name = shape.field.name
            path = f"{where}.{name}" if where else name
            if name in data:
                found[name] = self.value(shape.annotation, data[name], path)
            elif shape.is_required:
                self.complaints.append(f"{path!r} is missing")
        return None if self.complaints else cls(**found)

    def _tuple(self, annotation: Any, data: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            self._complain(where, "a list", data)
            return ()
        return tuple(
            self.value(annotation, item, f"{where}[{index}]") for index, item in enumerate(data)
        )

    def _plain(self, wanted: type, data: Any, where: str) -> Any:
        if wanted in (int, float) and type(data) is int and abs(data) >= INTEGER_LIMIT:
            self._complain(where, "a number of 64 bits at most", data)
        elif wanted is float and type(data) is int:
            return float(data)
        elif type(data) is not wanted:
            self._complain(where, WORDS[wanted], data)
        return data

    def _complain(self, where: str, wanted: str, data: Any) -> None:
        self.complaints.append(f"{where!r} must be {wanted}, not {_shown(data)}")


WORDS: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "an object",
}


def _shown(data: Any) -> str:
    text = repr(data)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


# Refusing a frame.


class RefusedError(CellwrightError):
    """A frame that is not followed.

    Args:
        code: A short name for programs.
        message: Why not.
        hint: What to do.
    """

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


def error_frame(
    error: CellwrightError, redactor: Redactor, *, request: str = "", chat: str = ""
) -> ErrorFrame:
    """The frame that tells a tab of an error, without the secrets that its words may hold."""
    code = error.code if isinstance(error, RefusedError) else "setup"
    message, hint = redactor.text(error.message), redactor.text(error.hint)
    return ErrorFrame(code, message, hint, request=request, chat=chat)
