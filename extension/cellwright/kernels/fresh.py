"""A kernel started for one run, and ended with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from cellwright.kernels.client import ClientKernel
from cellwright.kernels.kernel_process import KernelProcess
from cellwright.stopping import Stop

__all__ = ["FreshKernel", "start_kernel"]

START_SECONDS = 60.0
LIFT_FLOOD_LIMIT = (
    "(lambda thread: thread.schedule(lambda: thread.socket.setsockopt("
    "__import__('zmq').SNDHWM, 0)))(get_ipython().kernel.iopub_socket.io_thread)"
)
"""ipykernel drops messages past a thousand that wait to be sent: a flood of prints had holes."""


class FreshKernel(ClientKernel):
    """A kernel of our own; ``close`` ends its process, and so does leaving a ``with``."""

    def __init__(self, client: Any, process: KernelProcess) -> None:
        super().__init__(client, process)
        self.process = process
        self._own_client = client

    def __enter__(self) -> FreshKernel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the kernel answers.

        Raises:
            KernelError: It died, or did not answer in time.
        """
        self._get_ready(Stop(), within=seconds)
        # What comes of it is not looked at: another kind of kernel may not understand it.
        self._silently("", Stop(), LIFT_FLOOD_LIMIT)

    def close(self) -> None:
        """End the process; a second call does nothing."""
        _disconnect(self._own_client)
        self.process.end()


def start_kernel(
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    kernel_name: str = "python3",
) -> FreshKernel:
    """Start a kernel and wait until it answers.

    Args:
        cwd: Its folder; ours by default.
        env: Its environment; ours by default.
        kernel_name: Name of an installed kernel.

    Raises:
        KernelError: There is no such kernel, or it did not start.
    """
    process, client = KernelProcess(kernel_name), None
    try:
        process.start(
            os.fspath(cwd) if cwd is not None else os.getcwd(),
            env if env is not None else os.environ,
        )
        client = process.client()
        client.start_channels(hb=False, stdin=False)
        kernel = FreshKernel(client, process)
        kernel.wait_until_ready(START_SECONDS)
    except BaseException:
        if client is not None:
            _disconnect(client)
        process.end(now=True)
        raise
    return kernel


def _disconnect(client: Any) -> None:
    client.stop_channels()
    client.context.destroy(linger=100)
