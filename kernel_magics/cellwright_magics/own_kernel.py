"""The kernel we are in, reached as its front ends reach it.

A chat waits for the model and for the person. On the main thread it would hold the kernel while it
waits, and no button could be pressed: so its loop has a thread of its own and sends cells over a
connection, where they queue with those of the person.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from cellwright.errors import SetupError
from cellwright.kernels.cell_run import Channels
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import client_of, disconnect
from cellwright.kernels.shell import interrupt_thread
from cellwright.stopping import WorkerThread

REPLY_SECONDS = 3.0
SUBSHELLS = "kernel subshells"


class OwnKernel:
    """What can be asked of the kernel we are in.

    Args:
        shell: Its shell.

    Raises:
        SetupError: It cannot be connected to.
    """

    def __init__(self, shell: Any) -> None:
        self._kernel = shell.kernel
        self._connection = _connection()

    @contextmanager
    def connected(self, on_waiting: Callable[[bool], None]) -> Iterator[ClientKernel]:
        """A connection for the time of one run: an idle one would heap up all that is printed.

        Args:
            on_waiting: Told when a cell of the person's is waited for, and when it has ended.
        """
        with self._client() as client:
            yield ClientKernel(client, _OwnProcess(), on_waiting=on_waiting)

    def open_subshell(self) -> str:
        """Start a thread that handles messages while a cell runs; its id, empty: there is none."""
        if SUBSHELLS not in self._kernel.kernel_info.get("supported_features", ()):
            return ""
        return str(self._controlled("create_subshell_request").get("subshell_id", ""))

    def close_subshell(self, subshell: str) -> None:
        """End that thread. It may be the one that calls, and would be waited for: from another."""
        delete = partial(self._controlled, "delete_subshell_request", subshell_id=subshell)
        WorkerThread(delete, name="subshell").start()

    def _controlled(self, request: str, **content: str) -> Mapping[str, Any]:
        """The answer to a request that is handled while a cell runs; empty: there was none."""
        with self._client() as client:
            channels = Channels(client)
            message_id = channels.send(request, content, channel="control")
            deadline = time.monotonic() + REPLY_SECONDS
            while (left := deadline - time.monotonic()) > 0:
                for message in channels.receive(left):
                    if message.channel == "control" and message.parent_id == message_id:
                        return message.content
        return {}

    @contextmanager
    def _client(self) -> Iterator[Any]:
        client = client_of(dict(self._connection))
        client.start_channels(hb=False, stdin=False)
        try:
            yield client
        finally:
            disconnect(client)


class _OwnProcess:
    """The process we are in."""

    def is_alive(self) -> bool:
        """Whoever can ask is alive."""
        return True

    def interrupt_kernel(self) -> None:
        """Interrupt what runs on the main thread; a message cannot do that on Windows."""
        interrupt_thread(threading.main_thread())


def _connection() -> Mapping[str, Any]:
    from ipykernel.connect import get_connection_info

    try:
        found = get_connection_info(unpack=True)
    except (RuntimeError, OSError) as error:
        raise SetupError(
            f"A chat needs a kernel that can be connected to; this one cannot: {error}.",
            hint="Ask with %agent and a prompt.",
        ) from error
    assert isinstance(found, dict)
    return found
