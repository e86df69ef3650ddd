"""One cell's output on its way: joined, bounded and handed on; and how the cell ended.

A cell may print two hundred thousand times a second, or twenty megabytes: what is handed on is
at most some twenty pieces a second and never more than the request allows, head and tail kept.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import KernelError, ToolError
from cellwright.kernels import CellRequest, OutputSink
from cellwright.record.events import CellOutput
from cellwright.record.outputs import (
    ClearOutput,
    DisplayUpdate,
    ErrorOutput,
    Execution,
    ExecutionStatus,
    FileChange,
    OutputMessage,
    StreamOutput,
    VariableSummary,
    size_of,
)
from cellwright.record.values import from_dict, safe_json, safe_text

INTERVAL_SECONDS = 0.05
"""So long text and updates wait for more."""
OVERFLOW_FACTOR = 10
"""A cell that sends this many times its limit is stopped."""
TRACEBACK_LIMIT = 60_000
FRAMES_KEPT = 6
"""Of a traceback too long, this many frames from either end."""


@dataclass(frozen=True)
class _HeldOutput:
    message: OutputMessage
    size: int


class Capture:
    """Takes the messages of one cell from any thread.

    Args:
        request: The cell, and how much it may send.
        sink: Called with each piece when it is captured.
    """

    def __init__(self, request: CellRequest, sink: OutputSink) -> None:
        self.error: ErrorOutput | None = None
        """The last exception that was shown."""
        self.failure: Exception | None = None
        """What the sink raised; the cell is stopped for it."""
        self._request = request
        self._sink = sink
        self._lock = threading.RLock()
        self._waiting: list[OutputMessage | _CapturedText] = []
        self._waiting_since = self._handed_on_at = 0.0
        self._then: list[Callable[[], object]] = []
        self._ready: deque[CellOutput] = deque()
        self._room = request.output_limit_bytes // 2
        self._tail: deque[_HeldOutput] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._seen = 0
        self._open_streams: set[str] = set()

    @property
    def overflowed(self) -> bool:
        """Whether the cell sent so much that it has to be stopped."""
        return self._seen > self._request.output_limit_bytes * OVERFLOW_FACTOR

    @property
    def due_in_seconds(self) -> float | None:
        """When text that waits has to be handed on; None when none waits."""
        if not self._waiting:
            return None
        return max(0.0, self._waiting_since + INTERVAL_SECONDS - time.monotonic())

    def add(self, message: OutputMessage, then: Callable[[], object] | None = None) -> None:
        """Take a message; text and updates wait a moment for more of their kind.

        Args:
            message: What was sent.
            then: Shows it; called once it is recorded, for a process that is killed must not have
                shown what its record does not have. After a pause it waits for nothing.
        """
        if isinstance(message, StreamOutput) and not message.text:
            return
        with self._lock:
            if isinstance(message, ErrorOutput):
                message = self.error = _shortened(message)
            waits = isinstance(message, StreamOutput | DisplayUpdate)
            if not waits:
                # What waits is shown first: whoever records a clear clears what is shown by then.
                self._hand_on()
            self._wait(message)
            if then is not None:
                self._then.append(then)
            rested = time.monotonic() - self._handed_on_at >= INTERVAL_SECONDS
            is_due = self.due_in_seconds == 0 or (then is not None and rested)
            if not waits or is_due:
                self._hand_on()

    def flush(self) -> None:
        """Hand on what has waited long enough."""
        with self._lock:
            if self.due_in_seconds == 0:
                self._hand_on()

    def finish(self) -> None:
        """The cell has ended: hand on what waits, and the tail of what was too much."""
        with self._lock:
            self._hand_on()
            if self._dropped:
                self._emit(_marker(self._dropped))
            while self._tail:
                self._emit(self._tail.popleft().message)
            self._tail_size = self._dropped = 0
            self._end_streams()

    def take(self) -> list[CellOutput]:
        """What was handed on since the last call."""
        taken = []
        while self._ready:
            taken.append(self._ready.popleft())
        return taken

    def _wait(self, message: OutputMessage) -> None:
        if not self._waiting:
            self._waiting_since = time.monotonic()
        last = self._waiting[-1] if self._waiting else None
        if isinstance(message, StreamOutput):
            if not isinstance(last, _CapturedText) or last.name != message.name:
                last = _CapturedText(message.name)
                self._waiting.append(last)
            last.pieces.append(message.text)
        elif _replaces(message, last):
            self._waiting[-1] = message
        else:
            self._waiting.append(message)

    def _hand_on(self) -> None:
        waiting, self._waiting = self._waiting, []
        then, self._then = self._then, []
        for item in waiting:
            self._bound(item.joined() if isinstance(item, _CapturedText) else item)
        for show in then:
            show()
        self._handed_on_at = time.monotonic()

    def _bound(self, message: OutputMessage) -> None:
        size = size_of(message)
        self._seen += size
        if not self._tail and size <= self._room:
            self._room -= size
            self._emit(message)
            return
        if isinstance(message, StreamOutput) and not self._tail and self._room:
            self._emit(replace(message, text=message.text[: self._room]))
            message = replace(message, text=message.text[self._room :])
            size, self._room = len(message.text), 0
        self._keep(_HeldOutput(message, size))

    def _keep(self, held: _HeldOutput) -> None:
        limit = self._request.output_limit_bytes // 2
        if isinstance(held.message, StreamOutput) and held.size > limit:
            self._dropped += held.size - limit
            held = _HeldOutput(replace(held.message, text=held.message.text[-limit:]), limit)
        self._tail.append(held)
        self._tail_size += held.size
        while self._tail_size > limit:
            gone = self._tail.popleft()
            self._tail_size -= gone.size
            self._dropped += gone.size

    def _emit(self, message: OutputMessage) -> None:
        if isinstance(message, StreamOutput):
            self._open_streams.add(message.name)
        elif isinstance(message, ErrorOutput | ClearOutput):
            self._end_streams()
        self._hand_to_sink(message)

    def _end_streams(self) -> None:
        """Let the sink give out what it holds back of each stream: no more text follows it."""
        names, self._open_streams = sorted(self._open_streams, reverse=True), set()
        for name in names:
            self._hand_to_sink(StreamOutput(name, ""))

    def _hand_to_sink(self, message: OutputMessage) -> None:
        if self.failure is not None:
            return
        try:
            kept = self._sink(CellOutput(self._request.cell_id, message))
            if not isinstance(kept.message, StreamOutput) or kept.message.text:
                self._ready.append(kept)
        except Exception as error:
            # It must not come up inside print(); whoever runs the cell raises it.
            self.failure = error


class _CapturedText:
    """Pieces of one stream, not yet joined."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[str] = []

    def joined(self) -> StreamOutput:
        return StreamOutput(self.name, "".join(self.pieces))


