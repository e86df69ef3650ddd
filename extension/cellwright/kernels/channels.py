"""The channels to a live kernel: send a request, read whatever has come."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HANDSHAKE_MILLISECONDS = 200


@dataclass(frozen=True)
class Received:
    """A message from the kernel."""

    channel: str
    """``shell``, ``iopub``, ``control`` or ``stdin``."""
    type: str
    parent_id: str
    parent_type: str
    session: str
    """Changes when the kernel is restarted."""
    content: Mapping[str, Any]


class Channels:
    """Reads a ``jupyter_client`` blocking client's sockets; never waits longer than it is told.

    Args:
        client: A ``BlockingKernelClient`` whose channels are started.
        with_stdin: Hear what running cells ask.
    """

    def __init__(self, client: Any, *, with_stdin: bool = False) -> None:
        import zmq

        self._session = client.session
        self._sockets = {
            "iopub": client.iopub_channel.socket,
            "shell": client.shell_channel.socket,
            "control": client.control_channel.socket,
        }
        if with_stdin:
            self._sockets["stdin"] = _connected(client.stdin_channel.socket)
        self._poller = zmq.Poller()
        for socket in self._sockets.values():
            self._poller.register(socket, zmq.POLLIN)
        self._control_lock = threading.Lock()

    def send(
        self,
        message_type: str,
        content: Mapping[str, Any],
        *,
        channel: str = "shell",
        metadata: Mapping[str, Any] | None = None,
        message_id: str = "",
    ) -> str:
        """Send a request; return its id."""
        message = self._session.msg(message_type, dict(content), metadata=dict(metadata or {}))
        if message_id:
            message["msg_id"] = message["header"]["msg_id"] = message_id
        if channel == "control":
            # An interrupt may come from another thread.
            with self._control_lock:
                self._session.send(self._sockets[channel], message)
        else:
            self._session.send(self._sockets[channel], message)
        return str(message["header"]["msg_id"])

    def receive(self, seconds: float) -> list[Received]:
        """What has come, waiting up to ``seconds`` for the first message."""
        ready = self._poller.poll(max(0, round(seconds * 1000)))
        if not ready:
            return []
        return [message for name in self._sockets for message in self._read(name)]

    def _read(self, channel: str) -> Iterator[Received]:
        # In turns, so that a flood on one channel does not keep the others waiting.
        for _ in range(200):
            try:
                _, message = self._session.recv(self._sockets[channel])
            except (ValueError, TypeError, UnicodeDecodeError):
                # Not signed with our key, seen before, or no message at all.
                continue
            if message is None:
                return
            yield _received(channel, message)


def _received(channel: str, message: Mapping[str, Any]) -> Received:
    parent = message.get("parent_header") or {}
    return Received(
        channel=channel,
        type=str(message["header"]["msg_type"]),
        parent_id=str(parent.get("msg_id", "")),
        parent_type=str(parent.get("msg_type", "")),
        session=str(message["header"].get("session", "")),
        content=message.get("content") or {},
    )


def _connected(socket: Any) -> Any:
    """The socket, once the kernel knows it: what is asked of a stranger is lost."""
    import zmq

    if not isinstance(socket, zmq.Socket):
        # A gateway's channels are one web socket: who hears one hears all.
        return socket
    monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    monitor.poll(HANDSHAKE_MILLISECONDS)
    socket.disable_monitor()
    monitor.close(0)
    return socket
