"""A kernel that is started when something has to run in it: many a question needs none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Generic, TypeVar

from cellwright.errors import CellwrightError, KernelDiedError
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.kernels.client import ClientKernel
from cellwright.record.cells import Execution
from cellwright.record.events import CellOutput
from cellwright.stopping import Stop

Started = TypeVar("Started", bound=ClientKernel)
OF_A_NEW_KERNEL: Mapping[str, Any] = {
    "executed_cells": [],
    "last_error": None,
    "list_variables": [],
    "live_tools": [],
}
"""What a kernel would answer in which nothing has run yet."""
NOT_ASKED: Mapping[str, Any] = {"packages": {}}
"""For the record alone, which does not say what a kernel has that was not there."""


class LateKernel(Generic[Started]):
    """``kernels.Kernel``, there from its first cell on.

    Args:
        start: Starts it.
        cwd: Its folder.
        language: In which its cells are written.
    """

    runs_elsewhere = True
    """Cells go on whatever this process does meanwhile."""

    def __init__(self, start: Callable[[], Started], cwd: str, language: str = "python") -> None:
        self.failure = ""
        """Why it did not start; empty: it did, or nobody asked it to."""
        self._start = start
        self._cwd, self._language = cwd, language
        self._kernel: Started | None = None

    @property
    def session(self) -> str:
        """Names the life of the kernel; empty before it was started."""
        return self._kernel.session if self._kernel is not None else ""

    def started(self) -> Started:
        """The kernel itself, started now if it was not.

        Raises:
            CellwrightError: It does not start.
        """
        if self._kernel is None:
            self._kernel = self._start()
        return self._kernel

    def wait_until_free(self, stop: Stop) -> None:
        """Return at once where nobody can have cells in it."""
        stop.check()
        if self._kernel is not None:
            self._kernel.wait_until_free(stop)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as they come."""
        try:
            kernel = self.started()
        except (CellwrightError, OSError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            # Whatever it was: there is no kernel, so the run cannot go on.
            raise KernelDiedError(f"The kernel did not start: {error}") from error
        return (yield from kernel.execute(request, stop, on_output))

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the probe, or what a kernel would answer that is not there yet."""
        if self._kernel is None and function in NOT_ASKED:
            return NOT_ASKED[function]
        if self._kernel is None and function in OF_A_NEW_KERNEL:
            return OF_A_NEW_KERNEL[function]
        return self.started().probe(function, arguments)

    def describe(self) -> KernelDescription:
        """Language, version and folder; no version before it was started."""
        if self._kernel is None:
            return KernelDescription(self._language, "", "", self._cwd)
        return self._kernel.describe()

    def is_alive(self) -> bool:
        """Whether it is there, or can be started."""
        return self._kernel is None or self._kernel.is_alive()

    def interrupt(self) -> None:
        """Interrupt our own cell if it runs."""
        if self._kernel is not None:
            self._kernel.interrupt()

    def extend(self, seconds: float) -> bool:
        """Let the cell that runs go on for longer; whether one does."""
        return self._kernel is not None and self._kernel.extend(seconds)

    def close(self) -> None:
        """Let go of it, where it was started."""
        if self._kernel is not None:
            self._kernel.close()
