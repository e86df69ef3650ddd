"""Sees what a cell sends from inside its own kernel, by standing before ``session.send``.

A semi-private seam of ipykernel: everything a cell shows goes through the one session, in order,
whichever thread or process it came from. Where there is none, see ``TerminalRecorder``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
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


# Sees what a cell sends where there is no kernel: IPython in a terminal.
#
# What a child process writes straight to the terminal is not seen, except for ``!`` commands.


PRINTING = ("write_output_prompt", "finish_displayhook")


class TerminalRecorder:
    """Stands before the streams, displays, results and tracebacks while it is entered."""

    def __init__(self, shell: Any, capture: Capture, options: ShellOptions) -> None:
        self._shell = shell
        self._capture = capture
        self._options = options
        self._silent = 0
        self._undo = ExitStack()

    def __enter__(self) -> TerminalRecorder:
        shell, hook = self._shell, self._shell.displayhook
        self._replace_streams()
        self._shadow(shell.display_pub, "publish", self._publish)
        self._shadow(shell.display_pub, "clear_output", self._clear_output)
        self._shadow(hook, "write_format_data", self._result)
        for name in PRINTING:
            self._shadow(hook, name, self._unrecorded(getattr(hook, name)))
        self._shadow(shell, "_showtraceback", self._traceback)
        self._shadow(shell, "system", shell.system_piped)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._undo.close()

    def write(self, name: str, text: str) -> None:
        """Record text that a stream is given."""
        if not self._silent:
            self._add("stream", {"name": name, "text": text})

    def _shadow(self, owner: Any, name: str, replacement: Callable[..., Any]) -> None:
        previous = owner.__dict__.get(name)
        original = getattr(owner, name)
        shadow = replacement
        if name in ("publish", "write_format_data", "_showtraceback"):
            shadow = _bound(replacement, self._unrecorded(original))
        setattr(owner, name, shadow)
        self._undo.callback(_restore, owner, name, previous)

    def _replace_streams(self) -> None:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            setattr(sys, name, _Tee(stream, name, self))
            self._undo.callback(setattr, sys, name, stream)

    def _unrecorded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self._silent += 1
            try:
                return function(*arguments, **options)
            finally:
                self._silent -= 1

        return call

    def _publish(
        self, original: Callable[..., Any], data: Any, metadata: Any = None, **options: Any
    ) -> None:
        kind = "update_display_data" if options.get("update") else "display_data"
        transient = options.get("transient")
        if self._add(kind, {"data": data, "metadata": metadata, "transient": transient}):
            original(data, metadata or {}, **options)

    def _clear_output(self, wait: bool = False) -> None:
        self._add("clear_output", {"wait": wait})

    def _result(self, original: Callable[..., Any], data: Any, metadata: Any = None) -> None:
        count = self._shell.execution_count
        content = {"data": data, "metadata": metadata, "execution_count": count}
        if self._add("execute_result", content):
            original(data, metadata)

    def _traceback(
        self, original: Callable[..., Any], etype: type, evalue: object, lines: list[str]
    ) -> None:
        content = {"ename": etype.__name__, "evalue": str(evalue), "traceback": lines}
        if self._add("error", content):
            original(etype, evalue, lines)

    def _add(self, kind: str, content: Mapping[str, Any]) -> bool:
        """Capture it; say whether it is to be shown too."""
        message: OutputMessage | None = from_kernel_message(kind, content)
        if message is None:
            return True
        self._capture.add(message)
        return self._options.show is None or self._options.show(message)


class _Tee:
    """A stream that tells the recorder what it is given."""

    def __init__(self, stream: Any, name: str, recorder: TerminalRecorder) -> None:
        self._stream = stream
        self._name = name
        self._recorder = recorder

    def write(self, text: str) -> Any:
        self._recorder.write(self._name, text)
        return self._stream.write(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _bound(function: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: function(original, *arguments, **options)


def _restore(owner: Any, name: str, previous: Any) -> None:
    delattr(owner, name)
    if previous is not None:
        setattr(owner, name, previous)
