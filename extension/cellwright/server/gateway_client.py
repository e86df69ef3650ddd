"""A kernel behind a Kernel Gateway or Enterprise Gateway, as if its sockets were here.

The gateway speaks the kernel's messages as JSON over one WebSocket. It is read on the server's loop
and handed to the worker's thread through queues; a pipe wakes whoever polls.

Not covered: a gateway drops what a kernel prints past its own rate limit; buffers of binary
messages do not come through.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from cellwright.errors import KernelNotReadyError

__all__ = ["GatewayKernelClient", "open_gateway_client"]

CHANNELS = ("shell", "iopub", "control", "stdin")
CONNECT_SECONDS = 40.0
"""A gateway may have to ask a cluster first."""
MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024
BROKEN = "The connection to the kernel's gateway broke."
BROKEN_HINT = "Ask again; if that does not help, reconnect the notebook to its kernel."


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


class GatewayKernelClient:
    """What ``ClientKernel`` needs of a blocking client.

    Args:
        loop: The server's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        from jupyter_client.session import Session

        self.session = _GatewaySession(Session(), self)
        self._wake = _WakePipe()
        self._channels = {name: _Channel(name, self._wake) for name in CHANNELS}
        self.shell_channel = self._channels["shell"]
        self.iopub_channel = self._channels["iopub"]
        self.control_channel = self._channels["control"]
        self.stdin_channel = self._channels["stdin"]
        self._loop = loop
        self._lock = threading.Lock()
        self._websocket: Any = None
        self._is_broken = False

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

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message.

        Raises:
            KernelNotReadyError: The connection broke.
        """
        from jupyter_client.jsonutil import json_default

        self.check()
        text = json.dumps(message, default=json_default)
        self._loop.call_soon_threadsafe(self._write, text)

    def receive(self, channel: _Channel) -> Any:
        """The next message of a channel; None: there is none now.

        Raises:
            KernelNotReadyError: The connection broke.
        """
        with self._lock:
            message = channel.messages.popleft() if channel.messages else None
            if not any(other.messages for other in self._channels.values()):
                self._wake.clear()
        if message is None:
            self.check()
        return message

    def check(self) -> None:
        """Raise when the connection broke.

        Raises:
            KernelNotReadyError: It did.
        """
        if self._is_broken:
            raise KernelNotReadyError(BROKEN, hint=BROKEN_HINT)

    def stop_channels(self) -> None:
        """Let go of the kernel."""
        websocket = self._websocket
        if websocket is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(websocket.close)
        with self._lock:
            self._wake.close()

    def _write(self, text: str) -> None:
        try:
            self._websocket.write_message(text)
        except WebSocketClosedError:
            self._is_broken = True

    async def _read(self) -> None:
        while (text := await self._websocket.read_message()) is not None:
            message = json.loads(text)
            channel = self._channels.get(str(message.get("channel")))
            if channel is not None:
                with self._lock:
                    channel.messages.append(message)
                    self._wake.set()
        self._is_broken = True


class _Channel:
    """One channel and its socket in one: ``zmq.Poller`` wants no more than a file's number."""

    def __init__(self, name: str, wake: _WakePipe) -> None:
        self.name = name
        self.messages: deque[dict[str, Any]] = deque()
        self._wake = wake

    @property
    def socket(self) -> _Channel:
        return self

    def fileno(self) -> int:
        return self._wake.fileno()


class _WakePipe:
    """Can be read from for as long as it is set; its owner holds a lock."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._is_set = False
        self._is_closed = False

    def fileno(self) -> int:
        return self._reader.fileno()

    def set(self) -> None:
        if not self._is_set and not self._is_closed:
            self._writer.send(b"\0")
            self._is_set = True

    def clear(self) -> None:
        if self._is_set and not self._is_closed:
            self._reader.recv(1)
            self._is_set = False

    def close(self) -> None:
        self._is_closed = True
        self._reader.close()
        self._writer.close()


class _GatewaySession:
    """``jupyter_client``'s session, as far as ``Channels`` uses it, over JSON."""

    def __init__(self, session: Any, client: GatewayKernelClient) -> None:
        self._session, self._client = session, client

    @property
    def name(self) -> str:
        return str(self._session.session)

    def msg(self, message_type: str, content: Any, *, metadata: Any = None) -> dict[str, Any]:
        made = self._session.msg(message_type, content, metadata=metadata)
        return cast("dict[str, Any]", made)

    def send(self, channel: _Channel, message: dict[str, Any]) -> None:
        self._client.send({**message, "channel": channel.name, "buffers": []})

    def recv(self, channel: _Channel) -> tuple[None, dict[str, Any] | None]:
        return None, self._client.receive(channel)
