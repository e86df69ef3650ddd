"""One thread with one event loop, in which all MCP servers of a process are talked with."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from cellwright.errors import RunCancelled, ToolError
from cellwright.stopping import Stop

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
                self._thread = threading.Thread(
                    target=_drive, args=(self._loop,), name="cellwright-mcp", daemon=True
                )
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
