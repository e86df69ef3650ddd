"""The notebook that is open in front of the person, as it was last saved: read, never written."""

from __future__ import annotations

import json
from pathlib import Path

from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import CellEvent
from cellwright.record.outputs import Cell

SIZE_LIMIT_BYTES = 50_000_000


class SavedNotebook:
    """A notebook file that a front end has open.

    What the person has not saved yet is not in it. Cells that the agent runs are shown under the
    calling cell, so nothing is added here.

    Args:
        path: The file.
    """

    is_editable = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._cells: tuple[Cell, ...] = ()

    @property
    def path(self) -> str:
        """The file."""
        return str(self._path)

    def cells(self) -> tuple[Cell, ...]:
        """The cells of the file; none when it is gone, huge or no notebook."""
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._stamp, self._cells = stamp, self._read(status.st_size)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            self._cells = ()
        return self._cells

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Nothing to confirm: cells that the agent runs are not in it."""

    def apply(self, event: CellEvent) -> None:
        """Change nothing: the file belongs to whoever has it open."""

    def _read(self, size_bytes: int) -> tuple[Cell, ...]:
        if size_bytes > SIZE_LIMIT_BYTES:
            return ()
        content = json.loads(self._path.read_text(encoding="utf-8"))
        return MemoryNotebook.from_nbformat(content).cells()
