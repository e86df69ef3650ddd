"""Recorded events go over the wire as they were emitted, however their rows are kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import result, started

from cellwright.record.events import Event, Notice, RunFinished, ToolFinished
from cellwright.record.values import from_dict, to_dict
from cellwright.server.wire_events import StoredEvents, wire_event
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, Statement, open_database
from cellwright.store.event_rows import sha_of
from cellwright.store.runs import RunStore

TEXT = "shore cedar ledge\n" * 200


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def source(database: Database) -> StoredEvents:
    return StoredEvents(database, ChatStore(database))


def finished(text: str = TEXT, call: str = "c1") -> ToolFinished:
    return ToolFinished(call, "run_cell", result(call, text), duration_seconds=0.5, shown="seen")


def sent(source: StoredEvents, run: str) -> list[Any]:
    return [json.loads(item.text) for item in source.page(run, 0)]


def events_sent(source: StoredEvents, run: str) -> list[Event]:
    return [from_dict(Event, item["event"]) for item in sent(source, run)]


@pytest.mark.parametrize("text", ["3", TEXT, "\ud800" * 300, "k" * 70_000])
def test_a_tools_result_is_read_as_it_was_sent(
    text: str, source: StoredEvents, database: Database
) -> None:
    journal = RunStore(database).start(started())
    recorded = journal.record(finished(text), finished(text, "c2"), RunFinished("completed", "3"))
    told = [json.loads(wire_event(item).text) for item in recorded]
    assert sent(source, journal.run_id)[1:] == told


def test_what_only_looks_like_a_part_is_left_alone(
    source: StoredEvents, database: Database
) -> None:
    mark = f'"message":{{"cellwright:parts":"i{"x" * 24}"}}'
    events = (
        ToolFinished(mark, mark, result("c1", mark)),
        ToolFinished("message", '"message":', result("c1", mark * 90), shown=mark),
    )
    run = RunStore(database).start(*events).run_id
    assert events_sent(source, run) == list(events)


def test_a_row_from_before_is_sent_as_it_is(source: StoredEvents, database: Database) -> None:
    run = RunStore(database).start(started()).run_id
    data = json.dumps(to_dict(finished()))
    row = (run, 2, 1.0, "tool_finished", data, sha_of(data))
    database.write(Statement("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row))
    assert sent(source, run)[1]["event"] == to_dict(finished())


@pytest.mark.parametrize("change", ["DELETE FROM parts", "UPDATE parts SET data = data || ' '"])
def test_a_result_that_is_damaged_is_told_and_the_rest_is_sent(
    change: str, source: StoredEvents, database: Database
) -> None:
    run = RunStore(database).start(started(), finished(), RunFinished("completed")).run_id
    database.write(Statement(change))
    first, damaged, last = events_sent(source, run)
    assert (first, last) == (started(), RunFinished("completed"))
    assert isinstance(damaged, Notice)
    assert "missing" in damaged.text


def test_a_row_that_was_changed_is_told(source: StoredEvents, database: Database) -> None:
    run = RunStore(database).start(finished(), finished("3")).run_id
    database.write(Statement("UPDATE events SET data = replace(data, 'run_cell', 'run_sell')"))
    assert [event.kind for event in events_sent(source, run)] == ["notice", "notice"]


def test_a_long_run_comes_in_pages(source: StoredEvents, database: Database) -> None:
    journal = RunStore(database).start(started())
    journal.record(*(finished(f"{number} {TEXT * 8}") for number in range(60)))
    pages, after = [], 0
    while page := source.page(journal.run_id, after):
        pages.append(len(page))
        after = page[-1].sequence
    assert len(pages) > 1
    assert sum(pages) == 61
