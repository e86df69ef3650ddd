"""Sees what a cell sends from inside its own kernel, by standing before ``session.send``.

A semi-private seam of ipykernel: everything a cell shows goes through the one session, in order,
whichever thread or process it came from. Where there is none (a terminal) see ``recorder``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any

from cellwright.kernels.capture import Capture
from cellwright.record.events import CellOutput
from cellwright.record.outputs import (
    ClearOutput,
    DisplayUpdate,
    ErrorOutput,
    OutputMessage,
    StreamOutput,
    from_kernel_message,
)


@dataclass(frozen=True)
class ShellOptions:
    """How a cell's outputs show under the calling cell."""

    errors_as_display: bool = False
    """Show an exception as a display, not as an error: papermill takes any error output for the
    end, even one that was mended a step later."""
    show: Callable[[OutputMessage], bool] | None = None
    """Asked before each output is shown in the calling cell; False keeps it from there."""
    has_keyboard: bool = False
    """Somebody can answer what the code asks with ``input``."""


class SessionTap:
    """Captures the outputs that belong to one parent message while it is entered."""

    def __init__(self, session: Any, parent_id: str, capture: Capture, options: ShellOptions):
        self._session = session
        self._parent_id = parent_id
        self._capture = capture
        self._options = options
        self._outer = session.__dict__.get("send")
        self._send: Callable[..., Any] = session.send

    def __enter__(self) -> SessionTap:
        self._session.send = self._look
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        del self._session.send
        if self._outer is not None:
            self._session.send = self._outer

    def _look(
        self,
        stream: Any,
        msg_or_type: Any,
        content: Any = None,
        parent: Any = None,
        *arguments: Any,
        **options: Any,
    ) -> Any:
        sent = (stream, msg_or_type, content, parent, *arguments)
        read = _read(msg_or_type, content, parent)
        if read.parent_id != self._parent_id:
            return self._send(*sent, **options)
        message = from_kernel_message(read.kind, read.content)
        if message is None:
            return self._send(*sent, **options)
        if isinstance(message, StreamOutput | DisplayUpdate):
            # Shown once it is recorded, which a flood of them is twenty times a second.
            show = partial(self._send, *sent, **options) if self._is_shown(message) else None
            self._capture.add(message, show)
            return None
        self._capture.add(message)
        if not self._is_shown(message):
            return None
        if isinstance(message, ErrorOutput) and self._options.errors_as_display:
            shown = {"data": {"text/plain": "\n".join(message.traceback)}, "metadata": {}}
            return self._send(stream, "display_data", shown, parent, *arguments, **options)
        return self._send(*sent, **options)

    def _is_shown(self, message: OutputMessage) -> bool:
        if isinstance(message, ClearOutput):
            # It would wipe the whole calling cell, what the agent said included.
            return False
        return self._options.show is None or self._options.show(message)


class LateTap(SessionTap):
    """Captures text that a thread or child sends once its cell has ended.

    It goes when the next cell comes (``leave``), or by itself when the calling cell ends.
    """

    def __init__(self, session: Any, parent_id: str, capture: Capture) -> None:
        super().__init__(session, parent_id, capture, ShellOptions())

    def leave(self) -> list[CellOutput]:
        """Stop listening; what has come."""
        # Whoever stood before us may have taken us away with himself.
        if self._session.__dict__.get("send") == self._look:
            self.__exit__(None, None, None)
        self._capture.finish()
        return self._capture.take()

    def _look(
        self,
        stream: Any,
        msg_or_type: Any,
        content: Any = None,
        parent: Any = None,
        *arguments: Any,
        **options: Any,
    ) -> Any:
        read = _read(msg_or_type, content, parent)
        if read.parent_id == self._parent_id:
            message = from_kernel_message(read.kind, read.content)
            if isinstance(message, StreamOutput):
                sent = (stream, msg_or_type, content, parent, *arguments)
                self._capture.add(message, partial(self._send, *sent, **options))
                self._capture.finish()
                return None
            if read.kind == "status":
                self.leave()
        return self._send(stream, msg_or_type, content, parent, *arguments, **options)


@dataclass(frozen=True)
class _Sent:
    """What is being sent, whichever way ``send`` was called."""

    kind: str
    content: Mapping[str, Any]
    parent_id: str


def _read(msg_or_type: Any, content: Any, parent: Any) -> _Sent:
    if isinstance(msg_or_type, Mapping):
        kind, content = str(msg_or_type["msg_type"]), msg_or_type["content"]
        parent = msg_or_type.get("parent_header")
    else:
        kind = msg_or_type
    return _Sent(kind, content or {}, _message_id(parent))


def _message_id(parent: Any) -> str:
    """The id in a message, or in the header of one."""
    if not isinstance(parent, Mapping):
        return ""
    header = parent.get("header", parent)
    return str(header.get("msg_id", ""))
