"""Waits until what a cell wrote has arrived: text in buffers, and output of child processes.

A child's output takes a way of its own, through a pipe and a thread of ipykernel, and comes some
milliseconds late. Only cells that had children wait for it. Runs inside the kernel, from the
standard library alone, on Python 3.8 and later.
"""

from __future__ import annotations

import sys
import time
from typing import Any

QUIET_SECONDS = 0.03
"""After a child ended, its last words come within this time."""
LONGEST_SECONDS = 2.0
LOOK_SECONDS = 0.005


class Drain:
    """Made before a cell runs, finished after."""

    def __init__(self) -> None:
        self._streams = [sys.stdout, sys.stderr]
        self._children = _ended_children()

    def settle(self) -> None:
        """Wait for the last words of children that have ended; without any it does not wait."""
        if _ended_children() != self._children:
            self._wait_for_silence()

    def finish(self) -> None:
        """Wait for all that is on its way, and see that it is sent."""
        if _ended_children() != self._children or self._unread():
            self._wait_for_silence()
        for stream in self._streams:
            try:
                stream.flush()
            except (ValueError, OSError, AttributeError):
                # The cell closed or replaced it.
                continue

    def _wait_for_silence(self) -> None:
        give_up = time.monotonic() + LONGEST_SECONDS
        quiet_since = time.monotonic()
        while time.monotonic() < min(give_up, quiet_since + QUIET_SECONDS):
            time.sleep(LOOK_SECONDS)  # pipes of other processes, read by IPython's threads
            if self._unread():
                quiet_since = time.monotonic()

    def _unread(self) -> int:
        # A cell may have put something else in the place of ``sum``.
        unread = 0
        for stream in self._streams:
            unread += _unread_bytes(stream)
        return unread


def _ended_children() -> Any:
    try:
        import resource
    except ImportError:
        # Windows, where ipykernel does not watch file descriptors either.
        return None
    return resource.getrusage(resource.RUSAGE_CHILDREN)


def _unread_bytes(stream: Any) -> int:
    """How much lies in the pipe that ipykernel puts in place of a standard stream."""
    pipe = getattr(stream, "_fid", None)
    if not isinstance(pipe, int):
        return 0
    import array
    import fcntl
    import termios

    count = array.array("i", [0])
    try:
        fcntl.ioctl(pipe, termios.FIONREAD, count)
    except OSError:
        return 0
    return count[0]
