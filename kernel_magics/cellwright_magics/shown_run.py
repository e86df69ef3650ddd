"""A run whose transcript the calling cell has just shown, so that the cell does not repeat it."""

from __future__ import annotations

from collections.abc import Callable

from cellwright.record.run_record import RunRecord
from cellwright.session.run import Run


class ShownRun(Run):
    """A run as ``%agent`` returns it.

    Args:
        record: The folded events.
        shown_now: Whether the cell that is running is the one that has shown it.
        unsaved: Why the run is not on disk; empty: it is.
    """

    def __init__(self, record: RunRecord, shown_now: Callable[[], bool], unsaved: str = "") -> None:
        super().__init__(record, unsaved)
        self._shown_now = shown_now

    def _ipython_display_(self) -> None:
        if not self._shown_now():
            # IPython goes on to the usual representations then.
            raise NotImplementedError
