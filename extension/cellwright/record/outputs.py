"""Cell outputs as values, and the fold that turns kernel messages into them.

An ``OutputMessage`` is what a kernel sends while a cell runs. Folding the messages of one cell
gives its ``Output`` values, the ones a notebook file holds.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

from cellwright.record.values import safe_json, safe_text
from cellwright.text.cleaning import overwrite

LARGE_CHARACTERS = 100_000


@dataclass(frozen=True)
class StreamOutput:
    """Text on stdout or stderr."""

    name: str
    text: str
    kind: Literal["stream"] = field(default="stream", init=False)


@dataclass(frozen=True)
class DisplayData:
    """Something displayed: a MIME bundle."""

    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    display_id: str = ""
    kind: Literal["display_data"] = field(default="display_data", init=False)


@dataclass(frozen=True)
class ExecuteResult:
    """The value of a cell's last expression: a MIME bundle."""

    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    execution_count: int | None = None
    display_id: str = ""
    kind: Literal["execute_result"] = field(default="execute_result", init=False)


@dataclass(frozen=True)
class ErrorOutput:
    """An exception that ended a cell."""

    ename: str
    evalue: str
    traceback: tuple[str, ...] = ()
    kind: Literal["error"] = field(default="error", init=False)


@dataclass(frozen=True)
class DisplayUpdate:
    """New content for everything displayed under ``display_id``."""

    display_id: str
    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    kind: Literal["update_display_data"] = field(default="update_display_data", init=False)


@dataclass(frozen=True)
class ClearOutput:
    """Everything shown so far goes: now, or when the next output comes (``wait``)."""

    wait: bool = False
    kind: Literal["clear_output"] = field(default="clear_output", init=False)


Output = StreamOutput | DisplayData | ExecuteResult | ErrorOutput
OutputMessage = (
    StreamOutput | DisplayData | ExecuteResult | ErrorOutput | DisplayUpdate | ClearOutput
)


def from_kernel_message(message_type: str, content: Mapping[str, Any]) -> OutputMessage | None:
    """The value of a message on a kernel's output channel; None when it is no output.

    What JSON or UTF-8 cannot hold is replaced here, so that everything behind this line can be
    sent and stored.
    """
    if message_type == "stream":
        return StreamOutput(str(content.get("name", "stdout")), safe_text(content.get("text", "")))
    if message_type == "clear_output":
        return ClearOutput(bool(content.get("wait", False)))
    if message_type == "error":
        return _error(content)
    if message_type in ("display_data", "execute_result", "update_display_data"):
        return _display(message_type, content)
    return None


def fold(messages: Iterable[OutputMessage]) -> tuple[Output, ...]:
    """The outputs a cell shows after these messages, in order.

    Adjacent text of one stream is joined, and what a terminal would have overwritten (progress
    bars) is gone. The result does not depend on how a stream was cut into messages.
    """
    screen = _Screen()
    for message in messages:
        screen.show(message)
    return screen.outputs()


def size_of(message: OutputMessage) -> int:
    """How many characters a message shows, about."""
    if isinstance(message, StreamOutput):
        return len(message.text)
    if isinstance(message, ErrorOutput):
        return sum(map(len, message.traceback)) + len(message.evalue)
    if isinstance(message, ClearOutput):
        return 0
    return _bundle_size(message.data)


def to_nbformat(output: Output) -> dict[str, Any]:
    """The output as a notebook file holds it; a ``display_id`` has no place there."""
    if isinstance(output, StreamOutput):
        return {"output_type": "stream", "name": output.name, "text": output.text}
    if isinstance(output, ErrorOutput):
        traceback = list(output.traceback)
        named = {"ename": output.ename, "evalue": output.evalue}
        return {"output_type": "error", **named, "traceback": traceback}
    bundle = {mime: _as_nbformat(mime, value) for mime, value in output.data.items()}
    shown: dict[str, Any] = {"output_type": output.kind, "data": bundle}
    shown["metadata"] = dict(output.metadata)
    if isinstance(output, ExecuteResult):
        shown["execution_count"] = output.execution_count
    return shown


def from_nbformat(output: Mapping[str, Any]) -> Output:
    """The value of an output read from a notebook file.

    Raises:
        ValueError: The ``output_type`` is not one of nbformat's four.
    """
    kind = output.get("output_type")
    if kind == "stream":
        return StreamOutput(str(output.get("name", "stdout")), _joined(output.get("text", "")))
    if kind == "error":
        return _error(output)
    if kind in ("display_data", "execute_result"):
        shown = _display(str(kind), output)
        if isinstance(shown, DisplayData | ExecuteResult):
            return shown
    raise ValueError(
        f"unknown output_type {kind!r}; known: stream, display_data, execute_result, error"
    )


class _Screen:
    """What a cell shows while its messages come in."""

    def __init__(self) -> None:
        self._items: list[_StreamText | Output] = []
        self._places: dict[str, list[int]] = {}
        self._clear_is_due = False

    def show(self, message: OutputMessage) -> None:
        if isinstance(message, ClearOutput):
            self._clear(message)
        elif isinstance(message, DisplayUpdate):
            self._update(message)
        elif not isinstance(message, StreamOutput) or message.text:
            self._append(message)

    def outputs(self) -> tuple[Output, ...]:
        finished = [item.final() if isinstance(item, _StreamText) else item for item in self._items]
        return tuple(item for item in finished if item.kind != "stream" or item.text)

    def _clear(self, message: ClearOutput) -> None:
        self._clear_is_due = message.wait
        if not message.wait:
            self._items, self._places = [], {}

    def _append(self, message: Output) -> None:
        if self._clear_is_due:
            self._clear(ClearOutput())
        if isinstance(message, StreamOutput):
            self._write(message)
            return
        if isinstance(message, DisplayData | ExecuteResult) and message.display_id:
            self._places.setdefault(message.display_id, []).append(len(self._items))
        self._items.append(message)

    def _write(self, message: StreamOutput) -> None:
        last = self._items[-1] if self._items else None
        if not isinstance(last, _StreamText) or last.name != message.name:
            last = _StreamText(message.name)
            self._items.append(last)
        last.pieces.append(message.text)

    def _update(self, message: DisplayUpdate) -> None:
        for place in self._places.get(message.display_id, ()):
            shown = self._items[place]
            if isinstance(shown, DisplayData | ExecuteResult):
                fresh = replace(shown, data=message.data, metadata=message.metadata)
                self._items[place] = fresh


