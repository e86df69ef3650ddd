"""Stop, as a value that is handed down; how we wait; and the threads that are ours."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from inspect import GEN_CLOSED, getgeneratorstate
from typing import Any, Generic, TypeVar, cast

from cellwright.errors import RunCancelled

T = TypeVar("T")
LOOK_SECONDS = 0.1
"""On Windows, Ctrl-C reaches a main thread between its waits only."""


class Stop:
    """A request to stop a run, safe to set from any thread.

    A wait that looks at it at least every 0.2 s makes Stop act within a second.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        # Without a lock: whoever handles a signal may set a stop, in the middle of anything.
        self._waiting: list[threading.Condition] = []
        self._parts: list[Stop] = []
        """Of what ends with it, and may end before."""
        self.reason = ""
        self.on_let_go: Callable[[str, str], None] | None = None
        """Called by ``let_go``; whoever records the run ends its record there."""

    def set(self, reason: str = "stopped by the user") -> None:
        """Ask for a stop; the first reason stays."""
        if not self._event.is_set():
            self.reason = reason
        self._event.set()
        for part in list(self._parts):
            part.set(reason)
        for condition in list(self._waiting):
            with condition:
                condition.notify_all()

    @contextmanager
    def within(self, seconds: float) -> Iterator[Stop]:
        """A stop for a part of the work, set with this one or when the time is over."""
        part = Stop()
        self._parts.append(part)
        timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), part.set, ("out of time",))
        timer.daemon = True
        timer.start()
        try:
            if self.is_set():
                part.set(self.reason)
            yield part
        finally:
            timer.cancel()
            self._parts.remove(part)

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

    def wait_on(self, condition: threading.Condition, seconds: float | None = None) -> None:
        """Wait, holding a condition, until it is notified, the time is over or somebody stops.

        It may also return before any of that, as waits on a condition may.

        Raises:
            RunCancelled: Somebody asked to stop.
        """
        if os.name == "nt" and threading.current_thread() is threading.main_thread():
            seconds = LOOK_SECONDS if seconds is None else min(seconds, LOOK_SECONDS)
        self._waiting.append(condition)
        try:
            if not self.is_set():
                condition.wait(seconds)
        finally:
            self._waiting.remove(condition)
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


class Inbox(Generic[T]):
    """What other threads have found out, taken in its order by one that can be stopped."""

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._arrived = threading.Condition()

    def put(self, item: T) -> None:
        """Hand something over."""
        with self._arrived:
            self._items.append(item)
            self._arrived.notify()

    def take(self, stop: Stop, seconds: float | None = None) -> T:
        """Wait for the next item.

        Args:
            stop: Ends the wait.
            seconds: How long to wait at most; None: no limit.

        Raises:
            RunCancelled: Somebody asked to stop.
            TimeoutError: Nothing came in so long.
        """
        until = None if seconds is None else time.monotonic() + seconds
        with self._arrived:
            stop.check()
            while not self._items:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError
                stop.wait_on(self._arrived, left)
            return self._items.popleft()

    def take_all(self, stop: Stop, seconds: float) -> list[T]:
        """Wait for the next item as ``take`` does; all that are there, none after so long.

        Raises:
            RunCancelled: Somebody asked to stop.
        """
        try:
            first = self.take(stop, seconds)
        except TimeoutError:
            return []
        with self._arrived:
            more = list(self._items)
            self._items.clear()
        return [first, *more]


def drive(events: Iterator[T], show: Callable[[T], None]) -> None:
    """Pull every event of a run on this thread, so that an interrupt ends the run as stopped.

    A ``KeyboardInterrupt`` that lands outside the run, while something is drawn, is handed into
    it: the run ends as cancelled and is recorded so.

    Args:
        events: The run, a generator.
        show: Called with each event.

    Raises:
        KeyboardInterrupt: The run could not take it: it had not begun, or it was over.
    """
    running = cast("Generator[T, None, None]", events)
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


def retry(
    act: Callable[[], T], error: type[Exception], seconds: float, pause_seconds: float = 0.05
) -> T:
    """Do again what only others can make possible (a process, a file), until the time is over.

    Raises:
        Exception: The ``error`` of the last attempt, or any other one.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return act()
        except error:
            if time.monotonic() > deadline:
                raise
            time.sleep(pause_seconds)


class WorkerThread(threading.Thread):
    """A thread of ours: no process waits for it, and all of them can be listed.

    Args:
        work: What it does.
        arguments: Of ``work``.
        name: What it is for.
    """

    def __init__(self, work: Callable[..., Any], *arguments: Any, name: str) -> None:
        super().__init__(target=work, args=arguments, name=f"cellwright-{name}", daemon=True)


def join_threads(seconds: float) -> tuple[WorkerThread, ...]:
    """Wait for the threads of ours that run; those that still do when the time is over."""
    deadline = time.monotonic() + seconds
    running = [thread for thread in threading.enumerate() if isinstance(thread, WorkerThread)]
    for thread in running:
        if thread is not threading.current_thread():
            thread.join(max(0.0, deadline - time.monotonic()))
    return tuple(thread for thread in running if thread.is_alive())
