"""The components of one server: which there are, and those that were called and go on."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import cast

from cellwright.server.application import Application
from cellwright.server.component_catalogue import Catalogue, installed
from cellwright.server.component_envelopes import Envelope
from cellwright.server.component_runs import HandRun
from cellwright.server.configuration import Cellwright
from cellwright.server.routes import Refusal

log = logging.getLogger(__name__)
RUN_LIMIT = 8
ROOM = 64
"""Envelopes that may wait to be sent; a component that says more waits."""
LOOK_SECONDS = 0.1
GRACE_LOOKS = 3
"""How often it is looked whether a component that was stopped has returned."""
CLOSE_SECONDS = 0.5
STOPPING = "the server is stopping"


class EnvelopeLine:
    """From the thread of a call to the event loop that sends what it says.

    Args:
        keep_alive_seconds: After this long without an envelope None is handed out.
    """

    def __init__(self, keep_alive_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: asyncio.Queue[Envelope | None] = asyncio.Queue()
        self._room = threading.Semaphore(ROOM)
        self._keep_alive_seconds = keep_alive_seconds
        self._is_closed = False

    def put(self, envelope: Envelope | None) -> None:
        """Send an envelope, or None for the end; from any thread, waits for room."""
        while not self._is_closed and not self._room.acquire(timeout=LOOK_SECONDS):
            pass
        # Where the server has ended, its loop has too.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, envelope)

    def close(self) -> None:
        """Nobody takes anything any more, so nobody waits for room."""
        self._is_closed = True

    async def envelopes(self) -> AsyncIterator[Envelope | None]:
        """What is said, as it comes; None: nothing for a while."""
        try:
            while True:
                try:
                    envelope = await asyncio.wait_for(self._waiting.get(), self._keep_alive_seconds)
                except TimeoutError:
                    yield None
                    continue
                self._room.release()
                if envelope is None:
                    return
                yield envelope
        finally:
            self.close()


async def until_ended(run: HandRun, line: EnvelopeLine) -> AsyncIterator[Envelope | None]:
    """What a call says, the last envelope at the end; None: nothing for a while.

    A component that was stopped and does not return is given up after some looks.
    """
    looks = 0
    async for envelope in line.envelopes():
        said: tuple[Envelope | None, ...] = (envelope,)
        if envelope is None and run.stop.is_set():
            looks += 1
            said = (run.abandoned() if looks > GRACE_LOOKS else ()) or said
        for item in said:
            yield item
            if item is not None and item.is_completion:
                return


def open_components(application: Application) -> ComponentHost:
    """The components of a server, which routes share.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.hand_runs is None:
            application.hand_runs = ComponentHost(application.configuration)
        return cast("ComponentHost", application.hand_runs)


class ComponentHost:
    """Knows the server's components and their calls.

    Args:
        configuration: What the administrator set.
    """

    def __init__(self, configuration: Cellwright) -> None:
        self._configuration = configuration
        self._lock = threading.Lock()
        self._catalogue: Catalogue | None = None
        self._runs: dict[HandRun, threading.Thread] = {}
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        return bool(self._runs)

    def catalogue(self) -> Catalogue:
        """The components that can be called; loads them, so not on the event loop."""
        with self._lock:
            if self._catalogue is None:
                self._catalogue = installed(self._configuration.components)
                for report in self._catalogue.reports:
                    log.warning("cellwright: %s", report)
            return self._catalogue

    def start(self, run: HandRun, line: EnvelopeLine, ended: Callable[[], None]) -> None:
        """Begin a call in a thread of its own.

        Args:
            run: The call.
            line: Told of the end.
            ended: Lets go of what the call worked with.

        Raises:
            Refusal: Too many go on.
        """

        def work() -> None:
            try:
                run.run()
            except Exception:  # the server goes on; the log has the traceback
                log.exception("cellwright: a component that was called by hand failed")
            finally:
                ended()
                with self._lock:
                    self._runs.pop(run, None)
                line.put(None)

        thread = threading.Thread(target=work, name="cellwright-component", daemon=True)
        with self._lock:
            busy = self._is_closed or len(self._runs) >= RUN_LIMIT
            if not busy:
                self._runs[run] = thread
                thread.start()
        if busy:
            ended()
            what = STOPPING if self._is_closed else f"{RUN_LIMIT} components run already"
            raise Refusal(409, f"Not now: {what}.", "Wait for one to end.", "busy")

    def close(self) -> None:
        """Stop every call and wait a little for it."""
        with self._lock:
            self._is_closed = True
            runs = dict(self._runs)
        for run in runs:
            run.stop.set(STOPPING)
        for thread in runs.values():
            thread.join(CLOSE_SECONDS)
