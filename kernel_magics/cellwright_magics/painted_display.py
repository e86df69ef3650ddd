"""What the calling cell shows when the code stands in cells of its own: everything but the code."""

from __future__ import annotations

from pathlib import Path

from cellwright.record.events import (
    ApprovalAnswered,
    CellAdded,
    CellEdited,
    CellFinished,
    CellStarted,
    ToolFinished,
)
from cellwright_magics import wording
from cellwright_magics.display import NotebookTranscript
from cellwright_magics.screen import Screen


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
