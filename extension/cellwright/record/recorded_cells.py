"""The cells of a run and every time one of them ran, put together from what was reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cellwright.record import outputs
from cellwright.record.cells import PROVENANCE, Cell, CellType, Execution, source_hash
from cellwright.record.outputs import (
    DisplayData,
    DisplayUpdate,
    ExecuteResult,
    Output,
    OutputMessage,
)

HUMAN_EDIT = "human-edit"


@dataclass(frozen=True)
class RecordedCell:
    """A cell of the run as it was in the end."""

    cell: Cell
    origin: str
    """``agent``, ``user``, or ``human-edit`` of what an agent wrote and a person changed."""
    execution: Execution | None = None
    """How its last execution ended; None: it never ran, or it had not ended."""
    call_id: str = ""
    started_at: float | None = None
    """Seconds since the epoch."""
    is_removed: bool = False
    """It was taken out of the notebook again."""


@dataclass(frozen=True)
class RecordedExecution:
    """One time a cell ran, with the source it had then: a repaired cell has several."""

    cell_id: str
    source: str
    origin: str
    """``agent``, ``user``, or ``human-edit`` of what an agent wrote and a person changed."""
    outputs: tuple[Output, ...] = ()
    execution: Execution | None = None
    """None: it had not ended when the record stops."""
    call_id: str = ""
    started_at: float = 0.0
    """Seconds since the epoch."""


@dataclass
class _Run:
    """An execution while its messages are still coming."""

    start: RecordedExecution
    messages: list[OutputMessage] = field(default_factory=list)

    def value(self) -> RecordedExecution:
        return replace(self.start, outputs=outputs.fold(self.messages))


def _origin(cell: Cell) -> str:
    """Who wrote a cell that was there before the run: what an agent wrote has its hash."""
    made = cell.metadata.get(PROVENANCE)
    written = made.get("hash") if isinstance(made, Mapping) else None
    if not isinstance(written, str) or not written:
        return "user"
    return "agent" if written == source_hash(cell.source) else HUMAN_EDIT


class CellLog:
    """Takes what happened to cells, in order, and tells what they are by then."""

    def __init__(self) -> None:
        self.call_id = ""
        """The tool call that is being answered."""
        self._cells: dict[str, RecordedCell] = {}
        self._start: dict[str, Cell] = {}
        self._runs: list[_Run] = []
        self._last_run: dict[str, _Run] = {}
        self._shown: dict[str, list[_Run]] = {}

    def known(self, cells: Iterable[Cell]) -> None:
        """Take the cells that were there before the run."""
        self._start.update((cell.id, cell) for cell in cells)

    def added(self, cell_id: str, source: str, cell_type: CellType, call_id: str) -> None:
        """A cell came into being."""
        cell = Cell(cell_id, cell_type, source)
        self._cells[cell_id] = RecordedCell(cell, "agent", call_id=call_id or self.call_id)

    def edited(self, cell_id: str, source: str, call_id: str) -> None:
        """A cell's source was replaced."""
        known = self._known(cell_id)
        cell = replace(known.cell, source=source)
        origin = "agent" if known.origin == HUMAN_EDIT else known.origin
        call_id = call_id or self.call_id
        self._cells[cell_id] = replace(known, cell=cell, origin=origin, call_id=call_id)

    def removed(self, cell_id: str) -> None:
        """A cell was taken out."""
        self._cells[cell_id] = replace(self._known(cell_id), is_removed=True)

    def started(self, cell_id: str, time: float) -> None:
        """A cell began to run: what it showed before is gone."""
        known = self._known(cell_id)
        call_id = self.call_id or known.call_id
        self._cells[cell_id] = replace(known, call_id=call_id, started_at=time, execution=None)
        run = _Run(
            RecordedExecution(
                cell_id, known.cell.source, known.origin, call_id=call_id, started_at=time
            )
        )
        self._runs.append(run)
        self._last_run[cell_id] = run

    def sent(self, cell_id: str, message: OutputMessage, time: float) -> None:
        """A cell sent something, during its run or late."""
        if cell_id not in self._last_run:
            self.started(cell_id, time)
        run = self._last_run[cell_id]
        if isinstance(message, DisplayUpdate):
            for holder in self._shown.get(message.display_id, [run]):
                holder.messages.append(message)
            return
        run.messages.append(message)
        if isinstance(message, (DisplayData, ExecuteResult)) and message.display_id:
            holders = self._shown.setdefault(message.display_id, [])
            if not any(holder is run for holder in holders):
                holders.append(run)

    def finished(self, cell_id: str, execution: Execution) -> None:
        """A cell's run ended."""
        self._cells[cell_id] = replace(self._known(cell_id), execution=execution)
        run = self._last_run.get(cell_id)
        if run is not None:
            run.start = replace(run.start, execution=execution)

    def executions(self) -> tuple[RecordedExecution, ...]:
        """Every execution so far, in order."""
        return tuple(run.value() for run in self._runs)

    def cells(self) -> tuple[RecordedCell, ...]:
        """Every cell touched so far, in order, as it is by now."""
        return tuple(self._cell(recorded) for recorded in self._cells.values())

    def _known(self, cell_id: str) -> RecordedCell:
        if cell_id not in self._cells:
            cell = self._start.get(cell_id) or Cell(cell_id, "code", "")
            self._cells[cell_id] = RecordedCell(cell, _origin(cell))
        return self._cells[cell_id]

    def _cell(self, recorded: RecordedCell) -> RecordedCell:
        run = self._last_run.get(recorded.cell.id)
        if run is None:
            return recorded
        count = recorded.execution.execution_count if recorded.execution else None
        cell = replace(recorded.cell, outputs=run.value().outputs, execution_count=count)
        return replace(recorded, cell=cell)
