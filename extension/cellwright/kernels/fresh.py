"""A kernel started for one run, and ended with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from cellwright.kernels import InputAsker
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.kernel_process import KernelProcess
from cellwright.stopping import Stop

__all__ = ["Attendance", "FreshKernel", "start_kernel"]

START_SECONDS = 60.0
LIFT_FLOOD_LIMIT = (
    "(lambda thread: thread.schedule(lambda: thread.socket.setsockopt("
    "__import__('zmq').SNDHWM, 0)))(get_ipython().kernel.iopub_socket.io_thread)"
)
"""ipykernel drops messages past a thousand that wait to be sent: a flood of prints had holes."""


@dataclass(frozen=True)
class Attendance:
    """Who attends to the kernel: what ``ClientKernel`` takes by the same names."""

    on_input: InputAsker | None = None
    on_waiting: Callable[[bool], None] | None = None


class FreshKernel(ClientKernel):
    """A kernel of our own; ``close`` ends its process, and so does leaving a ``with``."""

    def __init__(
        self, client: Any, process: KernelProcess, attendance: Attendance | None = None
    ) -> None:
        attendance = attendance or Attendance()
        super().__init__(client, process, on_input=attendance.on_input)
        self._on_waiting = attendance.on_waiting
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
        # Only from here on it is somebody's cell that is waited for.
        self._waiting.tell = self._on_waiting

    def close(self) -> None:
        """End the process; a second call does nothing."""
        _disconnect(self._own_client)
        self.process.end()


def start_kernel(
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    kernel_name: str = "python3",
    attendance: Attendance | None = None,
) -> FreshKernel:
    """Start a kernel and wait until it answers.

    Args:
        cwd: Its folder; ours by default.
        env: Its environment; ours by default.
        kernel_name: Name of an installed kernel.
        attendance: Answers what cells ask; by default nobody does.

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
        kernel = FreshKernel(client, process, attendance)
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
