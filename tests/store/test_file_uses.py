"""Which stored files runs were given, also those of records that are older than the table."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

import pytest
from recorded_runs import started

from cellwright.errors import StoreError
from cellwright.record.attachments import stored_hashes
from cellwright.record.events import RunFinished
from cellwright.store.database import Database, Statement, open_database
from cellwright.store.migrations import m001_runs_and_events, m009_file_uses
from cellwright.store.runs import FileUses, RunStore

SHA, OTHER = "ab" + "0" * 62, "cd" + "1" * 62
FILES = (f"/home/me/files/ab/{SHA}.csv", f"C:\\me\\files\\cd\\{OTHER}", "sales.csv", f"x/{SHA}")


def test_only_what_lies_in_a_store_counts() -> None:
    assert stored_hashes((*FILES, FILES[0])) == (SHA, OTHER)


def test_002_10_a_run_counts_as_a_use_of_its_files_until_it_is_deleted(database: Database) -> None:
    store, uses = RunStore(database), FileUses(database)
    journal = store.start(replace(started("What?"), files=FILES))
    journal.record(RunFinished("completed"))
    again = store.start(replace(started("And?"), files=FILES[:1]))
    assert uses.hashes() == {SHA, OTHER}
    store.delete(journal.run_id)
    assert uses.hashes() == {SHA}
    store.delete(again.run_id)
    assert uses.hashes() == frozenset()


def test_002_10_what_a_library_holds_is_used(database: Database) -> None:
    place = "INSERT INTO library_places VALUES (1, ?, 'sales', 0)"
    database.write(Statement(place, (FILES[0],)), Statement(place, ("/home/me/notes",)))
    assert FileUses(database).hashes() == {SHA}


def test_002_10_uses_of_older_records_are_found_once() -> None:
    connection = sqlite3.connect(":memory:")
    m001_runs_and_events(connection)
    events = [("new", json.dumps({"files": FILES})), ("odd", "[]"), ("torn", '{"files":')]
    for run_id, data in events:
        connection.execute(
            "INSERT INTO runs (run_id, status, started_at, last_at) VALUES (?, 'completed', 0, 0)",
            (run_id,),
        )
        connection.execute(
            "INSERT INTO events VALUES (?, 1, 0, 'run_started', ?, '')", (run_id, data)
        )
    m009_file_uses(connection)
    found = connection.execute("SELECT sha, run_id FROM file_uses ORDER BY sha").fetchall()
    assert found == [(SHA, "new"), (OTHER, "new")]
    connection.close()


def test_002_10_files_are_not_told_while_the_record_cannot_be_read(database: Database) -> None:
    database.write(Statement("DROP TABLE file_uses"))
    with pytest.raises(StoreError, match="cannot be told"):
        FileUses(database).hashes()


def test_002_10_files_are_not_told_of_a_record_that_is_only_in_memory() -> None:
    database = open_database(None)
    with pytest.raises(StoreError):
        FileUses(database).hashes()
    database.close()
