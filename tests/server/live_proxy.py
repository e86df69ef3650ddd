"""What stands between pages and a server: a hub, an office's proxy, one that is badly set up."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from types import TracebackType

__all__ = ["Proxy"]

CHUNK_BYTES = 64 * 1024


class Proxy:
    """Hands bytes on, in an ``async with`` block.

    Args:
        target: Port of the server on this machine.
        holds_seconds: So long it keeps back what the server sends.
        drops: Headers of requests that it does not hand on, in small letters.
    """

    def __init__(
        self, target: int, *, holds_seconds: float = 0.0, drops: tuple[str, ...] = ()
    ) -> None:
        self.port = 0
        self._target, self._holds_seconds, self._drops = target, holds_seconds, drops
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)
        await self._server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = asyncio.ensure_future(self._serve(reader, writer))
        self._lines.add(line)
        line.add_done_callback(self._lines.discard)

    async def _serve(self, page: asyncio.StreamReader, to_page: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            to_server.write(self._rewritten(await page.readuntil(b"\r\n\r\n")))
            await asyncio.gather(
                self._pump(page, to_server, 0.0), self._pump(server, to_page, self._holds_seconds)
            )
        finally:
            for writer in (to_page, to_server):
                writer.close()
                with suppress(OSError):
                    await writer.wait_closed()

    def _rewritten(self, head: bytes) -> bytes:
        lines = head.decode("latin-1").split("\r\n")
        kept = [line for line in lines if line.partition(":")[0].lower() not in self._drops]
        return "\r\n".join(kept).encode("latin-1")

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float
    ) -> None:
        while chunk := await reader.read(CHUNK_BYTES):
            await asyncio.sleep(seconds)
            writer.write(chunk)
            with suppress(OSError):
                await writer.drain()
        if writer.can_write_eof():
            with suppress(OSError):
                writer.write_eof()
