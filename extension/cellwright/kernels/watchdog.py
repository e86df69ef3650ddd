"""Looks after one cell from another thread: its time, its output, and whether to stop it."""

from __future__ import annotations

import threading
import time

from cellwright import cell_watch
from cellwright.interrupt_watch import StubbornCellError
from cellwright.kernels import CellRequest
from cellwright.kernels.capture import Capture
from cellwright.kernels.interrupts import interrupt_thread
from cellwright.stopping import Stop

__all__ = ["Watchdog"]

LOOK_SECONDS = 0.1
INTERRUPTS = 4
PATIENCE_SECONDS = 0.7
"""How long an interrupted cell may take to end before it is interrupted again."""


class Watchdog:
    """Interrupts the thread that runs a cell when there is a reason to.

    Code that catches ``KeyboardInterrupt`` is interrupted again; the third time it meets an
    exception that it cannot expect (``interrupt_watch``).
    """

    def __init__(self, request: CellRequest, stop: Stop, capture: Capture) -> None:
        self.reason = ""
        """Why it interrupted: ``stop``, ``timeout``, ``output`` or ``record``."""
        self._request = request
        self._stop = stop
        self._capture = capture
        self._watched = threading.current_thread()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="cellwright-watchdog", daemon=True)

    def start(self) -> None:
        """Begin to watch the thread that called the constructor."""
        self._thread.start()

    def end(self) -> None:
        """The cell has ended; after this nothing is interrupted any more."""
        self._ended.set()
        while True:
            try:
                with self._lock:
                    return
            except (KeyboardInterrupt, StubbornCellError):
                # An interrupt that came too late for the cell.
                continue

    def _watch(self) -> None:
        limit = self._request.timeout_seconds
        until = None if limit is None else time.monotonic() + limit
        deadline = until
        while not self._ended.wait(_pause(deadline)):
            self._capture.flush()
            # The time in which somebody is asked with input() is not the cell's.
            deadline = None if until is None else until + cell_watch.waited_seconds()
            found = self._found(deadline)
            if found:
                self._interrupt_until_it_ends(found)
                return

    def _found(self, deadline: float | None) -> str:
        if self._stop.is_set():
            return "stop"
        if deadline is not None and time.monotonic() >= deadline:
            return "timeout"
        if self._capture.failure is not None:
            return "record"
        return "output" if self._capture.overflowed else ""

    def _interrupt_until_it_ends(self, reason: str) -> None:
        for _ in range(INTERRUPTS):
            with self._lock:
                if self._ended.is_set():
                    return
                self.reason = reason
                interrupt_thread(self._watched)
            if self._ended.wait(PATIENCE_SECONDS):
                return


def _pause(deadline: float | None) -> float:
    if deadline is None:
        return LOOK_SECONDS
    return max(0.001, min(LOOK_SECONDS, deadline - time.monotonic()))
