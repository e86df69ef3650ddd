"""A notebook file that an outside agent works in: read again when it changed, written at once."""

from __future__ import annotations

import contextlib
from pathlib import Path
from threading import RLock

from cellwright.commands.notebook_files import NotebookFile, new_notebook, read_notebook
from cellwright.errors import SetupError
from cellwright.mcp_server.undoing import ChangeLog
from cellwright.record.cells import Cell
from cellwright.record.events import CellEvent, CellFinished, CellOutput, CellStarted

NOT_SAVED = "{path!r} was changed by somebody else and cannot be read now, so it is not written."


class NotebookOnDisk:
    """``notebooks.Notebook`` over a file that nobody has open; the file need not be there yet.

    Args:
        path: The file; None: the notebook is in memory alone.

    Raises:
        SetupError: The file is no notebook.
    """

    is_editable = True

    def __init__(self, path: Path | None) -> None:
        self.changes = ChangeLog()
        self._path = path
        self._lock = RLock()
        self._problems: list[str] = []
        self._file = self._read()
        self._stamp = self._now()
        self._running: list[CellEvent] = []
        """What has happened in the cell that runs."""

    @property
    def path(self) -> str:
        """The file's path; empty when it has none."""
        return str(self._path) if self._path is not None else ""

    @property
    def kernel_name(self) -> str:
        """The kernel the notebook names; empty when it names none."""
        return self._file.kernel_name

    def cells(self) -> tuple[Cell, ...]:
        """All cells, as the file has them now."""
        with self._lock:
            self._renew()
            return self._file.memory.cells()

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source.

        Raises:
            ToolError: The person deleted or changed it.
        """
        with self._lock:
            self._renew()
            self._file.memory.confirm(cell_id, source, message_id)

    def apply(self, event: CellEvent) -> None:
        """Change the notebook, and the file with it once a cell is whole."""
        with self._lock:
            if isinstance(event, (CellStarted, CellOutput)):
                self._running = (
                    [event] if isinstance(event, CellStarted) else [*self._running, event]
                )
                self._file.memory.apply(event)
                return
            self.changes.note(event, self._file.memory.cells())
            ran, self._running = self._running, []
            if self._renew():
                # What the person made of the file meanwhile stays; the cell's outputs go into it.
                for earlier in ran if isinstance(event, CellFinished) else ():
                    self._file.memory.apply(earlier)
            self._file.memory.apply(event)
            self._write()

    def take_problems(self) -> tuple[str, ...]:
        """Why the file is not saved, once."""
        with self._lock:
            problems, self._problems = tuple(self._problems), []
            return problems

    def _read(self) -> NotebookFile:
        is_there = self._path is not None and self._path.exists()
        return read_notebook(self._path) if self._path and is_there else new_notebook()

    def _now(self) -> tuple[int, int]:
        if self._path is not None:
            with contextlib.suppress(OSError):
                status = self._path.stat()
                return (status.st_mtime_ns, status.st_size)
        return (0, 0)

    def _renew(self) -> bool:
        """Whether somebody else has written the file: that is taken over, where it can be read."""
        now = self._now()
        if self._running or now in (self._stamp, (0, 0)):
            return False
        try:
            self._file = read_notebook(Path(self.path))
        except SetupError:
            return False
        self._stamp = now
        return True

    def _write(self) -> None:
        if self._path is None:
            return
        if self._now() not in (self._stamp, (0, 0)):
            self._tell(NOT_SAVED.format(path=self.path))
            return
        try:
            self._file.write(self._path)
            self._stamp = self._now()
        except SetupError as error:
            self._tell(str(error))

    def _tell(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)
