"""The one place every event passes: secrets out, then the record, then the notebook."""

from __future__ import annotations

from typing import get_args

from cellwright.events import CellEvent, CellOutput, Event
from cellwright.notebooks import Notebook
from cellwright.recording import Journal
from cellwright.redaction import Redactor

__all__ = ["Publisher"]

CELL_EVENTS = get_args(CellEvent)


class Publisher:
    """Redacts, records and applies events, in that order, before anybody sees them.

    Args:
        journal: Where events are written.
        redactor: Takes secrets out; what it returns is what the model, the record and the
            screen get.
        notebook: Changed by cell events, where there is one.
    """

    def __init__(self, journal: Journal, redactor: Redactor, notebook: Notebook | None) -> None:
        self._journal = journal
        self._redactor = redactor
        self._notebook = notebook

    @property
    def run_id(self) -> str:
        """The id of the run being recorded."""
        return self._journal.run_id

    def publish(self, *events: Event) -> tuple[Event, ...]:
        """Record events in one transaction and return them as they may be shown.

        What the record itself has to tell (it is full, it is locked) comes last.
        """
        clean = tuple(self._redactor.event(event) for event in events)
        self._journal.record(*clean)
        notices = self._journal.take_notices()
        if notices:
            self._journal.record(*notices)
        if self._notebook is not None:
            for event in clean:
                if isinstance(event, CELL_EVENTS):
                    self._notebook.apply(event)
        return (*clean, *notices)

    def output(self, event: CellOutput) -> CellOutput:
        """The sink a kernel calls at capture, from any thread."""
        clean = self.publish(event)[0]
        assert isinstance(clean, CellOutput)
        return clean
