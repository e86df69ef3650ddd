"""A record of runs that knows which run was started last."""

from __future__ import annotations

from cellwright.events import Event
from cellwright.store.runs import RunJournal, RunStore

__all__ = ["NotedStore"]


class NotedStore(RunStore):
    """A record that remembers the last run this shell started."""

    last_started = ""
    """Empty: none yet."""

    def start(self, *events: Event) -> RunJournal:
        """A journal for a new run."""
        journal = super().start(*events)
        self.last_started = journal.run_id
        return journal
