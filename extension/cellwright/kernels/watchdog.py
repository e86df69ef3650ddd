"""Looks after one cell from another thread: its time, its output, and whether to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from cellwright.kernels import CellRequest, cell_watch
from cellwright.kernels.capture import Capture
from cellwright.kernels.interrupt_watch import CATCHABLE, InterruptWatch, StubbornCellError
from cellwright.kernels.interrupts import interrupt_thread
from cellwright.kernels.outcome import STUCK, reason_text
from cellwright.stopping import Stop

LOOK_SECONDS = 0.1
INTERRUPTS = 4
ONCE_MORE = "Interrupt once more to end it by force."
PATIENCE_SECONDS = 0.7
"""How long an interrupted cell may take to end before it is interrupted again."""


class Watchdog:
    """Interrupts the thread that runs a cell when there is a reason to.

    Code that catches ``KeyboardInterrupt`` is interrupted again; the third time it meets an
    exception that it cannot expect (``interrupt_watch``). When it has not reacted to two of them,
    the person is told how to end it, and the run's record gets its end: what comes next may be
    the death of this process.

    Args:
        request: The cell.
        stop: Of the run.
        capture: Takes its outputs.
        tell: Shows the person a sentence under the calling cell; called from another thread.
        interrupts: Counts those that come from elsewhere; None: nobody counts them.
    """

    def __init__(
        self,
        request: CellRequest,
        stop: Stop,
        capture: Capture,
        tell: Callable[[str], None],
        interrupts: InterruptWatch | None = None,
    ) -> None:
        self.reason = ""
        """Why it interrupted: ``stop``, ``timeout``, ``output`` or ``record``."""
        self._tell, self._interrupts = tell, interrupts
        self._is_let_go = False
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
            if self._is_stubborn():
                self._let_go(f"interrupted by the person. {STUCK}", "stopped")
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
        for count in range(1, INTERRUPTS + 1):
            with self._lock:
                if self._ended.is_set():
                    return
                self.reason = reason
                interrupt_thread(self._watched)
            if self._ended.wait(PATIENCE_SECONDS):
                return
            if reason == "stop" and count == CATCHABLE:
                self._let_go(f"{self._stop.reason}. {STUCK}", "stopped")
        why = reason_text(reason, self._request.timeout_seconds)
        self._let_go(f"{why} {STUCK}".strip(), "stuck")
        while not self._ended.wait(LOOK_SECONDS):
            self._capture.flush()

    def _is_stubborn(self) -> bool:
        """Whether the person has interrupted it twice, and it goes on."""
        watch = self._interrupts
        if watch is None or watch.count < CATCHABLE:
            return False
        return time.monotonic() - watch.last_at > PATIENCE_SECONDS

    def _let_go(self, reason: str, cause: str) -> None:
        if self._is_let_go or self._ended.is_set():
            return
        self._is_let_go = True
        self._stop.let_go(reason, cause)
        self._tell(STUCK if cause == "stuck" else f"{ONCE_MORE} {STUCK}")


def _pause(deadline: float | None) -> float:
    if deadline is None:
        return LOOK_SECONDS
    return max(0.001, min(LOOK_SECONDS, deadline - time.monotonic()))