def _replaces(message: OutputMessage, last: object) -> bool:
    """Of updates of one display that come together, only the last one counts."""
    return (
        isinstance(message, DisplayUpdate)
        and isinstance(last, DisplayUpdate)
        and message.display_id == last.display_id
    )


def _marker(dropped: int) -> StreamOutput:
    return StreamOutput("stderr", f"\n[… {dropped:,} characters of output are left out …]\n")


def _shortened(error: ErrorOutput) -> ErrorOutput:
    """The error with the middle frames of a huge traceback left out."""
    lines = error.traceback
    if sum(map(len, lines)) <= TRACEBACK_LIMIT:
        return error
    if len(lines) > 2 * FRAMES_KEPT:
        gone = len(lines) - 2 * FRAMES_KEPT
        middle = (f"[… {gone} frames are left out …]",)
        lines = lines[:FRAMES_KEPT] + middle + lines[-FRAMES_KEPT:]
    share = TRACEBACK_LIMIT // len(lines)
    return replace(
        error,
        traceback=tuple(_middle_cut(line, share) for line in lines),
        evalue=_middle_cut(error.evalue, TRACEBACK_LIMIT),
    )


def _middle_cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters …]\n{text[-half:]}"


# How a cell ended, put together from what the kernel says and what the probe found.


INTERRUPTED = "interrupted by the person"
STUCK = (
    "The code did not react to being interrupted and may still run. To end it, restart the kernel "
    "(menu Kernel, Restart Kernel…; in a terminal Ctrl-\\ ends IPython): its variables are lost."
)
ENDED = (
    "The code did not react to being interrupted, so its kernel was ended: its variables are lost."
)


def execution(
    status: ExecutionStatus,
    duration_seconds: float,
    report: Mapping[str, Any],
    *,
    error: ErrorOutput | None = None,
    note: str = "",
) -> Execution:
    """The value of a finished cell.

    Args:
        duration_seconds: From its start to its end, with the time in which the user typed.
        report: What ``cell_watch.after_cell`` found; empty where there is no probe.
    """
    notes = [*([note] if note else []), *report.get("notes", ())]
    waited = float(report.get("waited_seconds", 0.0))
    return Execution(
        status=status,
        duration_seconds=max(0.0, duration_seconds - waited),
        error=error if status == "error" else None,
        execution_count=report.get("execution_count"),
        result_summary=safe_text(report.get("result_summary", "")),
        changed=tuple(_variable(row) for row in report.get("changed", ())),
        removed=tuple(safe_text(name) for name in report.get("removed", ())),
        files=tuple(from_dict(FileChange, row) for row in report.get("files", ())),
        cwd=safe_text(report.get("cwd", "")),
        figures=tuple(safe_text(text) for text in report.get("figures", ())),
        cpu_seconds=report.get("cpu_seconds"),
        rss_bytes=report.get("rss_bytes"),
        waited_seconds=waited,
        note=" ".join(notes),
    )


def answered(function: str, found: Mapping[str, Any]) -> Any:
    """The value in a probe's answer.

    Raises:
        ToolError: The function refused.
        KernelError: It failed.
    """
    if "refused" in found:
        raise ToolError(safe_text(found["refused"]))
    if "value" not in found:
        raise KernelError(f"{function} failed in the kernel: {safe_text(found.get('failed'))}")
    return safe_json(found["value"])


def reason_text(reason: str, timeout_seconds: float | None) -> str:
    """Why a cell was stopped, for the model and the person."""
    if reason == "timeout":
        return f"Stopped after {timeout_seconds:g} s, its time limit; output so far is kept."
    if reason == "output":
        return "Stopped: it sent far more output than is allowed; print less."
    return ""


def _variable(row: Mapping[str, str]) -> VariableSummary:
    return VariableSummary(safe_text(row["name"]), safe_text(row["type"]), safe_text(row["text"]))
