"""A kernel that is started when something has to run in it: many a sample needs none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.cells import Execution
from cellwright.errors import KernelDiedError, KernelError
from cellwright.events import CellOutput
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.kernels.fresh import FreshKernel
from cellwright.stopping import Stop

__all__ = ["LateKernel"]

OF_A_NEW_KERNEL: Mapping[str, Any] = {
    "executed_cells": [],
    "last_error": None,
    "list_variables": [],
    "live_tools": [],
}
"""What a kernel would answer in which nothing has run yet."""
NOT_ASKED: Mapping[str, Any] = {"packages": {}}
"""Takes long to answer, and is the same for all samples: their records leave it out."""


class LateKernel:
    """A fresh kernel, there from its first cell on; ``kernels.Kernel``.

    Args:
        start: Starts it.
        cwd: Its folder.
    """

    def __init__(self, start: Callable[[], FreshKernel], cwd: str) -> None:
        self.failure = ""
        """Why it did not start; empty: it did, or nobody asked it to."""
        self._start = start
        self._cwd = cwd
        self._kernel: FreshKernel | None = None
        self._description: KernelDescription | None = None

    @property
    def way(self) -> str:
        """How it was started: ``started``, ``forked`` or ``gateway``; empty: not at all."""
        return self._kernel.process.way if self._kernel is not None else ""

    @property
    def session(self) -> str:
        """Names the life of the kernel; empty before it was started."""
        return self._kernel.session if self._kernel is not None else ""

    def started(self) -> FreshKernel:
        """The kernel itself, started now if it was not.

        Raises:
            KernelError: It does not start.
        """
        if self._kernel is None:
            self._kernel = self._start()
        return self._kernel

    def wait_until_free(self, stop: Stop) -> None:
        """Return at once: nobody else has cells in it."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as they come."""
        try:
            kernel = self.started()
        except (KernelError, OSError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            # Whatever it was: there is no kernel, so the run cannot go on.
            raise KernelDiedError(f"The kernel did not start: {error}") from error
        self._description = None
        return (yield from kernel.execute(request, stop, on_output))

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the probe, or what a kernel would answer that is not there yet."""
        if function in NOT_ASKED:
            return NOT_ASKED[function]
        if self._kernel is None and function in OF_A_NEW_KERNEL:
            return OF_A_NEW_KERNEL[function]
        return self.started().probe(function, arguments)

    def describe(self) -> KernelDescription:
        """Language, version and folder; no version before it was started."""
        if self._kernel is None:
            return KernelDescription("python", "", "", self._cwd)
        if self._description is None:
            # A record that says which process it was would be another one each time.
            self._description = replace(self._kernel.describe(), process_id=None)
        return self._description

    def is_alive(self) -> bool:
        """Whether it is there, or can be started."""
        return self._kernel is None or self._kernel.is_alive()

    def interrupt(self) -> None:
        """Interrupt our own cell if it runs."""
        if self._kernel is not None:
            self._kernel.interrupt()

    def fetch_files(self, folder: Path) -> None:
        """Bring what the kernel left in its folder to ours, where that is another one.

        Raises:
            KernelError: They cannot be fetched.
        """
        if self._kernel is not None:
            self._kernel.fetch_files(folder)

    def end(self) -> None:
        """End it at once: nobody will look at it any more."""
        if self._kernel is not None:
            self._kernel.close(now=True)
