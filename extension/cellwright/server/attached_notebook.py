"""A notebook that is open in a tab, seen from the server: a mirror, and the tab to ask.

The file is never read nor written here. The person's text wins: what the tab says of a cell counts
more than what the mirror holds.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

from cellwright.errors import ToolError
from cellwright.notebooks.confirming import check_source
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.cells import Cell, Execution, source_hash
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellEvent,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
)
from cellwright.record.outputs import Output, from_nbformat, to_nbformat
from cellwright.server.frames import Attach, Changed, PageRequest, PlacedCell, ReplyFrame, WireCell
from cellwright.server.tab import Tab
from cellwright.stopping import Stop

CLOSED = "Nothing ran: the person closed the notebook."


class Driver:
    """Which tab draws a chat's notebook now; another one may take over.

    Args:
        find: The tab; None: none is connected.
        attach: What the tab said of the notebook.
    """

    def __init__(self, find: Callable[[], Tab | None], attach: Attach) -> None:
        self._find = find
        self.attach = attach

    @property
    def tab(self) -> Tab | None:
        """The tab that draws; None: none is connected, or it does not have the notebook open."""
        tab = self._find()
        return tab if tab is not None and self.attach.notebook in tab.attached else None


class AttachedNotebook:
    """``notebooks.Notebook`` for one run.

    Args:
        chat: Whose run it is.
        driver: Who draws.
        stop: Of the run; ends waiting for the tab.
    """

    def __init__(self, chat: str, driver: Driver, stop: Stop) -> None:
        self.driver = driver
        self.is_closed = False
        """The person closed it."""
        self._chat, self._stop = chat, stop
        self._lock = threading.RLock()
        self._mirror = MemoryNotebook(path=driver.attach.path)
        self._running: set[str] = set()

    @property
    def path(self) -> str:
        """Where it is now; a rename moves it."""
        return self.driver.attach.path

    @property
    def is_editable(self) -> bool:
        """Whether cells can be added and changed; not in a read-only notebook."""
        return self.driver.attach.editable

    def load(self) -> bool:
        """Ask the tab for the cells; False: it did not answer.

        Raises:
            RunCancelled: Somebody pressed Stop.
        """
        reply = self._ask(PageRequest("", self._chat, self.driver.attach.notebook, "cells"))
        if reply is None or not reply.ok:
            return False
        with self._lock:
            cells = tuple(_cell(cell) for cell in reply.cells)
            self._mirror = MemoryNotebook(cells, self.path)
        return True

    def cells(self) -> tuple[Cell, ...]:
        """All cells, as far as is known."""
        with self._lock:
            return self._mirror.cells()

    def apply(self, event: CellEvent) -> None:
        """Change the mirror; the tab that draws does the same with the same event."""
        with self._lock:
            if isinstance(event, CellStarted):
                self._running.add(event.cell_id)
            elif isinstance(event, CellFinished):
                self._running.discard(event.cell_id)
            self._mirror.apply(event)

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source and the tab is ready to draw it.

        Without a tab that answers there is nobody to wait for.

        Raises:
            ToolError: The person deleted or changed the cell, or the notebook cannot be changed.
        """
        request = PageRequest(
            "",
            self._chat,
            self.driver.attach.notebook,
            "confirm",
            cell_id=cell_id,
            source_hash=source_hash(source),
            message_id=message_id,
        )
        reply = self._ask(request)
        if reply is not None and not reply.ok:
            self._refused(reply, cell_id)
        check_source(self.cells(), cell_id, source)

    def changed(self, frame: Changed) -> None:
        """The person changed something."""
        with self._lock:
            for cell_id in frame.removed:
                self._mirror.apply(CellRemoved(cell_id, ""))
            for placed in frame.cells:
                self._put(placed)

    def _ask(self, request: PageRequest) -> ReplyFrame | None:
        tab = self.driver.tab
        return tab.ask(request, self._stop) if tab is not None else None

    def _refused(self, reply: ReplyFrame, cell_id: str) -> None:
        if reply.reason == "read_only":
            raise ToolError("Nothing ran: the notebook is read-only.", hint="Tell the person.")
        if reply.reason == "closed":
            self.is_closed = True
            raise ToolError(CLOSED)
        with self._lock:
            if reply.reason == "gone":
                self._mirror.apply(CellRemoved(cell_id, ""))
            for cell in reply.cells:
                self._update(_cell(cell))

    def _put(self, placed: PlacedCell) -> None:
        cell = _cell(placed.cell)
        known = {known.id: known for known in self._mirror.cells()}
        before = known.get(cell.id)
        if before is not None and before.cell_type != cell.cell_type:
            self._mirror.apply(CellRemoved(cell.id, ""))
            before = None
        if before is None:
            self._mirror.apply(CellAdded(cell.id, cell.source, cell.cell_type, placed.after))
        self._mirror.apply(CellMoved(cell.id, placed.after))
        self._update(cell)

    def _update(self, cell: Cell) -> None:
        known = next((known for known in self._mirror.cells() if known.id == cell.id), None)
        if known is None:
            return
        if known.source != cell.source:
            self._mirror.apply(CellEdited(cell.id, cell.source, ""))
        # What a running cell of ours has shown so far is known here best.
        if cell.id not in self._running and _saved(known) != _saved(cell):
            self._show(cell)

    def _show(self, cell: Cell) -> None:
        self._mirror.apply(CellStarted(cell.id))
        for output in cell.outputs:
            self._mirror.apply(CellOutput(cell.id, output))
        execution = Execution("ok", 0.0, execution_count=cell.execution_count)
        self._mirror.apply(CellFinished(cell.id, execution))


def _cell(cell: WireCell) -> Cell:
    return Cell(
        cell.id,
        cell.cell_type,
        cell.source,
        tuple(_known_outputs(cell)),
        cell.execution_count,
        cell.metadata,
    )


def _known_outputs(cell: WireCell) -> Iterator[Output]:
    for output in cell.outputs:
        # A kind that a newer file format has is left out.
        with contextlib.suppress(ValueError):
            yield from_nbformat(output)


def _saved(cell: Cell) -> list[dict[str, Any]]:
    return [to_nbformat(output) for output in cell.outputs]
