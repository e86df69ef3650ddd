"""An nbformat notebook in memory, changed by events alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.errors import ToolError
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
from cellwright.record.outputs import (
    PROVENANCE,
    Cell,
    OutputMessage,
    fold,
    from_nbformat,
    source_hash,
    to_nbformat,
)

# Whether a cell still is what is about to run; the words for the model where it is not.


def check_source(cells: Iterable[Cell], cell_id: str, source: str) -> None:
    """Return when one of the cells has this id and this source.

    Raises:
        ToolError: The person deleted or changed it.
    """
    found = next((cell for cell in cells if cell.id == cell_id), None)
    if found is None:
        raise ToolError(
            f"Nothing ran: the person deleted cell {cell_id!r}.",
            hint="Do not add it again unless they ask for it.",
        )
    if found.source != source:
        raise ToolError(
            f"Nothing ran: the person changed cell {cell_id!r}. It now reads:\n{found.source}\n",
            hint="Run it as it is if it still fits, or edit it, keeping what they wrote.",
        )


@dataclass
class _CellEntry:
    cell: Cell
    messages: list[OutputMessage] = field(default_factory=list)
    ran: bool = False


class MemoryNotebook:
    """Cells by id, in order.

    Args:
        cells: What is in it at first.
        path: The file it came from, if any; it is never written by this class.
        metadata: The notebook's own metadata, kept as it is.
        is_editable: Whether the model may add and change cells.
    """

    def __init__(
        self,
        cells: tuple[Cell, ...] = (),
        path: str = "",
        metadata: Mapping[str, Any] | None = None,
        *,
        is_editable: bool = True,
    ) -> None:
        self._entries = {cell.id: _CellEntry(cell) for cell in cells}
        self._added: list[str] = []
        """The cells that calls have added, in their order."""
        self._path = path
        self._is_editable = is_editable
        self._metadata = dict(metadata or {})

    @classmethod
    def from_nbformat(cls, notebook: Mapping[str, Any], path: str = "") -> MemoryNotebook:
        """The notebook a file holds."""
        cells = tuple(
            cell_from_nbformat(cell, index) for index, cell in enumerate(notebook["cells"])
        )
        return cls(cells, path, notebook.get("metadata"))

    @property
    def path(self) -> str:
        """The file it came from; empty when there is none."""
        return self._path

    @property
    def is_editable(self) -> bool:
        """Whether the model may add and change cells."""
        return self._is_editable

    def cells(self) -> tuple[Cell, ...]:
        """All cells, with the outputs they show now."""
        return tuple(self._shown(entry) for entry in self._entries.values())

    def to_nbformat(self) -> dict[str, Any]:
        """The notebook as a version 4.5 file holds it."""
        return {
            "cells": [cell_to_nbformat(cell) for cell in self.cells()],
            "metadata": self._metadata,
            "nbformat": 4,
            "nbformat_minor": 5,
        }

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source."""
        check_source((entry.cell for entry in self._entries.values()), cell_id, source)

    def apply(self, event: CellEvent) -> None:
        """Change the notebook as the event says; unknown cells are ignored."""
        match event:
            case CellAdded(is_scratch=is_scratch):
                if not is_scratch:
                    self._add(event)
            case CellRemoved():
                self._entries.pop(event.cell_id, None)
            case CellMoved():
                self._move(event)
            case _:
                self._change(event)

    def go_on_from(self, other: MemoryNotebook, running: Iterable[str]) -> None:
        """Take the place of a notebook as it was known before; its running cells show the same."""
        self._added = other._added
        for cell_id in running:
            entry, known = self._entries.get(cell_id), other._entries.get(cell_id)
            if entry is not None and known is not None:
                entry.messages, entry.ran = known.messages, known.ran

    def _change(self, event: CellEvent) -> None:
        entry = self._entries.get(event.cell_id)
        if entry is None:
            return
        match event:
            case CellEdited():
                entry.cell = _edited(entry.cell, event.source)
                if event.outputs is not None:
                    entry.messages, entry.ran = list(event.outputs), True
                    entry.cell = replace(entry.cell, execution_count=event.execution_count)
            case CellStarted():
                entry.messages, entry.ran = [], True
            case CellOutput():
                entry.messages.append(event.message)
            case CellFinished():
                count = event.execution.execution_count
                entry.cell = replace(entry.cell, execution_count=count)

    def _add(self, event: CellAdded) -> None:
        metadata = {PROVENANCE: {"origin": "agent", "hash": source_hash(event.source)}}
        cell = Cell(event.cell_id, event.cell_type, event.source, metadata=metadata)
        after = event.after
        if after not in self._entries:
            # The page puts it there too: js/src/notebook/editing.ts.
            after = next((id for id in reversed(self._added) if id in self._entries), "")
        if after:
            self._insert(event.cell_id, _CellEntry(cell), after)
        else:
            self._entries[event.cell_id] = _CellEntry(cell)
        if event.call_id:
            self._added.append(event.cell_id)

    def _move(self, event: CellMoved) -> None:
        known = event.after in self._entries or not event.after
        if event.cell_id in self._entries and known and event.after != event.cell_id:
            self._insert(event.cell_id, self._entries.pop(event.cell_id), event.after)

    def _insert(self, cell_id: str, entry: _CellEntry, after: str) -> None:
        """Put an entry behind another one; first where ``after`` is empty."""
        entries = {} if after else {cell_id: entry}
        for other_id, other in self._entries.items():
            entries[other_id] = other
            if other_id == after:
                entries[cell_id] = entry
        self._entries = entries

    @staticmethod
    def _shown(entry: _CellEntry) -> Cell:
        return replace(entry.cell, outputs=fold(entry.messages)) if entry.ran else entry.cell


def _edited(cell: Cell, source: str) -> Cell:
    """A cell with another source; what the agent wrote itself stays known as its own."""
    made = cell.metadata.get(PROVENANCE)
    if not isinstance(made, Mapping) or "hash" not in made:
        return replace(cell, source=source)
    metadata = {**cell.metadata, PROVENANCE: {**made, "hash": source_hash(source)}}
    return replace(cell, source=source, metadata=metadata)


def cell_from_nbformat(cell: Mapping[str, Any], index: int) -> Cell:
    """The value of a cell of a notebook file; a cell without an id is named by its place."""
    source = cell.get("source", "")
    return Cell(
        id=cell.get("id") or f"cell-{index}",
        cell_type=cell["cell_type"],
        source="".join(source) if isinstance(source, list) else source,
        outputs=tuple(from_nbformat(output) for output in cell.get("outputs", ())),
        execution_count=cell.get("execution_count"),
        metadata=cell.get("metadata") or {},
    )


def cell_to_nbformat(cell: Cell) -> dict[str, Any]:
    """The cell as a notebook file holds it."""
    plain: dict[str, Any] = {
        "id": cell.id,
        "cell_type": cell.cell_type,
        "metadata": dict(cell.metadata),
        "source": cell.source,
    }
    if cell.cell_type == "code":
        plain["execution_count"] = cell.execution_count
        plain["outputs"] = [to_nbformat(output) for output in cell.outputs]
    return plain
