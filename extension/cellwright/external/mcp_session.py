"""One connection to an MCP server, over a program's streams or HTTP; lives in the loop's thread."""

from __future__ import annotations

import asyncio
import collections
import importlib
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from cellwright.errors import CellwrightError, ToolError
from cellwright.external import Definition, Listing
from cellwright.external.addresses import Origin, origin_of, pinned
from cellwright.external.mcp_contents import listed
from cellwright.external.variables import expanded, variables_in
from cellwright.external.web import ProcessEnvironment, check_secrecy, headers_of, reach_of
from cellwright.installation import install_hint
from cellwright.stopping import WorkerThread

# What an MCP server over HTTP refuses, in words that say what to do: the SDK tells no status.


ELSEWHERE = "It signs in with OAuth, which cellwright does not."
GIVE = (
    "Put a token into an environment variable where cellwright runs, and name that variable: "
    "--key VARIABLE on the line, key = 'VARIABLE' in a file."
)


class McpRefusal:
    """What the last answer to a message was, where it was a refusal.

    Args:
        definition: The server.
    """

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._status = 0
        self._wants_oauth = False

    def note(self, method: str, status: int, headers: Mapping[str, str]) -> None:
        """Look at an answer; a server need not answer what is no ``POST``."""
        if method == "POST":
            self._status = status if status >= 400 else 0
            self._wants_oauth = "resource_metadata" in headers.get("www-authenticate", "")

    @property
    def is_forgotten(self) -> bool:
        """Whether it no longer knows the session; what was sent was not begun then."""
        return self._status == HTTPStatus.NOT_FOUND

    @property
    def is_of_key(self) -> bool:
        """Whether a key is missing, or was not taken."""
        return self._status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

    def error(self) -> ToolError | None:
        """What people and the model are told; None: it was no refusal, or says why itself."""
        if not self._status or self._status == HTTPStatus.BAD_REQUEST:
            return None
        try:
            words = f"{self._status} {HTTPStatus(self._status).phrase}"
        except ValueError:
            words = str(self._status)
        what = f"The server {self._definition.name!r} refused: {words}."
        return ToolError(what, hint=self._hint())

    def _hint(self) -> str:
        if self.is_forgotten:
            return f"Look at its address: {self._definition.url}."
        if not self.is_of_key:
            return ""
        templates = [*self._definition.headers.values(), f"${{{self._definition.key}}}"]
        given = variables_in(templates)
        if given:
            return f"What {' and '.join(given)} holds was not taken; it may be out of date."
        return f"{ELSEWHERE} {GIVE}" if self._wants_oauth else GIVE


# The two ways to an MCP server: a program's standard streams, and HTTP.
#
# Works with the SDK in versions 1 and 2: of what differs between them (httpx or httpx2, two or
# three streams) nothing is named.


TAIL_LINES = 20
SHOWN_LINES = 3
SIZE_LIMIT_BYTES = 20_000_000
Streams = tuple[Any, Any]


