"""An MCP server as a service: started when it is first used, and again after it died."""

from __future__ import annotations

import asyncio
import concurrent.futures
import queue
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from cellwright.errors import RunCancelled, SignInNeededError, ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.elicitation import Elicitation
from cellwright.external.mcp_session import (
    McpRefusal,
    McpSession,
    called_output,
    load_oauth,
    open_client,
)
from cellwright.external.web import ProcessEnvironment, hidden_of
from cellwright.record.content import ComponentOutput
from cellwright.stopping import Stop, WorkerThread
from cellwright.tools import ToolContext

# One thread with one event loop, in which all MCP servers of a process are talked with.


LOOK_SECONDS = 0.05
CLOSE_SECONDS = 5.0


class McpLoop:
    """Runs coroutines for threads that wait; its thread starts with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closers: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._is_closed = False

    def run(
        self,
        work: Callable[[], Coroutine[Any, Any, Any]],
        stop: Stop | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Any:
        """The result of a coroutine; it is cancelled when the one who waits is.

        Args:
            work: Makes the coroutine.
            stop: Ends the wait.
            meanwhile: Called while waiting, in the thread that waits.

        Raises:
            RunCancelled: The run was stopped.
        """
        future = asyncio.run_coroutine_threadsafe(work(), self._running())
        try:
            while True:
                # `meanwhile` is called again and again, so this looks again and again.
                concurrent.futures.wait([future], LOOK_SECONDS)
                meanwhile()
                if future.done():
                    return future.result()
                if stop is not None:
                    stop.check()
        except (KeyboardInterrupt, RunCancelled):
            future.cancel()
            raise

    def start(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Begin a coroutine that nobody waits for; it has to keep its errors."""
        asyncio.run_coroutine_threadsafe(work(), self._running())

    def at_close(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """What is done before the thread ends."""
        self._closers.append(work)

    def close(self) -> None:
        """End what runs, and the thread."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
            self._is_closed = True
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._ended(), loop)
        if thread is not threading.current_thread():
            thread.join(CLOSE_SECONDS)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._is_closed:
                raise ToolError("The connections to tools are closed.")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = WorkerThread(_drive, self._loop, name="tools")
                self._thread.start()
            return self._loop

    async def _ended(self) -> None:
        work = [closer() for closer in self._closers]
        await asyncio.wait_for(asyncio.gather(*work, return_exceptions=True), CLOSE_SECONDS)
        asyncio.get_running_loop().stop()


def _drive(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


BACK_OFF_SECONDS = (0.0, 1.0, 2.0, 5.0, 15.0, 60.0)
"""How long after a failed start the next one waits."""
Said = tuple[float, float | None, str | None]


class McpService:
    """A server, talked with from any thread.

    Args:
        definition: Where it is.
        surroundings: What it is started with.
        loop: Where it is talked with.
        on_listing: Told what it can do whenever that is known anew.
    """

    def __init__(
        self,
        definition: Definition,
        surroundings: ProcessEnvironment,
        loop: McpLoop,
        on_listing: Callable[[Listing], None] = lambda listing: None,
    ) -> None:
        self._definition = definition
        self._surroundings = surroundings
        self._loop = loop
        self._on_listing = on_listing
        self._opening: asyncio.Lock | None = None
        self._session: McpSession | None = None
        self._listing = Listing()
        self._failures = 0
        self._not_before = 0.0
        self.wants_sign_in = False
        """Whether it refused the last time because nobody is signed in to it."""
        loop.at_close(self._end)

    def listing(self, stop: Stop | None = None) -> Listing:
        """What it can do; starts it where it does not run."""
        self._loop.run(self._running, stop)
        return self._listing

    def call(
        self, function: Function, arguments: Mapping[str, Any], context: ToolContext
    ) -> ComponentOutput:
        """Let it do something; what it says meanwhile is progress."""
        said: queue.SimpleQueue[Said] = queue.SimpleQueue()
        asking = Elicitation(self._definition.name, context)

        def note(done: float, total: float | None, message: str | None) -> None:
            said.put((done, total, message))

        async def work() -> dict[str, Any]:
            session = await self._running()
            try:
                return await session.call(function, arguments, note, asking)
            except ToolError:
                if not session.was_forgotten:
                    raise
            return await (await self._running()).call(function, arguments, note, asking)

        def meanwhile() -> None:
            while not said.empty():
                _notify(context, *said.get_nowait())
            asking.serve()

        hidden = hidden_of(self._definition, self._surroundings)
        try:
            result = self._loop.run(work, context.stop, meanwhile)
        except ToolError as error:
            self.wants_sign_in = isinstance(error, SignInNeededError)
            raise type(error)(hidden.text(error.message), hint=error.hint) from None
        return called_output(hidden.value(result), context)

    def sign_in(self, redirect: Any, stop: Stop | None = None) -> None:
        """Have the user sign in to it; returns when they have.

        Args:
            redirect: Shows them the address, and waits for them (``oauth.SignInRedirect``).
            stop: Ends the wait.

        Raises:
            ToolError: They did not, or the service does not allow it.
        """

        async def work() -> None:
            async with await self._client(redirect) as client:
                await load_oauth().sign_in(client, self._definition)
            await self._end()

        self._loop.run(work, stop)

    def sign_out(self) -> None:
        """Forget the tokens here, and have the service forget them where it can."""

        async def work() -> None:
            async with await self._client() as client:
                with suppress(Exception):  # it has to be forgotten here in any case
                    await asyncio.wait_for(client.auth.revoke(client), CLOSE_SECONDS)

        if self._surroundings.sign_ins is not None:
            self._loop.run(work)
            self._surroundings.sign_ins.forget(self._definition.url)
        self.wants_sign_in = True
        self.close()

    async def _client(self, redirect: Any = None) -> Any:
        load_oauth()
        refusal = McpRefusal(self._definition)
        return await open_client(self._definition, self._surroundings, refusal, redirect)

    def close(self) -> None:
        """End it; it is started again when it is used again."""
        if self._session is not None:
            self._loop.run(self._end)

    async def _running(self) -> McpSession:
        self._opening = self._opening or asyncio.Lock()
        async with self._opening:
            if self._session is not None and self._session.is_alive:
                return self._session
            await self._end()
            wait = self._not_before - time.monotonic()
            if wait > 0:
                raise ToolError(
                    f"The server {self._definition.name!r} did not start; it is tried again in "
                    f"{wait:.0f} s.",
                    hint="Go on without it.",
                )
            session = McpSession(self._definition, self._surroundings, self._listed)
            self._count_failure()
            try:
                await session.open()
            except SignInNeededError:
                self._failures, self._not_before = 0, 0.0  # it runs, and waits for a person
                self.wants_sign_in = True
                raise
            self._failures, self._not_before, self.wants_sign_in = 0, 0.0, False
            self._session = session
            return session

    def _count_failure(self) -> None:
        self._failures = min(self._failures + 1, len(BACK_OFF_SECONDS) - 1)
        self._not_before = time.monotonic() + BACK_OFF_SECONDS[self._failures]

    def _listed(self, listing: Listing) -> None:
        self._listing = listing
        self._on_listing(listing)

    async def _end(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def _notify(context: ToolContext, done: float, total: float | None, message: str | None) -> None:
    share = done / total if total else None
    of = f" of {total:g}" if total else ""
    context.notify(message or f"{done:g}{of}", share)
