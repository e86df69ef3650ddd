"""The one place every event passes: secrets out, then the record, then the notebook."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar, get_args

from cellwright.cells import Execution
from cellwright.events import (
    CellEvent,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    RunFinished,
)
from cellwright.notebooks import Notebook
from cellwright.recording import Journal, RecordedEvent
from cellwright.redaction import Redactor

__all__ = ["Listener", "Publisher"]

Listener = Callable[[tuple[RecordedEvent, ...]], None]
"""Told of events as soon as they are recorded, in the order of the record, from any thread; it
returns at once and never raises."""

CELL_EVENTS = get_args(CellEvent)
T = TypeVar("T")


class Publisher:
    """Redacts, records and applies events, in that order, before anybody sees them.

    Args:
        journal: Where events are written.
        redactor: Takes secrets out; what it returns is what the model, the record and the
            screen get.
        notebook: Changed by cell events, where there is one.
        listener: Told of every event right after it was recorded.
    """

    def __init__(
        self,
        journal: Journal,
        redactor: Redactor,
        notebook: Notebook | None,
        listener: Listener | None = None,
    ) -> None:
        self._journal = journal
        self._redactor = redactor
        self._notebook = notebook
        self._listener = listener
        self._lock = threading.Lock()
        self._has_ended = False
        self._open_cells: dict[str, float] = {}

    @property
    def run_id(self) -> str:
        """The id of the run being recorded."""
        return self._journal.run_id

    def clean(self, value: T) -> T:
        """A JSON-like value as it may be shown."""
        return self._redactor.value(value)

    def publish(self, *events: Event) -> tuple[Event, ...]:
        """Record events in one transaction and return them as they may be shown.

        What the record itself has to tell (it is full, it is locked) comes last.
        """
        clean = tuple(self._redactor.event(event) for event in events)
        if self._has_ended:
            return clean
        self._note_cells(clean)
        notices = self._record(clean)
        if self._notebook is not None:
            for event in clean:
                if isinstance(event, CELL_EVENTS):
                    self._notebook.apply(event)
        return (*clean, *notices)

    def end(self, last: RunFinished) -> None:
        """End the record of a run whose thread does not react; from any other thread.

        Cells that run have their end recorded, too. What the thread publishes when it wakes up is
        still redacted, and neither recorded nor told to anybody.
        """
        now = time.monotonic()
        cells = tuple(
            CellFinished(cell, Execution("interrupted", now - began, note=last.reason))
            for cell, began in tuple(self._open_cells.items())
        )
        self.publish(*cells, last)
        self._has_ended = True

    def _note_cells(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, CellStarted):
                self._open_cells[event.cell_id] = time.monotonic()
            elif isinstance(event, CellFinished):
                self._open_cells.pop(event.cell_id, None)

    def _record(self, clean: tuple[Event, ...]) -> tuple[Event, ...]:
        if self._listener is None:
            self._journal.record(*clean)
            notices = self._journal.take_notices()
            if notices:
                self._journal.record(*notices)
            return notices
        # Outputs come from threads of their own; whoever listens gets all in the record's order.
        with self._lock:
            recorded = self._journal.record(*clean)
            notices = self._journal.take_notices()
            self._listener((*recorded, *self._journal.record(*notices)))
            return notices

    def output(self, event: CellOutput) -> CellOutput:
        """The sink a kernel calls at capture, from any thread."""
        clean = self.publish(event)[0]
        assert isinstance(clean, CellOutput)
        return clean
