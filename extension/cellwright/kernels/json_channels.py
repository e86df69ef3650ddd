"""A kernel's channels as JSON over one WebSocket, as if its sockets were here.

Whoever reads the WebSocket hands its texts to ``deliver``, from any thread; a pipe wakes whoever
polls. What is sent goes to ``transmit``.

Not covered: messages with buffers, which come as bytes, are left out.
"""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any, cast

from cellwright.errors import KernelNotReadyError

CHANNELS = ("shell", "iopub", "control", "stdin")
BROKEN = "The connection to the kernel's gateway broke."
BROKEN_HINT = "Ask again; if that does not help, reconnect the notebook to its kernel."


class JsonClient:
    """What ``ClientKernel`` needs of a blocking client."""

    def __init__(self) -> None:
        from jupyter_client.session import Session

        self.session = _JsonSession(Session(), self)
        self._wake = _WakePipe()
        self._channels = {name: _Channel(name, self._wake) for name in CHANNELS}
        self.shell_channel = self._channels["shell"]
        self.iopub_channel = self._channels["iopub"]
        self.control_channel = self._channels["control"]
        self.stdin_channel = self._channels["stdin"]
        self._lock = threading.Lock()
        self._is_broken = False

    def start_channels(self, **_channels: bool) -> None:
        """Nothing: they are there with the connection."""

    def transmit(self, text: str) -> None:
        """Send a text over the WebSocket."""
        raise NotImplementedError

    def deliver(self, text: str) -> None:
        """Take in a text that came."""
        message = json.loads(text)
        channel = self._channels.get(str(message.get("channel")))
        if channel is not None:
            with self._lock:
                channel.messages.append(message)
                self._wake.set()

    def lose(self) -> None:
        """The connection broke; whoever waits is told."""
        with self._lock:
            self._is_broken = True
            self._wake.set()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message.

        Raises:
            KernelNotReadyError: The connection broke.
        """
        from jupyter_client.jsonutil import json_default

        self.check()
        self.transmit(json.dumps(message, default=json_default))

    def receive(self, channel: _Channel) -> Any:
        """The next message of a channel; None: there is none now.

        Raises:
            KernelNotReadyError: The connection broke.
        """
        with self._lock:
            message = channel.messages.popleft() if channel.messages else None
            if not self._is_broken and not any(other.messages for other in self._channels.values()):
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
        with self._lock:
            self._wake.close()


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


class _JsonSession:
    """``jupyter_client``'s session, as far as ``Channels`` uses it, over JSON."""

    def __init__(self, session: Any, client: JsonClient) -> None:
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
