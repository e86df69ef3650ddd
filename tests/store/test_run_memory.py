"""Runs in memory are read back as those of a database are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cellwright.errors import SetupError
from cellwright.record.events import Event, ModelSilent, Notice, RunFinished, RunStarted
from cellwright.record.messages import Parameters
from cellwright.store.database import open_database
from cellwright.store.runs import RunMemory, RunStore

EVENTS: tuple[Event, ...] = (
    RunStarted("What?", "bench", "auto", Parameters("m")),
    ModelSilent(1.0),
    Notice("info", "Told."),
    RunFinished("completed", "That."),
)


def test_a_run_is_read_as_a_database_reads_it() -> None:
    memory = RunMemory(lambda: 1_000.0)
    journal = memory.start(EVENTS[0])
    assert memory.last_started == journal.run_id
    recorded = journal.record(*EVENTS[1:])
    assert [item.sequence for item in recorded] == [0, 2, 3]
    assert journal.take_notices() == ()
    record = memory.record(journal.run_id)

    database = open_database(None)
    store = RunStore(database)
    store.start(*EVENTS)
    stored = store.record(store.last_started)
    database.close()
    assert replace(record, run_id="", started_at=0.0) == replace(stored, run_id="", started_at=0.0)


def test_another_run_is_not_there() -> None:
    with pytest.raises(SetupError, match="no run 'other'"):
        RunMemory().record("other")
