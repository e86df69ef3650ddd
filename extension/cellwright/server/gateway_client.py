"""A kernel behind a Kernel Gateway or Enterprise Gateway, reached as the server itself does.

The WebSocket is read on the server's loop; the worker's thread gets what comes by queues.

Not covered: a gateway drops what a kernel prints past its own rate limit.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import quote

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from cellwright.errors import KernelNotReadyError
from cellwright.kernels.json_channels import BROKEN_HINT, JsonClient

CONNECT_SECONDS = 40.0
"""A gateway may have to ask a cluster first."""
MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024


def open_gateway_client(kernel_id: str, loop: asyncio.AbstractEventLoop) -> GatewayKernelClient:
    """A connection to a kernel that the server reaches through its gateway; for worker threads.

    Raises:
        KernelNotReadyError: The gateway does not let us in.
    """
    client = GatewayKernelClient(loop)
    connecting = asyncio.run_coroutine_threadsafe(client.connect(kernel_id), loop)
    try:
        connecting.result(CONNECT_SECONDS)
    # Whatever sockets, TLS and HTTP may raise.
    except Exception as error:
        connecting.cancel()
        client.stop_channels()
        raise KernelNotReadyError(
            f"The kernel's gateway cannot be reached: {error!r}.", hint=BROKEN_HINT
        ) from error
    return client


class GatewayKernelClient(JsonClient):
    """What ``ClientKernel`` needs of a blocking client.

    Args:
        loop: The server's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._websocket: Any = None

    async def connect(self, kernel_id: str) -> None:
        """Connect as the server itself does, with its credentials and certificates."""
        from jupyter_server.gateway.gateway_client import GatewayClient

        gateway: Any = GatewayClient.instance()
        address = "/".join(
            part.strip("/") for part in (gateway.ws_url or "", gateway.kernels_endpoint)
        )
        session = quote(self.session.name)
        url = f"{address}/{quote(kernel_id)}/channels?session_id={session}"
        request = HTTPRequest(url, **gateway.load_connection_args())
        self._websocket = await websocket_connect(request, max_message_size=MESSAGE_LIMIT_BYTES)
        self._reading = asyncio.ensure_future(self._read())

    def transmit(self, text: str) -> None:
        """Send a text, on the server's loop."""
        self._loop.call_soon_threadsafe(self._write, text)

    def stop_channels(self) -> None:
        """Let go of the kernel."""
        websocket = self._websocket
        if websocket is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(websocket.close)
        super().stop_channels()

    def _write(self, text: str) -> None:
        try:
            self._websocket.write_message(text)
        except WebSocketClosedError:
            self.lose()

    async def _read(self) -> None:
        while (text := await self._websocket.read_message()) is not None:
            self.deliver(text)
        self.lose()
