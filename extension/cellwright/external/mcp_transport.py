"""The two ways to an MCP server: a program's standard streams, and HTTP.

Works with the SDK in versions 1 and 2: of what differs between them (httpx or httpx2, two or three
streams) nothing is named.
"""

from __future__ import annotations

import asyncio
import collections
import importlib
import os
import threading
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from cellwright.errors import ToolError
from cellwright.external import Definition
from cellwright.external.addresses import Origin, origin_of, pinned
from cellwright.external.mcp_refusals import Refusal
from cellwright.external.variables import expanded
from cellwright.external.web import Surroundings, check_secrecy, headers_of, reach_of

TAIL_LINES = 20
SHOWN_LINES = 3
SIZE_LIMIT_BYTES = 20_000_000
INSTALL = 'pip install "cellwright[mcp]"'
Streams = tuple[Any, Any]


class Tail:
    """The last lines that a program wrote on its error stream."""

    def __init__(self) -> None:
        self._lines: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
        read, write = os.pipe()
        self.stream = os.fdopen(write, "w")
        self._thread = threading.Thread(target=self._read, args=(read,), daemon=True)
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
    refusal: Refusal


async def open_streams(
    stack: AsyncExitStack, definition: Definition, surroundings: Surroundings, heard: Heard
) -> Streams:
    """The streams from and to a server, closed with the stack.

    Raises:
        ToolError: The SDK is missing, a variable is not set or the address is not allowed.
    """
    try:
        importlib.import_module("mcp")
    except ImportError as error:
        raise ToolError("MCP servers need the package 'mcp'.", hint=INSTALL) from error
    if definition.command:
        return await _program(stack, definition, surroundings, heard.tail)
    return await _http(stack, definition, surroundings, heard.refusal)


async def _program(
    stack: AsyncExitStack, definition: Definition, surroundings: Surroundings, tail: Tail
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
    stack: AsyncExitStack, definition: Definition, surroundings: Surroundings, refusal: Refusal
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
        self, http: Any, origin: Origin, addresses: tuple[str, ...], refusal: Refusal
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
