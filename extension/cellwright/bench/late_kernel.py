"""The kernel of a sample, started when something has to run in it: many a sample needs none."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.kernels.fresh import FreshKernel
from cellwright.kernels.late import NOT_ASKED, LateKernel
from cellwright.record.cells import Execution
from cellwright.record.events import CellOutput
from cellwright.stopping import Stop


class SampleKernel(LateKernel[FreshKernel]):
    """A fresh kernel that one sample works in.

    Args:
        start: Starts it.
        cwd: Its folder.
    """

    runs_elsewhere = False
    """A sample waits for its cells."""

    def __init__(self, start: Callable[[], FreshKernel], cwd: str) -> None:
        super().__init__(start, cwd)
        self._description: KernelDescription | None = None

    @property
    def way(self) -> str:
        """How it was started: ``started``, ``forked`` or ``gateway``; empty: not at all."""
        return self._kernel.process.way if self._kernel is not None else ""

    def wait_until_free(self, stop: Stop) -> None:
        """Return at once: nobody else has cells in it."""
        stop.check()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the probe; what is the same for all samples is not asked, it takes long."""
        if function in NOT_ASKED:
            return NOT_ASKED[function]
        return super().probe(function, arguments)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell, after which the folder may be another one."""
        self._description = None
        return (yield from super().execute(request, stop, on_output))

    def describe(self) -> KernelDescription:
        """Language, version and folder; no version before it was started."""
        if self._kernel is None:
            return super().describe()
        if self._description is None:
            # A record that says which process it was would be another one each time.
            self._description = replace(self._kernel.describe(), process_id=None)
        return self._description

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
