"""The cells that runs made or changed, folded from the record, for a tab that was away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.record.cells import Cell
from cellwright.record.events import CellAdded, CellEdited, CellMoved
from cellwright.record.outputs import to_nbformat
from cellwright.record.run_record import RecordedEvent, fold
from cellwright.server.application import Application


def run_cells(events: Sequence[RecordedEvent], fates: Mapping[str, str]) -> list[dict[str, Any]]:
    """The cells that a run added or changed, in order, and what became of them."""
    places = _Places.of(events)
    return [
        {**_plain(recorded.cell, places), "fate": fates.get(recorded.cell.id, "")}
        for recorded in fold(events).cells
        if recorded.cell.id in places.touched and not recorded.is_removed
    ]


def missing_cells(shared: Application, path: str, owner: str) -> list[dict[str, Any]]:
    """Cells that agents made for a notebook and of which nobody has said what became of them.

    Runs that go on are left out: their tab is told of them as they happen.
    """
    found = []
    for chat in reversed(shared.chats.list(path, owner=owner)):
        for run_id in shared.chats.run_ids(chat.chat_id):
            cells = _missing(shared, run_id)
            if cells:
                found.append({"run": run_id, "chat": chat.chat_id, "cells": cells})
    return found


def _missing(shared: Application, run_id: str) -> list[dict[str, Any]]:
    fates = shared.fates.of(run_id)
    events = shared.runs.events(run_id)
    places = _Places.of(events)
    if places.added <= set(fates):
        return []
    if shared.runs.record(run_id).status == "running":
        return []
    return [
        _plain(recorded.cell, places)
        for recorded in fold(events).cells
        if recorded.cell.id in places.added - set(fates) and not recorded.is_removed
    ]


@dataclass
class _Places:
    """Which cells a run added or changed, and where it put them."""

    added: set[str] = field(default_factory=set)
    touched: set[str] = field(default_factory=set)
    after: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[RecordedEvent]) -> _Places:
        places = cls()
        for recorded in events:
            match recorded.event:
                case CellAdded(cell_id=cell_id, after=after):
                    places.added.add(cell_id)
                    places.after[cell_id] = after
                case CellMoved(cell_id=cell_id, after=after):
                    places.after[cell_id] = after
                case CellEdited(cell_id=cell_id):
                    pass
                case _:
                    continue
            places.touched.add(cell_id)
        return places


def _plain(cell: Cell, places: _Places) -> dict[str, Any]:
    return {
        "cell_id": cell.id,
        "source": cell.source,
        "cell_type": cell.cell_type,
        "after": places.after.get(cell.id, ""),
        "outputs": [to_nbformat(output) for output in cell.outputs],
        "execution_count": cell.execution_count,
    }
