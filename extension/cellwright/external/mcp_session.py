"""One connection to an MCP server, from the greeting to its end; lives in the loop's thread."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

from cellwright.errors import CellwrightError, ToolError
from cellwright.external import Definition, Listing
from cellwright.external.mcp_contents import listed
from cellwright.external.mcp_refusals import Refusal
from cellwright.external.mcp_transport import Heard, Tail, open_streams
from cellwright.external.web import Surroundings

START_SECONDS = 60.0
PAGE_LIMIT = 20
CLOSED_CODE = -32000
LIST_CHANGED = "notifications/tools/list_changed"
SILENCE = logging.NullHandler()
Progress = Callable[[float, float | None, str | None], None]


class McpSession:
    """A server that was greeted.

    Args:
        definition: Where it is.
        surroundings: What it is started with.
        on_listing: Told what it can do, at the start and whenever that changes.
    """

    def __init__(
        self,
        definition: Definition,
        surroundings: Surroundings,
        on_listing: Callable[[Listing], None],
    ) -> None:
        self._definition = definition
        self._surroundings = surroundings
        self._on_listing = on_listing
        self._tail = Tail()
        self._refusal = Refusal(definition)
        self._closing = asyncio.Event()
        self._session: Any = None
        self._keeper: asyncio.Task[None] | None = None
        self._relisting: set[asyncio.Task[None]] = set()

    @property
    def is_alive(self) -> bool:
        """Whether it can be called."""
        return self._keeper is not None and not self._keeper.done() and self._session is not None

    @property
    def was_forgotten(self) -> bool:
        """Whether the server, started anew, does not know it; the last call was not begun."""
        return not self.is_alive and self._refusal.is_forgotten

    async def open(self) -> None:
        """Start and greet it.

        Raises:
            ToolError: It did not start, or does not speak the protocol.
        """
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeper = asyncio.create_task(self._keep(ready))
        try:
            await asyncio.wait_for(asyncio.shield(ready), START_SECONDS)
        except BaseException as error:
            ready.cancel()
            await self.close()
            raise self._failure("cannot be started", error) from error

    async def call(
        self, name: str, arguments: Mapping[str, Any], progress: Progress
    ) -> dict[str, Any]:
        """What one of its tools answers, as on the wire.

        Raises:
            ToolError: It did not answer in time, is gone, or refused the call.
        """
        assert self._keeper is not None

        async def note(done: float, total: float | None = None, message: str | None = None) -> None:
            progress(done, total, message)

        called = self._session.call_tool(name, dict(arguments), progress_callback=note)
        task = asyncio.ensure_future(called)
        try:
            waiting = {task, self._keeper}
            limit = self._definition.timeout_seconds
            await asyncio.wait(waiting, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return _wire(task.result())
            if self._keeper.done():
                raise self._gone()
            raise ToolError(f"{name!r} did not answer within {limit:g} s.")
        except (CellwrightError, asyncio.CancelledError):
            raise
        except Exception as error:
            if getattr(getattr(error, "error", None), "code", 0) == CLOSED_CODE:
                await self.close()
                raise self._gone() from error
            if self._refusal.is_forgotten:
                await self.close()
            refused = self._key_refused()
            raise refused or ToolError(f"{name!r} failed: {_words(error)}") from error
        finally:
            task.cancel()
            with suppress(BaseException):
                await task

    async def close(self) -> None:
        """End it."""
        self._closing.set()
        if self._keeper is not None:
            done, _ = await asyncio.wait({self._keeper}, timeout=10.0)
            if not done:
                self._keeper.cancel()
        self._tail.close()

    def _key_refused(self) -> ToolError | None:
        return self._refusal.error() if self._refusal.is_of_key else None

    def _gone(self) -> ToolError:
        refused = self._key_refused()  # version 1 of the SDK ends for it
        if refused is not None:
            return refused
        self._tail.settle()
        said = self._tail.text()
        last = f" It said last: {said}" if said else ""
        return ToolError(
            f"The server {self._definition.name!r} ended while it worked.{last}",
            hint="It is started again with the next call; what it had begun may be half done.",
        )

    def _failure(self, what: str, error: BaseException) -> BaseException:
        if isinstance(error, (ToolError, asyncio.CancelledError)):
            return error
        refused = self._refusal.error()
        if refused is not None:
            return refused
        self._tail.settle()
        said = self._tail.text()
        last = f" It said: {said}" if said else ""
        if isinstance(error, TimeoutError):
            return ToolError(
                f"The server {self._definition.name!r} did not start within "
                f"{START_SECONDS:g} s.{last}"
            )
        return ToolError(f"The server {self._definition.name!r} {what}: {_words(error)}.{last}")

    async def _keep(self, ready: asyncio.Future[None]) -> None:
        """Hold the connection open; the SDK wants it closed by the task that opened it."""
        try:
            async with AsyncExitStack() as stack:
                session = await self._opened(stack)
                self._on_listing(await self._asked(session))
                self._session = session
                if not ready.done():
                    ready.set_result(None)
                await self._closing.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(_first(error))
            elif isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
        finally:
            self._session = None

    async def _opened(self, stack: AsyncExitStack) -> Any:
        anyio = importlib.import_module("anyio")
        heard = Heard(self._tail, self._refusal)
        read, write = await open_streams(stack, self._definition, self._surroundings, heard)
        sink, source = anyio.create_memory_object_stream(0)
        group = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(group.cancel_scope.cancel)
        stack.callback(sink.close)
        stack.callback(source.close)
        stack.push_async_callback(read.aclose)
        group.start_soon(self._relay, read, sink)
        # what it would say on the error stream is said in the tool's error
        logging.getLogger("mcp").addHandler(SILENCE)
        session_class = importlib.import_module("mcp").ClientSession
        session = session_class(source, write, message_handler=self._heard)
        await stack.enter_async_context(session)
        await _greet(session)
        return session

    async def _relay(self, read: Any, sink: Any) -> None:
        """Hand on what the server says; its end is the end of the connection."""
        async with sink:
            async for message in read:
                await sink.send(message)
        self._closing.set()

    async def _heard(self, message: Any) -> None:
        inner = getattr(message, "root", message)
        if getattr(inner, "method", "") == LIST_CHANGED and self._session is not None:
            # asking at once would wait for the answer where answers are heard
            task = asyncio.create_task(self._relist())
            self._relisting.add(task)
            task.add_done_callback(self._relisting.discard)

    async def _relist(self) -> None:
        with suppress(Exception):  # the list that is known stays
            self._on_listing(await self._asked(self._session))

    async def _asked(self, session: Any) -> Listing:
        types = importlib.import_module("mcp.types")
        tools: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(PAGE_LIMIT):
            page = await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
            data = _wire(page)
            tools += data.get("tools") or []
            cursor = data.get("nextCursor")
            if not cursor:
                break
        return listed(tools)


async def _greet(session: Any) -> None:
    """The handshake that all servers know; servers of the newest kind alone want another."""
    try:
        await session.initialize()
    except Exception as error:
        discover = getattr(session, "discover", None)
        if discover is None or getattr(error, "error", None) is None:
            raise
        await discover()


def _wire(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return data


def _first(error: BaseException) -> BaseException:
    """The error within groups of one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _words(error: BaseException) -> str:
    inner = _first(error)
    return str(inner).strip() or type(inner).__name__
