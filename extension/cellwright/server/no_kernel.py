"""What a component has for a kernel where nobody named one."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from cellwright.errors import KernelNotReadyError
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.record.cells import Execution
from cellwright.record.events import CellOutput
from cellwright.stopping import Stop


class NoKernel:
    """``kernels.Kernel``: whoever wants something of it is told that none was named."""

    @property
    def session(self) -> str:
        """It has no life that could end."""
        return ""

    def wait_until_free(self, stop: Stop) -> None:
        """Nobody uses it."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Refuse."""
        raise _missing()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Refuse."""
        raise _missing()

    def describe(self) -> KernelDescription:
        """Refuse."""
        raise _missing()

    def is_alive(self) -> bool:
        """It never was."""
        return False

    def interrupt(self) -> None:
        """There is nothing to interrupt."""


def _missing() -> KernelNotReadyError:
    return KernelNotReadyError("No kernel was named.", hint="Call the route with ?kernel=….")
