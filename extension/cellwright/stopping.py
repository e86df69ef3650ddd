"""Stop, as a value that is handed down: set once, looked at everywhere something waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from inspect import GEN_CLOSED, getgeneratorstate
from typing import TypeVar, cast

from cellwright.errors import RunCancelled

Pulled = TypeVar("Pulled")


class Stop:
    """A request to stop a run, safe to set from any thread.

    A wait that looks at it at least every 0.2 s makes Stop act within a second.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self.reason = ""
        self.on_let_go: Callable[[str, str], None] | None = None
        """Called by ``let_go``; whoever records the run ends its record there."""

    def set(self, reason: str = "stopped by the user") -> None:
        """Ask for a stop; the first reason stays."""
        if not self._event.is_set():
            self.reason = reason
        self._event.set()

    def is_set(self) -> bool:
        """Whether somebody asked to stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise when somebody asked to stop.

        Raises:
            RunCancelled: With the reason given to ``set``.
        """
        if self._event.is_set():
            raise RunCancelled(self.reason)

    def wait(self, seconds: float) -> None:
        """Sleep for ``seconds``, or raise as soon as somebody asks to stop.

        Raises:
            RunCancelled: Somebody asked to stop.
        """
        self._event.wait(max(0.0, seconds))
        self.check()

    def let_go(self, reason: str, cause: str = "stopped") -> None:
        """End the record of a run whose thread does not react; from any other thread.

        Args:
            reason: Why, for people.
            cause: ``stopped`` by somebody, or ``stuck``.
        """
        self.set(reason)
        if self.on_let_go is not None:
            self.on_let_go(reason, cause)


def drive(events: Iterator[Pulled], show: Callable[[Pulled], None]) -> None:
    """Pull every event of a run on this thread, so that an interrupt ends the run as stopped.

    A ``KeyboardInterrupt`` that lands outside the run, while something is drawn, is handed into
    it: the run ends as cancelled and is recorded so.

    Args:
        events: The run, a generator.
        show: Called with each event.

    Raises:
        KeyboardInterrupt: The run could not take it: it had not begun, or it was over.
    """
    running = cast("Generator[Pulled, None, None]", events)
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            if interrupt is None:
                event = next(running)
            else:
                handed, interrupt = interrupt, None
                event = running.throw(handed)
            show(event)
        except StopIteration:
            return
        except KeyboardInterrupt as error:
            if getgeneratorstate(running) == GEN_CLOSED:
                raise
            interrupt = error