class Tail:
    """The last lines that a program wrote on its error stream."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        read, write = os.pipe()
        self.stream = os.fdopen(write, "w")
        self._thread = WorkerThread(self._read, read, name="tool-errors")
        self._thread.start()

    def text(self) -> str:
        """What it said last."""
        return "\n".join(list(self._lines)[-SHOWN_LINES:])

    def close(self) -> None:
        """No more is read once the program has ended too."""
        self.stream.close()

    def settle(self, seconds: float = 0.2) -> None:
        """Wait a moment for the last lines of a program that has ended."""
        self.close()
        self._thread.join(seconds)

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                self._lines.append(line.rstrip()[:500])


@dataclass(frozen=True)
class Heard:
    """What a server says beside the protocol."""

    tail: Tail
    refusal: McpRefusal


async def open_streams(
    stack: AsyncExitStack, definition: Definition, surroundings: ProcessEnvironment, heard: Heard
) -> Streams:
    """The streams from and to a server, closed with the stack.

    Raises:
        ToolError: The SDK is missing, a variable is not set or the address is not allowed.
    """
    try:
        importlib.import_module("mcp")
    except ImportError as error:
        text = "MCP servers need the package 'mcp'."
        raise ToolError(text, hint=install_hint("mcp")) from error
    if definition.command:
        return await _program(stack, definition, surroundings, heard.tail)
    return await _http(stack, definition, surroundings, heard.refusal)


async def _program(
    stack: AsyncExitStack, definition: Definition, surroundings: ProcessEnvironment, tail: Tail
) -> Streams:
    stdio = importlib.import_module("mcp.client.stdio")
    environ = surroundings.environ
    given = {name: expanded(value, environ) for name, value in definition.environment.items()}
    parameters = stdio.StdioServerParameters(
        command=expanded(definition.command, environ),
        args=[expanded(argument, environ) for argument in definition.arguments],
        env=given or None,
        cwd=definition.folder or surroundings.folder or None,
    )
    read, write = await stack.enter_async_context(stdio.stdio_client(parameters, tail.stream))
    return read, write


async def _http(
    stack: AsyncExitStack,
    definition: Definition,
    surroundings: ProcessEnvironment,
    refusal: McpRefusal,
) -> Streams:
    module = importlib.import_module("mcp.client.streamable_http")
    http = getattr(module, "httpx2", None) or module.httpx
    headers = headers_of(definition, surroundings)
    reach = reach_of(definition, surroundings)
    origin = origin_of(definition.url)
    check_secrecy(origin, bool(headers), reach)
    addresses = await asyncio.to_thread(pinned, origin, reach)
    timeout = http.Timeout(30.0, read=max(300.0, definition.timeout_seconds))
    transport = _Pinned(http, origin, addresses, refusal)
    client = http.AsyncClient(
        headers=headers,
        timeout=timeout,
        transport=_as_transport(http, transport),
        follow_redirects=False,
    )
    await stack.enter_async_context(client)
    opened = module.streamable_http_client(definition.url, http_client=client)
    read, write, *_ = await stack.enter_async_context(opened)
    return read, write


class _Pinned:
    """Sends requests to addresses that were looked at, and to no other host."""

    def __init__(
        self, http: Any, origin: Origin, addresses: tuple[str, ...], refusal: McpRefusal
    ) -> None:
        self._http = http
        self._inner = http.AsyncHTTPTransport()
        self._origin = origin
        self._refusal = refusal
        self._addresses = list(addresses)

    async def handle(self, request: Any) -> Any:
        if origin_of(str(request.url)).host != self._origin.host:
            raise self._http.ConnectError(f"{request.url.host!r} is another host; not followed")
        while True:
            try:
                response = await self._send(request)
            except (self._http.ConnectError, self._http.ConnectTimeout):
                if len(self._addresses) < 2:
                    raise
                self._addresses.pop(0)
                continue
            self._refusal.note(request.method, response.status_code, response.headers)
            response.stream = _capped(self._http, response.stream, request.method == "GET")
            return response

    async def close(self) -> None:
        await self._inner.aclose()

    async def _send(self, request: Any) -> Any:
        url = request.url.copy_with(host=self._addresses[0])
        # the certificate has to be the name's, not the address's
        extensions = {**request.extensions, "sni_hostname": self._origin.host}
        sent = self._http.Request(
            request.method,
            url,
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        return await self._inner.handle_async_request(sent)


def _as_transport(http: Any, pinned_transport: _Pinned) -> Any:
    async def handle_async_request(_self: Any, request: Any) -> Any:
        return await pinned_transport.handle(request)

    async def aclose(_self: Any) -> None:
        await pinned_transport.close()

    body = {"handle_async_request": handle_async_request, "aclose": aclose}
    return type("PinnedTransport", (http.AsyncBaseTransport,), body)()


def _capped(http: Any, stream: Any, is_endless: bool) -> Any:
    """A body of a size that can be held; the stream of a server's own messages may be long."""

    async def iterate(_self: Any) -> Any:
        size = 0
        async for chunk in stream:
            size += 0 if is_endless else len(chunk)
            if size > SIZE_LIMIT_BYTES:
                raise http.ReadError(f"the answer has more than {SIZE_LIMIT_BYTES:,} bytes")
            yield chunk

    async def aclose(_self: Any) -> None:
        await stream.aclose()

    body = {"__aiter__": iterate, "aclose": aclose}
    return type("CappedStream", (http.AsyncByteStream,), body)()


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
        surroundings: ProcessEnvironment,
        on_listing: Callable[[Listing], None],
    ) -> None:
        self._definition = definition
        self._surroundings = surroundings
        self._on_listing = on_listing
        self._tail = Tail()
        self._refusal = McpRefusal(definition)
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
