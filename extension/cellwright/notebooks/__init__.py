"""Where cells are shown: cells by id, changed only by applying events."""

from __future__ import annotations

from typing import Protocol

from cellwright.cells import Cell
from cellwright.events import CellEvent

__all__ = ["Notebook"]


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

    def apply(self, event: CellEvent) -> None:
        """Change the notebook as the event says; an event for an unknown cell is ignored."""
        ...
