"""Runs kept as values, in memory: for samples of a benchmark, which are written down elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable

from cellwright.errors import SetupError
from cellwright.record.events import Event, ModelSilent, Notice
from cellwright.record.run_record import RecordedEvent, RunRecord, fold
from cellwright.store.runs import new_run_id


class RunMemory:
    """Runs for as long as this object lives; ``recording.Runs``.

    Args:
        clock: Seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._journals: dict[str, _Journal] = {}
        self.last_started = ""
        """Id of the run that was started last; empty: none yet."""

    def start(self, *events: Event) -> _Journal:
        """A journal for a new run, with its first events in it."""
        journal = _Journal(new_run_id(self._clock()), self._clock)
        journal.record(*events)
        self._journals[journal.run_id] = journal
        self.last_started = journal.run_id
        return journal

    def record(self, run_id: str) -> RunRecord:
        """The record of a run.

        Raises:
            SetupError: There is no such run.
        """
        journal = self._journals.get(run_id)
        if journal is None:
            raise SetupError(f"There is no run {run_id!r}.", hint="It was not started here.")
        return fold(journal.events)


class _Journal:
    """The events of one run."""

    def __init__(self, run_id: str, clock: Callable[[], float]) -> None:
        self.run_id = run_id
        self.events: list[RecordedEvent] = []
        self._clock = clock

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Keep events."""
        now = self._clock()
        return tuple(self._numbered(event, now) for event in events)

    def take_notices(self) -> tuple[Notice, ...]:
        """Nothing: memory needs no telling of."""
        return ()

    def _numbered(self, event: Event, now: float) -> RecordedEvent:
        if isinstance(event, ModelSilent):
            return RecordedEvent(self.run_id, 0, now, event)
        self.events.append(RecordedEvent(self.run_id, len(self.events) + 1, now, event))
        return self.events[-1]
