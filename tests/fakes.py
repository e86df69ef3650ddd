"""Small stand-ins with the real protocols: a kernel that plays a script, a shelf, a notebook."""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.errors import ToolError
from cellwright.kernels import CellRequest, KernelDescription, OutputSink
from cellwright.notebooks.memory import check_source
from cellwright.record.events import CellAdded, CellEdited, CellEvent, CellOutput, CellRemoved
from cellwright.record.outputs import Cell, Execution, OutputMessage, StreamOutput
from cellwright.stopping import Stop
from cellwright.tools import ToolContext, ToolLimits

__all__ = ["FakeKernel", "FakeNotebook", "MemoryShelf", "Played", "make_context"]


@dataclass(frozen=True)
class Played:
    """What running a cell comes to."""

    messages: tuple[OutputMessage, ...] = ()
    execution: Execution = field(default_factory=lambda: Execution("ok", 0.01))
    raises: BaseException | None = None
    """Raised after the messages."""


class FakeKernel:
    """Answers code with what was scripted for it; anything else runs without output.

    Args:
        cells: What each source comes to.
        probes: What each probe function answers, or a function of its arguments.
    """

    def __init__(
        self, cells: Mapping[str, Played] | None = None, probes: Mapping[str, Any] | None = None
    ) -> None:
        self._cells = dict(cells or {})
        self._probes = dict(probes or {})
        self.requests: list[CellRequest] = []
        self.interrupted = False
        self.session = "first"

    def wait_until_free(self, stop: Stop) -> None:
        """Nobody else uses it."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Play what was scripted for the code."""
        self.requests.append(request)
        stop.check()
        played = self._cells.get(request.code, Played())
        for message in played.messages:
            yield on_output(CellOutput(request.cell_id, message))
        for name in {item.name: 0 for item in played.messages if isinstance(item, StreamOutput)}:
            rest = on_output(CellOutput(request.cell_id, StreamOutput(name, "")))
            if isinstance(rest.message, StreamOutput) and rest.message.text:
                yield rest
        if played.raises is not None:
            raise played.raises
        return played.execution

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The scripted answer."""
        if function not in self._probes:
            raise ToolError(f"no answer is scripted for {function!r}")
        answer = self._probes[function]
        return answer(**arguments) if callable(answer) else answer

    def describe(self) -> KernelDescription:
        """A made-up kernel."""
        return KernelDescription("python", "3.11", "fake", ".")

    def is_alive(self) -> bool:
        """Always."""
        return True

    def interrupt(self) -> None:
        """Remembers that it was interrupted."""
        self.interrupted = True


class MemoryShelf:
    """Keeps cut texts in a dict."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def keep(self, name: str, text: str) -> None:
        """Keep a text."""
        self._texts[name] = text

    def get(self, name: str) -> str | None:
        """The text, or None."""
        return self._texts.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, oldest first."""
        return tuple(self._texts)


class FakeNotebook:
    """Cells in a list, changed by ``CellAdded``, ``CellEdited`` and ``CellRemoved`` alone."""

    def __init__(self, *cells: Cell) -> None:
        self._cells = {cell.id: cell for cell in cells}
        self.person_does: tuple[CellEvent, ...] = ()
        """What happens to the notebook while a cell waits to run."""
        self.confirmed: list[str] = []
        """Message ids of the cells that were to run."""

    @property
    def path(self) -> str:
        """It has no file."""
        return ""

    @property
    def is_editable(self) -> bool:
        """It takes cells."""
        return True

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """As ``person_does`` says: by then the person may have changed the cell."""
        self.confirmed.append(message_id)
        for event in self.person_does:
            self.apply(event)
        check_source(self.cells(), cell_id, source)

    def cells(self) -> tuple[Cell, ...]:
        """All cells, in order."""
        return tuple(self._cells.values())

    def apply(self, event: CellEvent) -> None:
        """Add, edit or remove a cell."""
        if isinstance(event, CellAdded):
            self._cells[event.cell_id] = Cell(event.cell_id, event.cell_type, event.source)
        elif isinstance(event, CellEdited) and event.cell_id in self._cells:
            kind = self._cells[event.cell_id].cell_type
            self._cells[event.cell_id] = Cell(event.cell_id, kind, event.source)
        elif isinstance(event, CellRemoved):
            self._cells.pop(event.cell_id, None)


def make_context(
    kernel: FakeKernel | None = None,
    *,
    notebook: FakeNotebook | None = None,
    limits: ToolLimits | None = None,
    sees_images: bool = False,
) -> ToolContext:
    """A context whose cells are named c1, c2, …"""
    numbers = itertools.count(1)
    return ToolContext(
        kernel=kernel or FakeKernel(),
        notebook=notebook,
        shelf=MemoryShelf(),
        stop=Stop(),
        on_output=lambda output: output,
        new_cell_id=lambda: f"c{next(numbers)}",
        call_id="call_1",
        limits=limits or ToolLimits(),
        sees_images=sees_images,
    )
