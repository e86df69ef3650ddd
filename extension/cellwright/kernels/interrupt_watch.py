"""Lets an interrupt reach the code of a cell, and remembers that there was one.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later.

While a cell awaits, ipykernel answers SIGINT by cancelling the cell's task when its loop turns
next: an idle loop does not turn, and code that does not await is not reached at all. ``os.system``
and ``!`` commands swallow the interrupt that ends their child; the run has to stop all the same. A
program's own exit status of 130 says nothing of the person.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from typing import Any

BEAT_SECONDS = 0.1
CATCHABLE = 2
"""So many interrupts are an ordinary ``KeyboardInterrupt``."""
AGAIN = "interrupted again and again"
RUNS_CELL = "run_code"
"""IPython's function that runs a cell: what it calls is the cell's own."""
SHOWS_ERROR = "showtraceback"
"""IPython's function that shows why a cell ended, which ``run_code`` calls, too."""
SHOWING_SECONDS = 5.0
"""So long nothing disturbs that; the first one reads whole files, and a busy machine is slow."""
OWN_PACKAGES = ("cellwright", "cellwright_magics", "_cellwright")
TOOL_NUMBERS = (4, 3)
"""Of ``sys.monitoring``; those below are debuggers' and profilers'."""


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
        self.count = 0
        """How many came."""
        self.last_at = 0.0
        """When the last one came, on the monotonic clock."""
        self._shown_at = 0.0
        """When the first one came after the cell's code had ended, on the monotonic clock."""
        self._force = _Force()
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
        self._force.stop()
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
        if self._is_shown(frame):
            return
        self.count, self.last_at = self.count + 1, time.monotonic()
        if self._awaits and not _is_in_cell(frame):
            self._previous(number, frame)
        elif self.count > CATCHABLE:
            self._force.start(frame)
            raise StubbornCellError(AGAIN)
        else:
            signal.default_int_handler(number, frame)

    def _is_shown(self, frame: Any) -> bool:
        """Whether the cell has ended, and why is being shown; an error's own text may be code."""
        caller = ""
        while frame is not None and frame.f_code.co_name != RUNS_CELL:
            if frame.f_globals.get("__name__") == "__main__":
                return False
            caller, frame = frame.f_code.co_name, frame.f_back
        if frame is None or caller != SHOWS_ERROR:
            return False
        self._shown_at = self._shown_at or time.monotonic()
        return time.monotonic() - self._shown_at < SHOWING_SECONDS

    def _beat(self) -> None:
        """Turn an idle loop now and then."""
        if self._awaits:
            self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _run_system(self, command: Any) -> int:
        status = self._system(command)
        # An interrupt ends the shell, too, and the system says so.
        if os.name == "posix" and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT:
            self.seen = True
            raise KeyboardInterrupt
        return status


def _is_in_cell(frame: Any) -> bool:
    """Whether the cell's own code runs; an exception anywhere else would end the kernel's loop."""
    while frame is not None:
        name = frame.f_code.co_name
        if name == RUNS_CELL:
            return True
        if name == "_run_once":
            return False
        frame = frame.f_back
    return False


def _is_ours(frame: Any) -> bool:
    """Whether a function of ours runs, which has other things to do than to end."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in OWN_PACKAGES


class _Force:
    """Ends code that catches every exception, as ``while True: try: … except BaseException: …``.

    From ``start`` on each line of the functions that run raises, the lines of their handlers too.
    Before Python 3.12 a raising trace function is taken away by the interpreter, so that each start
    ends one such loop and not those around it.
    """

    def __init__(self) -> None:
        self._thread = threading.get_ident()
        self._is_on = False
        self._codes: list[Any] = []
        self._tool: int | None = None
        self._traced: Any = None

    def start(self, frame: Any) -> None:
        """Let every line of the cell's functions raise, as far as they run now."""
        frames = []
        while frame is not None and frame.f_code.co_name != RUNS_CELL:
            frames.append(frame)
            frame = frame.f_back
        if frame is None or any(_is_ours(found) for found in frames):
            return
        if hasattr(sys, "monitoring"):
            self._monitor([frame.f_code for frame in frames])
        else:
            self._trace(frames)

    def stop(self) -> None:
        """Let nothing raise any more."""
        is_on, self._is_on = self._is_on, False
        if self._tool is not None:
            monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
            for code in self._codes:
                monitoring.set_local_events(self._tool, code, 0)
            monitoring.free_tool_id(self._tool)
            self._tool, self._codes = None, []
        elif is_on:
            sys.settrace(self._traced)

    def _monitor(self, codes: list[Any]) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined]
        if self._tool is None:
            free = [number for number in TOOL_NUMBERS if monitoring.get_tool(number) is None]
            if not free:
                return
            self._tool = free[0]
            monitoring.use_tool_id(self._tool, "cellwright")
            monitoring.register_callback(self._tool, monitoring.events.LINE, self._line)
        self._is_on = True
        for code in codes:
            monitoring.set_local_events(self._tool, code, monitoring.events.LINE)
        self._codes += codes

    def _trace(self, frames: list[Any]) -> None:
        if not self._is_on:
            self._traced = sys.gettrace()
        self._is_on = True
        for frame in frames:
            frame.f_trace = self._traced_line
        sys.settrace(self._traced_line)

    def _line(self, _code: Any, _line: int) -> None:
        if self._is_on and threading.get_ident() == self._thread:
            raise StubbornCellError(AGAIN)

    def _traced_line(self, _frame: Any, event: str, _argument: Any) -> Any:
        if event == "line":
            self._line(None, 0)
        return None if event == "call" else self._traced_line
