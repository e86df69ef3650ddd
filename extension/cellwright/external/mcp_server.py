"""An MCP server as a service: started when it is first used, and again after it died."""

from __future__ import annotations

import asyncio
import queue
import time
from collections.abc import Callable, Mapping
from typing import Any

from cellwright.errors import ToolError
from cellwright.external import Definition, Function, Listing
from cellwright.external.mcp_contents import called_output
from cellwright.external.mcp_loop import McpLoop
from cellwright.external.mcp_session import McpSession
from cellwright.external.web import Surroundings, hidden_of
from cellwright.record.content import ComponentOutput
from cellwright.stopping import Stop
from cellwright.tools import ToolContext

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
        surroundings: Surroundings,
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

        def note(done: float, total: float | None, message: str | None) -> None:
            said.put((done, total, message))

        async def work() -> dict[str, Any]:
            session = await self._running()
            try:
                return await session.call(function.name, arguments, note)
            except ToolError:
                if not session.was_forgotten:
                    raise
            return await (await self._running()).call(function.name, arguments, note)

        def meanwhile() -> None:
            while not said.empty():
                _notify(context, *said.get_nowait())

        hidden = hidden_of(self._definition, self._surroundings)
        try:
            result = self._loop.run(work, context.stop, meanwhile)
        except ToolError as error:
            raise ToolError(hidden.text(error.message), hint=error.hint) from None
        return called_output(hidden.value(result), context)

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
            await session.open()
            self._failures, self._not_before = 0, 0.0
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
