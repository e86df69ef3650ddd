"""Runs share what their events have in common, and each can still be read and deleted alone."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from event_strategies import events, texts, values_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_runs import RUN_CELL, SYSTEM, replied, result, started, user

from cellwright.errors import StoreError
from cellwright.record.events import (
    Event,
    HistoryCompacted,
    ModelAsked,
    ModelSilent,
    Notice,
    RunFinished,
    StateCaptured,
    ToolFinished,
)
from cellwright.record.messages import AssistantMessage, ImagePart, Message, UserMessage
from cellwright.record.outputs import Cell, StreamOutput
from cellwright.record.run_record import fold
from cellwright.record.values import from_dict, to_dict
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import ADDING, MIGRATIONS
from cellwright.store.runs import RunStore

TABLES = ("parts", "part_uses", "run_parts")
messages: st.SearchStrategy[Message] = st.one_of(
    values_of(Message),
    st.integers(0, 30).map(lambda number: said(number)),
    st.integers(0, 30).map(lambda number: said(number, 10)),
)
histories = st.lists(messages, max_size=80).map(tuple)
long_events = st.one_of(
    st.builds(ModelAsked, st.integers(1, 9), histories, st.sampled_from([(), (RUN_CELL,) * 40])),
    st.builds(HistoryCompacted, histories, st.integers(), st.integers()),
    st.builds(
        StateCaptured,
        executed=st.lists(texts.map(lambda text: text * 9), max_size=60).map(tuple),
        packages=st.dictionaries(texts, texts, max_size=80),
    ),
)
results = st.builds(
    ToolFinished,
    texts,
    texts,
    st.integers(0, 9).map(lambda number: result("c1", f"{number} " * 200)),
    duration_seconds=st.floats(0, 9),
)
runs = st.lists(st.one_of(events, long_events, results), max_size=5)


def said(number: int, words: int = 200) -> UserMessage:
    return user(f"{number} " * words)


def conversation(turns: int) -> tuple[Message, ...]:
    return (SYSTEM, *(said(number) for number in range(turns)))


@pytest.fixture
def store(database: Database) -> RunStore:
    return RunStore(database)


@pytest.fixture(scope="module")
def shared_database() -> Iterator[Database]:
    opened = open_database(None)
    yield opened
    opened.close()


def events_of(store: RunStore, run_id: str) -> list[Event]:
    return [item.event for item in store.events(run_id)]


def count(database: Database, table: str) -> int:
    return int(database.read(f"SELECT COUNT(*) FROM {table}")[0][0])


def characters(database: Database) -> int:
    tables = ("SUM(LENGTH(data)) FROM parts", "SUM(LENGTH(data)) FROM events")
    rows = [database.read(f"SELECT {table}")[0][0] for table in tables]
    return sum(row or 0 for row in rows) + 60 * count(database, "parts")


def as_json_reads_it(event: Event) -> Event:
    changed: Event = from_dict(Event, to_dict(event))
    return changed


# The order is drawn beforehand: Hypothesis may break off where something is drawn, and what had
# been written by then would stay in the database that the next example is given.
@given(st.lists(runs, max_size=4), st.permutations(range(4)))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_runs_hold_each_is_read_as_it_was_and_deleted_alone(
    shared_database: Database, written: list[list[Event]], order: list[int]
) -> None:
    store = RunStore(shared_database)
    expected = {
        store.start(*run).run_id: [
            as_json_reads_it(event) for event in run if not isinstance(event, ModelSilent)
        ]
        for run in written
    }
    written_runs = list(expected)
    for gone in (written_runs[place] for place in order if place < len(written_runs)):
        assert {run: events_of(store, run) for run in expected} == expected
        store.delete(gone)
        expected[gone] = []
    assert [count(shared_database, table) for table in TABLES] == [0, 0, 0]


def test_a_turn_adds_what_is_new_in_it(store: RunStore, database: Database) -> None:
    sizes = []
    for turns in (200, 201, 202, 240):
        before = characters(database)
        store.start(
            started(),
            StateCaptured(
                cells=tuple(Cell(str(number), "code", "x = 1\n" * 60) for number in range(turns)),
                executed=tuple(f"week_{number} = report({number})" for number in range(turns)),
                packages={f"package-{number}": "1.0" for number in range(100)},
            ),
            ModelAsked(1, conversation(turns), (RUN_CELL,) * 40),
        )
        sizes.append(characters(database) - before)
    assert sizes[0] > 100_000
    assert max(sizes[1:3]) < 12_000
    assert sizes[3] < 80_000, "forty turns of some hundred characters each"


def test_a_tools_result_is_stored_once(store: RunStore, database: Database) -> None:
    shown = result("c1", "do-not-write-twice " * 99)
    finished = ToolFinished("c1", "run_cell", shown, duration_seconds=0.1)
    first = store.start(started(), finished, ModelAsked(2, (shown,))).run_id
    later = [ModelAsked(1, (*conversation(turns), shown)) for turns in (30, 40)]
    second = store.start(*later).run_id
    text = "do-not-write-twice"
    holding = "SELECT COUNT(*) FROM {} WHERE data LIKE ?"
    assert database.read(holding.format("parts"), (f"%{text}%",)) == [(1,)]
    assert database.read(holding.format("events"), (f"%{text}%",)) == [(0,)]
    assert events_of(store, first) == [started(), finished, ModelAsked(2, (shown,))]
    assert store.record(first).messages == (shown,)
    store.delete(second)
    assert events_of(store, first)[1] == finished
    store.delete(first)
    assert [count(database, table) for table in TABLES] == [0, 0, 0]


def test_a_run_with_pictures_shares_their_files(
    store: RunStore, database: Database, tmp_path: Path
) -> None:
    picture = UserMessage((ImagePart("image/png", "A" * 70_000),) * 2)
    asked = ModelAsked(1, (*conversation(3), picture, picture))
    first, second = store.start(asked).run_id, store.start(asked).run_id
    (file,) = (item for item in (tmp_path / "blobs").rglob("*") if item.is_file())
    store.delete(first)
    assert events_of(store, second) == [asked]
    store.delete(second)
    assert not file.exists()
    assert [count(database, table) for table in TABLES] == [0, 0, 0]


def test_nothing_of_a_deleted_run_stays_on_the_disk(store: RunStore, tmp_path: Path) -> None:
    mark = "do-not-keep-this"
    kept = store.start(ModelAsked(1, conversation(50))).run_id
    gone = store.start(ModelAsked(1, (*conversation(50), user(f"{mark} " * 50)))).run_id
    store.delete(gone)
    assert events_of(store, kept) == [ModelAsked(1, conversation(50))]
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert mark.encode() not in file.read_bytes(), file


def test_rows_from_before_are_read_as_they_are(store: RunStore, database: Database) -> None:
    import json

    from cellwright.store.event_rows import sha_of

    asked = ModelAsked(1, conversation(50))
    journal = store.start(started())
    data = json.dumps(to_dict(asked))
    row = (journal.run_id, 2, 1.0, asked.kind, data, sha_of(data))
    database.write(Statement("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row))
    assert events_of(store, journal.run_id) == [started(), asked]
    assert count(database, "parts") == 0
    store.delete(journal.run_id)
    assert count(database, "events") == 0


BEFORE = tuple(step for step in MIGRATIONS if step.__name__ not in ADDING)


def test_a_record_from_before_is_not_copied_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    old = open_database(path, OpenOptions(migrations=BEFORE))
    run_id = RunStore(old).start(started(), RunFinished("completed")).run_id
    old.close()
    new = open_database(path)
    store = RunStore(new)
    assert events_of(store, run_id) == [started(), RunFinished("completed")]
    asked = ModelAsked(1, conversation(50))
    assert events_of(store, store.start(asked).run_id) == [asked]
    assert list(tmp_path.glob("*.before-*")) == []
    new.close()


def test_a_file_that_cannot_get_the_tables_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    old = open_database(path, OpenOptions(migrations=BEFORE))
    old.write(Statement("INSERT INTO migrations VALUES ('m999_from_the_future', 0)"))
    old.close()
    database = open_database(path)
    store = RunStore(database)
    asked = ModelAsked(1, conversation(50))
    assert events_of(store, store.start(asked).run_id) == [asked]
    assert [notice.code for notice in database.notices] == ["store_newer"]
    database.close()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM parts WHERE name LIKE 'i%'",
        "UPDATE parts SET data = replace(data, '1', '2') WHERE name LIKE 'i%'",
    ],
    ids=["gone", "changed"],
)
def test_an_event_whose_parts_are_damaged_is_told_and_the_rest_is_read(
    change: str, store: RunStore, database: Database
) -> None:
    journal = store.start(started(), ModelAsked(1, conversation(50)), RunFinished("completed"))
    database.write(Statement(change))
    first, damaged, last = events_of(store, journal.run_id)
    assert (first, last) == (started(), RunFinished("completed"))
    assert isinstance(damaged, Notice)
    assert damaged.code == "event_unreadable"
    assert "missing" in damaged.text
    store.delete(journal.run_id)
    assert count(database, "events") == 0


def test_an_event_that_is_refused_leaves_no_parts(store: RunStore, database: Database) -> None:
    journal = store.start(started())
    database.write(Statement("DROP TABLE runs"))
    journal.record(ModelAsked(1, conversation(50)))
    assert [count(database, table) for table in TABLES] == [0, 0, 0]
    assert count(database, "events") == 1


def test_what_waits_in_memory_is_whole_and_comes_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    database, other = open_database(path, OpenOptions(0.1, 0.0)), open_database(path)
    store = RunStore(database)
    asked = ModelAsked(1, conversation(50))
    first = store.start(asked).run_id
    other.read("BEGIN IMMEDIATE")
    second = store.start(asked).run_id
    assert not database.is_durable
    assert events_of(store, second) == [asked]
    other.read("COMMIT")
    database.write()
    assert events_of(RunStore(other), second) == [asked]
    store.delete(first)
    assert events_of(RunStore(other), second) == [asked]
    database.close()
    other.close()


def test_a_run_whose_file_is_locked_is_not_deleted_behind_ones_back(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    database, other = open_database(path, OpenOptions(0.1, 0.0)), open_database(path)
    store = RunStore(database)
    run_id = store.start(ModelAsked(1, conversation(50))).run_id
    other.read("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match=run_id):
        store.delete(run_id)
    other.read("COMMIT")
    time.sleep(0.3)  # what is written behind one's back would be by now
    assert len(store.events(run_id)) == 1
    store.delete(run_id)
    assert [count(other, table) for table in TABLES] == [0, 0, 0]
    database.close()
    other.close()


def test_one_program_deletes_while_another_writes_the_same(tmp_path: Path) -> None:
    """Two connections, as a kernel and a server have."""
    path = tmp_path / "runs.sqlite"
    databases = [open_database(path), open_database(path)]
    kept: list[tuple[str, Event]] = []

    def work(database: Database) -> None:
        store = RunStore(database)
        for turn in range(12):
            asked = ModelAsked(1, conversation(20 + turn % 4))
            run_id = store.start(asked).run_id
            if turn % 3:
                store.delete(run_id)
            else:
                kept.append((run_id, asked))

    threads = [threading.Thread(target=work, args=(database,)) for database in databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = RunStore(databases[0])
    assert len(kept) == 8
    for run_id, asked in kept:
        assert events_of(store, run_id) == [asked]
    for run_id, _ in kept:
        store.delete(run_id)
    assert [count(databases[1], table) for table in TABLES] == [0, 0, 0]
    for database in databases:
        database.close()


def test_the_record_of_a_run_is_the_fold_of_what_was_recorded(store: RunStore) -> None:
    cells = (Cell("own", "code", "x", (StreamOutput("stdout", "line\n" * 400),)),) * 3
    journal = store.start(
        started(),
        StateCaptured(cells=cells, executed=("x = 1",) * 500),
        ModelAsked(1, conversation(50), (RUN_CELL,) * 40),
        replied(AssistantMessage("It is 3.")),
        HistoryCompacted(conversation(20), 9_000, 500),
        ModelAsked(2, (result("c1", "seen " * 400),)),
        RunFinished("completed", "3"),
    )
    record = store.record(journal.run_id)
    assert record.start_cells == cells
    assert record.tools == (RUN_CELL,) * 40
    assert len(record.messages) == 1 + 50 + 1 + 1
    assert record == fold(store.events(journal.run_id))


GROWING = """
import sys
from pathlib import Path
from recorded_runs import result, user
from cellwright.record.events import ModelAsked, ToolFinished
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

