"""Lets an interrupt reach the code of a cell, and remembers that there was one.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later.

While a cell awaits, ipykernel answers SIGINT by cancelling the cell's task when its loop turns
next: an idle loop does not turn, and code that does not await is not reached at all. ``os.system``
and ``!`` commands swallow the interrupt that ends their child; the run has to stop all the same.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import Any

__all__ = ["InterruptWatch", "StubbornCellError"]

BEAT_SECONDS = 0.1
SHELL_INTERRUPTED = 130
CATCHABLE = 2
"""So many interrupts are an ordinary ``KeyboardInterrupt``."""


class StubbornCellError(BaseException):
    """Ends code that caught the interrupts before; it cannot expect this one."""


class InterruptWatch:
    """Stands before the handler of SIGINT between ``start`` and ``stop``.

    Args:
        is_nested: The cell runs inside another one and has the thread to itself, so that raising
            is always right.
    """

    def __init__(self, *, is_nested: bool = False) -> None:
        self.seen = False
        """Whether an interrupt came."""
        self._was_blind = False
        self._count = 0
        self._previous: Any = None
        self._awaits = False
        self._is_nested = is_nested
        self._timer: Any = None
        self._system = os.system

    def start(self) -> None:
        """Begin to watch; only the main thread is ever interrupted by a signal."""
        os.system = self._run_system
        if threading.current_thread() is not threading.main_thread():
            self._was_blind = True
            return
        self._previous = signal.getsignal(signal.SIGINT)
        known = (signal.default_int_handler, signal.SIG_DFL, signal.SIG_IGN, None)
        self._awaits = not self._is_nested and self._previous not in known
        signal.signal(signal.SIGINT, self._on_interrupt)
        self._beat()

    def stop(self) -> None:
        """Put everything back."""
        os.system = self._system
        if self._timer is not None:
            self._timer.cancel()
        if self._previous is not None:
            self._was_blind = signal.getsignal(signal.SIGINT) != self._on_interrupt
            signal.signal(signal.SIGINT, self._previous)
            self._previous = None

    def may_have_missed(self, result: Any) -> bool:
        """Whether a ``KeyboardInterrupt`` may be an interrupt that was not seen here.

        Code can raise one itself: that is an error of the code, unless the watch had no part in
        how the process is interrupted.

        Args:
            result: What ``run_cell`` returned, or the exception that ended it.
        """
        errors = (
            getattr(result, "error_in_exec", None),
            getattr(result, "error_before_exec", None),
        )
        found = (result, *errors)
        return self._was_blind and any(isinstance(error, KeyboardInterrupt) for error in found)

    def _on_interrupt(self, number: int, frame: Any) -> None:
        self.seen = True
        self._count += 1
        if self._awaits and not _is_in_cell(frame):
            self._previous(number, frame)
        elif self._count > CATCHABLE:
            raise StubbornCellError("interrupted again and again")
        else:
            signal.default_int_handler(number, frame)

    def _beat(self) -> None:
        """Turn an idle loop now and then."""
        if self._awaits:
            self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _run_system(self, command: Any) -> int:
        status = self._system(command)
        if os.name == "posix" and _was_interrupted(status):
            self.seen = True
            raise KeyboardInterrupt
        return status


def _is_in_cell(frame: Any) -> bool:
    """Whether the cell's own code runs; an exception anywhere else would end the kernel's loop."""
    while frame is not None:
        name = frame.f_code.co_name
        if name == "run_code":
            return True
        if name == "_run_once":
            return False
        frame = frame.f_back
    return False


def _was_interrupted(status: int) -> bool:
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) == signal.SIGINT
    return os.WEXITSTATUS(status) == SHELL_INTERRUPTED
