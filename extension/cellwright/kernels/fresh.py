"""A kernel started for one run, and ended with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Protocol, Self

from cellwright.errors import KernelDiedError, KernelError
from cellwright.kernels import InputAsker
from cellwright.kernels.cell_run import CellRun
from cellwright.kernels.client import ClientKernel, ProcessManager
from cellwright.kernels.installing import flood_limit
from cellwright.kernels.kernel_process import KernelProcess
from cellwright.kernels.outcome import ENDED
from cellwright.stopping import Stop

START_SECONDS = 60.0
LIMIT_MEMORY = "(lambda r: r.setrlimit(r.RLIMIT_AS, ({0}, {0})))(__import__('resource'))"


class OwnProcess(ProcessManager, Protocol):
    """The process of a kernel of our own, wherever it runs."""

    way: str
    """How it came to be: ``started``, ``forked`` or ``gateway``."""

    def client(self) -> Any:
        """A new connection; its channels are not started."""
        ...

    def end(self, *, now: bool = False) -> None:
        """End it, politely unless ``now``; a second call does nothing."""
        ...


@dataclass(frozen=True)
class Attendance:
    """Who attends to the kernel: what ``ClientKernel`` takes by the same names."""

    on_input: InputAsker | None = None
    on_waiting: Callable[[bool], None] | None = None


class FreshKernel(ClientKernel):
    """A kernel of our own; ``close`` ends its process, and so does leaving a ``with``."""

    _install_too = MappingProxyType({"flood": flood_limit(0)})

    def __init__(
        self, client: Any, process: OwnProcess, attendance: Attendance | None = None
    ) -> None:
        attendance = attendance or Attendance()
        super().__init__(client, process, on_input=attendance.on_input)
        self._on_waiting = attendance.on_waiting
        self.process = process
        self._own_client = client

    @classmethod
    def opened(
        cls,
        process: OwnProcess,
        attendance: Attendance | None = None,
        stop: Stop | None = None,
    ) -> Self:
        """The kernel of a process, once it answers.

        Raises:
            KernelError: It died, or did not answer in time.
            RunCancelled: Somebody asked to stop.
        """
        client = process.client()
        try:
            client.start_channels(hb=False, stdin=False)
            kernel = cls(client, process, attendance)
            kernel.wait_until_ready(START_SECONDS, stop)
        except BaseException:
            _disconnect(client)
            raise
        return kernel

    def __enter__(self) -> FreshKernel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait_until_ready(self, seconds: float, stop: Stop | None = None) -> None:
        """Wait until the kernel answers.

        Raises:
            KernelError: It died, or did not answer in time.
            RunCancelled: Somebody asked to stop.
        """
        self._get_ready(stop or Stop(), within=seconds)
        # Only from here on it is somebody's cell that is waited for.
        self._waiting.tell = self._on_waiting

    def limit_memory(self, size_bytes: int) -> None:
        """Limit its address space: a cell that wants more gets a ``MemoryError``.

        Raises:
            KernelError: Its system cannot do that.
        """
        reply = self._silently(Stop(), LIMIT_MEMORY.format(size_bytes))
        answer = reply.get("user_expressions", {}).get("answer", {})
        if answer.get("status") != "ok":
            raise KernelError(f"The kernel's memory cannot be limited: {answer.get('evalue')!r}.")

    def fetch_files(self, folder: Path) -> None:
        """Bring the files of its folder into ours; nothing to do where they are one."""

    def _give_up(self, run: CellRun) -> None:
        """A cell does not react: the kernel is ours, and ends with it.

        Raises:
            KernelDiedError: It was not somebody's Stop, which says so itself.
        """
        run.stuck_text = ENDED
        self.process.end(now=True)
        if not run.is_stopped:
            raise KernelDiedError(ENDED)

    def close(self, *, now: bool = False) -> None:
        """End the process, politely unless ``now``; a second call does nothing."""
        _disconnect(self._own_client)
        self.process.end(now=now)


def start_kernel(
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    kernel_name: str = "python3",
    attendance: Attendance | None = None,
    stop: Stop | None = None,
) -> FreshKernel:
    """Start a kernel and wait until it answers.

    Args:
        cwd: Its folder; ours by default.
        env: Its environment; ours by default.
        kernel_name: Name of an installed kernel.
        attendance: Answers what cells ask; by default nobody does.
        stop: Ends the waiting.

    Raises:
        KernelError: There is no such kernel, or it did not start.
        RunCancelled: Somebody asked to stop.
    """
    process = KernelProcess(kernel_name)
    try:
        process.start(
            os.fspath(cwd) if cwd is not None else os.getcwd(),
            env if env is not None else os.environ,
        )
        return FreshKernel.opened(process, attendance, stop)
    except BaseException:
        process.end(now=True)
        raise


def _disconnect(client: Any) -> None:
    client.stop_channels()
    context = getattr(client, "context", None)
    if context is not None:  # a gateway's client has none
        context.destroy(linger=100)