store = RunStore(open_database(Path(sys.argv[1])))
for turn in range(1, 1_000_000):
    asked = ModelAsked(turn, tuple(user(f"{number} " * 200) for number in range(turn)))
    journal = store.start(asked)
    journal.record(ToolFinished("c1", "run_cell", result("c1", f"{turn} " * 200)))
    print(journal.run_id, turn, flush=True)
"""


def test_a_kill_in_the_middle_of_a_write_leaves_every_run_whole(tmp_path: Path) -> None:
    """Fault S1."""
    path = tmp_path / "runs.sqlite"
    command = [sys.executable, "-c", GROWING, str(path)]
    environment = {"PYTHONPATH": ":".join([str(Path(__file__).parents[1]), *sys.path])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(30)]
        process.kill()
        lines += [line for line in process.stdout if line.endswith("\n")]
    database = open_database(path)
    store = RunStore(database)
    for run_id, turn in (line.split() for line in lines):
        history = tuple(said(number) for number in range(int(turn)))
        shown = ToolFinished("c1", "run_cell", result("c1", f"{turn} " * 200))
        assert events_of(store, run_id) == [ModelAsked(int(turn), history), shown]
    for (run_id,) in database.read("SELECT run_id FROM runs"):
        assert not any(isinstance(event, Notice) for event in events_of(store, run_id))
    database.close()
