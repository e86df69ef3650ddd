"""Where cells are shown: cells by id, changed only by applying events."""

from __future__ import annotations

from typing import Protocol

from cellwright.record.events import CellEvent
from cellwright.record.outputs import Cell


class Notebook(Protocol):
    """A notebook as the agent sees it."""

    @property
    def path(self) -> str:
        """The file's path; empty when it has none or it is not known."""
        ...

    @property
    def is_editable(self) -> bool:
        """Whether cells can be added and changed here; otherwise it can only be read."""
        ...

    def cells(self) -> tuple[Cell, ...]:
        """All cells, in order."""
        ...

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source and may run now.

        ``cells`` then tells how it is. A notebook that nobody else can change does nothing.

        Args:
            cell_id: The cell.
            source: What is about to run.
            message_id: Id of the request that will carry it; empty where there is none.

        Raises:
            ToolError: It is gone or reads differently; the text says what the person made of it.
        """
        ...

    def apply(self, event: CellEvent) -> None:
        """Change the notebook as the event says; an event for an unknown cell is ignored."""
        ...
