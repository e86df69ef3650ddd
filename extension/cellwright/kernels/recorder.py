"""Sees what a cell sends where there is no kernel: IPython in a terminal.

What a child process writes straight to the terminal is not seen, except for ``!`` commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import Any

from cellwright.kernels.capture import Capture
from cellwright.kernels.tap import ShellOptions
from cellwright.record.outputs import OutputMessage, from_kernel_message

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
