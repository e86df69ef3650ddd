"""A notebook's own cells, run as its person would run them: in order, up to the first that fails.

They go over a connection of their own, so that the kernel's history holds them as the person's:
a run that follows knows what was executed and what failed last.
"""

from __future__ import annotations

import queue
import time
from typing import Any

from cellwright.commands.notebook_files import NotebookFile
from cellwright.commands.progress import output_lines
from cellwright.commands.terminal import Console
from cellwright.errors import KernelDiedError
from cellwright.kernels.fresh import FreshKernel
from cellwright.record.cells import Cell, Execution
from cellwright.record.events import CellFinished, CellOutput, CellStarted
from cellwright.record.outputs import ErrorOutput, from_kernel_message

READY_SECONDS = 60
LOOK_SECONDS = 0.5


def run_cells(kernel: FreshKernel, notebook: NotebookFile, console: Console) -> None:
    """Run the code cells; what they show goes into the notebook.

    Raises:
        KernelDiedError: The kernel ended meanwhile.
    """
    cells = [cell for cell in notebook.memory.cells() if cell.cell_type == "code"]
    client = kernel.process.client()
    client.start_channels(hb=False)
    try:
        client.wait_for_ready(timeout=READY_SECONDS)
        for number, cell in enumerate(cells, start=1):
            if not cell.source.strip():
                continue
            console.note(f"Running code cell {number} of {len(cells)} of the notebook …")
            error = _Running(kernel, client, notebook, cell).to_its_end()
            if error is not None:
                console.complain(
                    f"cellwright: code cell {number} of {len(cells)} failed; those after it were "
                    "not run."
                )
                for line in output_lines((error,)):
                    console.note(line)
                return
    finally:
        client.stop_channels()


class _Running:
    """One cell while it runs."""

    def __init__(
        self, kernel: FreshKernel, client: Any, notebook: NotebookFile, cell: Cell
    ) -> None:
        self._kernel = kernel
        self._client = client
        self._notebook = notebook
        self._cell = cell
        self._error: ErrorOutput | None = None
        self._count: int | None = None

    def to_its_end(self) -> ErrorOutput | None:
        memory, started = self._notebook.memory, time.monotonic()
        memory.apply(CellStarted(self._cell.id))
        request = self._client.execute(self._cell.source, allow_stdin=False)
        while not self._is_last(self._next_message(), request):
            pass
        seconds = time.monotonic() - started
        execution = Execution(
            "ok" if self._error is None else "error", seconds, self._error, self._count
        )
        memory.apply(CellFinished(self._cell.id, execution))
        return self._error

    def _next_message(self) -> dict[str, Any]:
        while True:
            try:
                message: dict[str, Any] = self._client.get_iopub_msg(timeout=LOOK_SECONDS)
                return message
            except queue.Empty:
                if not self._kernel.is_alive():
                    raise KernelDiedError(
                        f"The kernel ended while it ran cell {self._cell.id!r} of the notebook.",
                        hint="Look at that cell, or leave out --run-notebook.",
                    ) from None

    def _is_last(self, message: dict[str, Any], request: str) -> bool:
        if message["parent_header"].get("msg_id") != request:
            return False
        kind, content = message["msg_type"], message["content"]
        if kind == "execute_input":
            self._count = content.get("execution_count")
        output = from_kernel_message(kind, content)
        if output is not None:
            self._notebook.memory.apply(CellOutput(self._cell.id, output))
            self._error = output if isinstance(output, ErrorOutput) else self._error
        return bool(kind == "status" and content["execution_state"] == "idle")
