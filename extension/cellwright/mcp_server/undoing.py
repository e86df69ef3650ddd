"""Cells as they were before: for a notebook file, which has no undo of its own.

Variables and files stay as the code left them; nothing can take that back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import ToolError
from cellwright.notebooks import Notebook
from cellwright.record.content import text
from cellwright.record.events import CellAdded, CellEdited, CellEvent, CellMoved, CellRemoved
from cellwright.record.outputs import Cell, source_hash
from cellwright.tools import Component, Risk, ToolContext, ToolYield

CALL_LIMIT = 100
"""So many calls can be taken back."""


@dataclass(frozen=True)
class _Change:
    """What a call did to a cell."""

    event: CellEvent
    before: Cell | None
    """The cell as it was; None: there was none."""
    after: str
    """Id of the cell that it followed."""


class ChangeLog:
    """Notes what calls do to cells; told of each event just before the notebook is."""

    def __init__(self) -> None:
        self._calls: dict[str, list[_Change]] = {}
        self._ignored = ""

    def note(self, event: CellEvent, cells: tuple[Cell, ...]) -> None:
        """An event is about to change a notebook with these cells."""
        if not isinstance(event, (CellAdded, CellEdited, CellRemoved, CellMoved)):
            return
        is_scratch = isinstance(event, CellAdded) and event.is_scratch
        if not event.call_id or event.call_id == self._ignored or is_scratch:
            return
        names = [cell.id for cell in cells]
        place = names.index(event.cell_id) if event.cell_id in names else -1
        before = cells[place] if place >= 0 else None
        after = names[place - 1] if place > 0 else ""
        self._calls.setdefault(event.call_id, []).append(_Change(event, before, after))
        while len(self._calls) > CALL_LIMIT:
            self._calls.pop(next(iter(self._calls)))

    def take_back(self, call_id: str, notebook: Notebook) -> tuple[CellEvent, ...]:
        """Events that bring back the cells of the call that changed some last.

        Args:
            call_id: Of the call that takes it back.
            notebook: As it is now; what the person has changed since stays.

        Raises:
            ToolError: There is nothing to take back.
        """
        if not self._calls:
            raise ToolError("No call of this session has changed cells that could be taken back.")
        self._ignored = call_id
        changes = self._calls.pop(next(reversed(self._calls)))
        # What a cell read when the call was done with it.
        left: dict[str, str] = {}
        for change in changes:
            if isinstance(change.event, (CellAdded, CellEdited)):
                left[change.event.cell_id] = change.event.source
        now = {cell.id: cell.source for cell in notebook.cells()}
        free = [c for c in changes if _is_untouched(c.event.cell_id, left, now)]
        return tuple(event for change in reversed(free) for event in _back(change, call_id))


def _is_untouched(cell_id: str, left: dict[str, str], now: dict[str, str]) -> bool:
    return cell_id not in left or now.get(cell_id) == left[cell_id]


def _back(change: _Change, call_id: str) -> Iterator[CellEvent]:
    before, event = change.before, change.event
    match event:
        case CellAdded():
            yield CellRemoved(event.cell_id, source_hash(event.source), call_id)
        case CellEdited() if before is not None:
            back = CellEdited(event.cell_id, before.source, source_hash(event.source), call_id)
            if before.source == event.source:
                # The call cleared what the cell showed, or ran it again.
                count = before.execution_count
                back = replace(back, outputs=before.outputs, execution_count=count)
            yield back
        case CellRemoved() if before is not None:
            yield CellAdded(before.id, before.source, before.cell_type, change.after, call_id)
            if not change.after:
                yield CellMoved(before.id, "", call_id)
        case CellMoved():
            yield CellMoved(event.cell_id, change.after, call_id)


class UndoChange(Component):
    """Takes back what the last call that changed cells did to them."""

    name: ClassVar[str] = "undo_change"
    risk: ClassVar[Risk] = "edit"

    def __init__(self, find_log: Callable[[], ChangeLog], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._find_log = find_log

    def label(self, **arguments: object) -> str:
        """For people."""
        return "take back the last change of cells"

    def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
        """Take back what your last call that changed cells did to them; again for the one before.

        Cells the person changed since stay. Variables stay as they are.
        """
        if context.notebook is None:
            raise ToolError("There is no notebook here.")
        events = self._find_log().take_back(context.call_id, context.notebook)
        yield from events
        names = ", ".join(dict.fromkeys(event.cell_id for event in events))
        said = f"As before: {names}." if names else "Nothing: the person changed them since."
        yield text(f"{said} Outputs of deleted cells do not come back.", scope="llm")


class UndoSource:
    """``TurnSource`` with the one tool.

    Args:
        find_log: That of the notebook that is worked in.
    """

    name = "undo"

    def __init__(self, find_log: Callable[[], ChangeLog]) -> None:
        self._components = (UndoChange(find_log),)

    def components(self) -> tuple[Component, ...]:
        """The tool."""
        return self._components

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Nothing: it has no more to say to a question."""
        return RetrievalResult()
