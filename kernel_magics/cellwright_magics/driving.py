"""Pulls a run's events on the main thread, so that an interrupt ends the run as stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from inspect import GEN_CLOSED, getgeneratorstate
from typing import cast

from cellwright.record.events import Event


def drive(events: Iterator[Event], show: Callable[[Event], None]) -> None:
    """Show every event of a run.

    A ``KeyboardInterrupt`` that lands outside the run, while something is drawn, is handed into
    it: the run ends as cancelled and is recorded so.

    Raises:
        KeyboardInterrupt: The run could not take it: it had not begun, or it was over.
    """
    running = cast("Generator[Event, None, None]", events)
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