class _StreamText:
    """One stream's text, as it was written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[str] = []

    def final(self) -> StreamOutput:
        text = safe_text("".join(self.pieces)).replace("\r\n", "\n")
        if "\r" in text or "\b" in text:
            settle = _settle if len(text) < LARGE_CHARACTERS else _settle_once
            text = settle(text)
        return StreamOutput(self.name, text)


def _settle(text: str) -> str:
    """What is left of a text after all its returns and backspaces."""
    return "\n".join(_final_line(line) for line in text.split("\n"))


# A run folds the outputs of a cell several times, and megabytes of backspaces take a second each.
_settle_once = lru_cache(maxsize=2)(_settle)


def _final_line(line: str) -> str:
    """What is left of a line after all its returns and backspaces."""
    if "\x1b" not in line:
        return overwrite(line)
    # Colours make columns uncountable: the last thing written stands for the line.
    written = [piece for piece in line.split("\r") if piece]
    return written[-1].replace("\b", "") if written else ""


def _error(content: Mapping[str, Any]) -> ErrorOutput:
    lines = tuple(safe_text(line) for line in content.get("traceback") or ())
    name, value = content.get("ename", ""), content.get("evalue", "")
    return ErrorOutput(safe_text(name), safe_text(value), lines)


def _display(message_type: str, content: Mapping[str, Any]) -> OutputMessage:
    data = {
        str(mime): safe_json(value if _is_json(str(mime)) else _joined(value))
        for mime, value in (content.get("data") or {}).items()
    }
    metadata = safe_json(content.get("metadata") or {})
    display_id = str((content.get("transient") or {}).get("display_id") or "")
    if message_type == "update_display_data":
        return DisplayUpdate(display_id, data, metadata)
    if message_type == "display_data":
        return DisplayData(data, metadata, display_id)
    return ExecuteResult(data, metadata, content.get("execution_count"), display_id)


def _is_json(mime: str) -> bool:
    return mime.startswith("application/") and mime.endswith(("/json", "+json"))


def _joined(value: Any) -> Any:
    """A notebook file may hold text as a list of lines."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return safe_text("".join(value))
    return safe_text(value) if isinstance(value, str) else value


def _as_nbformat(mime: str, value: Any) -> Any:
    if isinstance(value, str) or _is_json(mime):
        return value
    return json.dumps(value)


def _bundle_size(data: Mapping[str, Any]) -> int:
    return sum(
        len(value) if isinstance(value, str) else len(json.dumps(value, default=str))
        for value in data.values()
    )


# Cells and what came of running one, as values.


CellType = Literal["code", "markdown", "raw"]
ExecutionStatus = Literal["ok", "error", "interrupted", "timeout", "died", "aborted"]


@dataclass(frozen=True)
class Cell:
    """One notebook cell, addressed by its nbformat id."""

    id: str
    cell_type: CellType
    source: str
    outputs: tuple[Output, ...] = ()
    execution_count: int | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class VariableSummary:
    """A variable of the kernel in one line."""

    name: str
    type: str
    """The type's name, such as ``DataFrame``."""
    text: str
    """Shape, length or a short value, such as ``320 rows x 6 columns``."""


@dataclass(frozen=True)
class FileChange:
    """A file in the kernel's folder that a cell made, changed or removed."""

    path: str
    """Relative to the kernel's folder."""
    change: Literal["created", "modified", "deleted"]
    size_bytes: int = 0


@dataclass(frozen=True)
class Execution:
    """How running one cell ended."""

    status: ExecutionStatus
    duration_seconds: float
    error: ErrorOutput | None = None
    """Set when status is ``error``; taken from what the kernel showed, not from its reply."""
    execution_count: int | None = None
    result_summary: str = ""
    """A compact text for the live object of the last expression, when there is a better one
    than its ``text/plain`` (a DataFrame, an array, a model)."""
    changed: tuple[VariableSummary, ...] = ()
    """Variables that are new or point to another object than before."""
    removed: tuple[str, ...] = ()
    files: tuple[FileChange, ...] = ()
    cwd: str = ""
    note: str = ""
    """What else the model and the person should know, such as ``stopped after 120 s``."""
    figures: tuple[str, ...] = ()
    """What each matplotlib figure it showed says, in words: title, axis labels, series."""
    cpu_seconds: float | None = None
    """What the kernel's processors worked meanwhile; None: it was not measured."""
    rss_bytes: int | None = None
    """Memory of the kernel after it; None: it was not measured."""
    waited_seconds: float = 0.0
    """How long it waited for the user to type; no part of ``duration_seconds``."""


PROVENANCE = "cellwright"
"""Key of a cell's metadata under which a notebook keeps who wrote it, with a hash of the source."""


def source_hash(source: str) -> str:
    """Sixteen hex digits that name a cell's source; an edit carries the one it expects."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()[:16]
