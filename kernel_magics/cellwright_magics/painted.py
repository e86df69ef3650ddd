"""Cells inserted below the calling cell: the notebook with them, and the calling cell's display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.mcp_server.undoing import ChangeLog
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.notebooks.saved import SavedNotebook
from cellwright.record.events import (
    ApprovalAnswered,
    CellAdded,
    CellEdited,
    CellEvent,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
    StateCaptured,
    ToolFinished,
)
from cellwright.record.outputs import Cell, ClearOutput, source_hash
from cellwright.record.run_record import RecordedEvent, calls_from
from cellwright_magics import wording
from cellwright_magics.display import NotebookTranscript, Screen
from cellwright_magics.easels import Easel, PaintedBefore


class PaintedNotebook:
    """Cells appear in the notebook under the calling cell as the run goes on.

    What the person changes meanwhile is not known here. The front end keeps their text: where an
    edit no longer fits, it paints a cell of its own for it.

    Args:
        easel: The way to the front end.
        saved: The file, as far as it is known.
        run_id: The run that paints now.
        execution_count: The number that cells get when they have run.
        known: Its cells; none: those of the file.
    """

    is_editable = True

    def __init__(
        self,
        easel: Easel,
        saved: SavedNotebook | None,
        run_id: Callable[[], str],
        execution_count: int,
        known: tuple[Cell, ...] = (),
    ) -> None:
        self._easel = easel
        self._run_id = run_id
        self._count = execution_count
        self._path = saved.path if saved is not None else ""
        cells = saved.cells() if saved is not None else ()
        self._seen = MemoryNotebook(known or as_it_is(cells, easel.painted))
        self._last = easel.cell_id

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def cells(self) -> tuple[Cell, ...]:
        """All cells, the painted ones as they were when the calling cell began."""
        return self._seen.cells()

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source, as far as is known here."""
        self._seen.confirm(cell_id, source)

    def apply(self, event: CellEvent) -> None:
        """Paint what the event says."""
        if isinstance(event, CellOutput):
            # The kernel shows outputs itself; this one it holds back (``kernels.tap``).
            if isinstance(event.message, ClearOutput):
                self._easel.send("clear", cell_id=event.cell_id, wait=event.message.wait)
        elif isinstance(event, CellAdded):
            event = replace(event, after=event.after or self._last)
            self._last = event.cell_id
            self._paint(event)
        else:
            self._tell(event)
        self._seen.apply(event)

    def _paint(self, event: CellAdded) -> None:
        self._send_source(
            "add", event, cell_type=event.cell_type, after=event.after, source=event.source
        )

    def _tell(self, event: CellEvent) -> None:
        match event:
            case CellEdited():
                self._send_source(
                    "edit", event, source=event.source, previous_hash=event.previous_hash
                )
            case CellRemoved():
                self._easel.send("remove", cell_id=event.cell_id, previous_hash=event.previous_hash)
            case CellMoved():
                self._easel.send("move", cell_id=event.cell_id, after=event.after)
            case CellStarted():
                self._easel.send("begin", cell_id=event.cell_id)
            case CellFinished():
                status, seconds = event.execution.status, event.execution.duration_seconds
                ended = {"status": status, "seconds": seconds, "execution_count": self._count}
                self._easel.send("end", cell_id=event.cell_id, execution=ended)

    def _send_source(self, kind: str, event: CellAdded | CellEdited, **content: Any) -> None:
        self._easel.send(
            kind,
            run=self._run_id(),
            call=event.call_id,
            cell_id=event.cell_id,
            hash=source_hash(event.source),
            asks=True,  # Markdown that loads from elsewhere comes only where it was allowed
            **content,
        )


def as_it_is(saved: tuple[Cell, ...], painted: tuple[PaintedBefore, ...]) -> tuple[Cell, ...]:
    """The cells of the file, with those painted before as the front end has them now."""
    told = {cell.cell_id: cell for cell in painted}
    cells: list[Cell] = []
    for cell in saved:
        now = told.pop(cell.id, None)
        if now is not None:
            cells.append(replace(cell, source=now.source))
        elif "painted_by" not in (cell.metadata.get("cellwright") or {}):
            cells.append(cell)
    for new in told.values():
        at = next((n for n, cell in enumerate(cells) if cell.id == new.painted_by), len(cells) - 1)
        cells.insert(at + 1, Cell(new.cell_id, "code", new.source))
    return tuple(cells)


def take_cells_back(
    easel: Easel, recorded: Sequence[RecordedEvent], run_id: str, step: int = 0
) -> None:
    """Have the front end take out what a run painted, and bring back what it changed.

    What the person has changed since stays.

    Args:
        easel: Of the cell that undoes it.
        recorded: The run's events.
        run_id: The run.
        step: From which of the cells on that it ran, counted from 1; 0: all of it.
    """
    log, calls = ChangeLog(), set[str]()
    seen = MemoryNotebook()
    for event in (each.event for each in recorded):
        if isinstance(event, StateCaptured):
            seen = MemoryNotebook(event.cells)
        elif isinstance(event, (CellAdded, CellEdited, CellRemoved, CellMoved)):
            log.note(event, seen.cells())
            seen.apply(event)
            calls.add(event.call_id)
    notebook = PaintedNotebook(easel, None, lambda: run_id, 0, seen.cells())
    for _ in calls & calls_from(recorded, step):
        for back in log.take_back("undo", seen):
            notebook.apply(back)
            seen.apply(back)


# What the calling cell shows when the code stands in cells of its own: everything but the code.


class PaintedTranscript(NotebookTranscript):
    """A transcript with one short line for each painted cell.

    Args:
        screen: Where it is drawn.
        folder: The notebook's; None: not known.
    """

    def __init__(self, screen: Screen, folder: Path | None = None) -> None:
        super().__init__(screen, short_errors=False, folder=folder)
        self._painted: dict[str, str] = {}
        self._in_error: set[str] = set()

    def _cell_added(self, event: CellAdded) -> None:
        self._name_cell(event)

    def _cell_edited(self, event: CellEdited) -> None:
        self._name_cell(event)

    def _cell_started(self, event: CellStarted) -> None:
        """Outputs go elsewhere, so what is shown here goes on where it is."""

    def _cell_finished(self, event: CellFinished) -> None:
        if event.execution.error is not None:
            self._in_error.add(self._painted.get(event.cell_id, ""))
        super()._cell_finished(event)

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        if not event.allowed or not self._question_name:
            super()._approval_answered(event)
            return
        # The cell that is painted next shows the code; the question has done its work.
        call = self._calls[event.call_id]
        line = f"{wording.tool_line(call, None)} · {wording.answered(event)}"
        self._screen.update(self._question_name, self._lines_bundle([line]))
        self._question_name = ""

    def _tool_finished(self, event: ToolFinished) -> None:
        if event.call_id not in self._in_error:
            super()._tool_finished(event)
        elif event.call_id in self._lines:
            self._lines[event.call_id] = f"✗ {wording.label_of(self._calls[event.call_id])}"
            self._draw_lines()

    def _name_cell(self, event: CellAdded | CellEdited) -> None:
        self._painted[event.cell_id] = event.call_id
        asked_about = event.call_id in self._shown_code
        self._shown_code[event.call_id] = event.source
        if not asked_about and event.call_id in self._calls:
            self._line(self._calls[event.call_id], None)
