"""Runs: written event by event, listed, found, read back and deleted."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from recorded_runs import RUN_ID, analysis_run, called, recorded, replied, started, twelve_events

from cellwright.errors import SetupError, StoreError
from cellwright.record.events import (
    CellOutput,
    Event,
    ModelSilent,
    Notice,
    RunFinished,
    RunStarted,
    TextDelta,
    ToolStarted,
)
from cellwright.record.messages import Parameters, Usage
from cellwright.record.outputs import DisplayData
from cellwright.record.run_record import RunRecord, fold, note_of_files_moved
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.event_rows import BlobFolder
from cellwright.store.ids import find_id
from cellwright.store.runs import RunJournal, RunStore


@pytest.fixture
def store(database: Database) -> RunStore:
    return RunStore(database)


def events_of(store: RunStore, run_id: str) -> list[Event]:
    return [item.event for item in store.events(run_id)]


def disown(database: Database, **changes: object) -> None:
    """Make every run look as if another process had written it."""
    for run_id, owner in database.read("SELECT run_id, owner FROM runs"):
        changed = json.dumps({**json.loads(owner), **changes})
        database.write(Statement("UPDATE runs SET owner = ? WHERE run_id = ?", (changed, run_id)))


def test_what_is_recorded_is_read_back_in_order(store: RunStore) -> None:
    journal = store.start()
    journal.record(*twelve_events())
    found = store.events(journal.run_id)
    assert [item.event for item in found] == twelve_events()
    assert [item.sequence for item in found] == list(range(1, 13))
    assert {item.run_id for item in found} == {journal.run_id}
    assert found[0].time <= found[-1].time


def test_a_record_is_the_fold_of_the_events(store: RunStore) -> None:
    journal = store.start(*analysis_run())
    record = store.record(journal.run_id)
    expected = fold(recorded(analysis_run(), journal.run_id))
    assert record.status == "completed"
    assert timeless(record) == timeless(expected)
    assert [c.cell for c in record.cells] == [c.cell for c in expected.cells]


def timeless(record: RunRecord) -> RunRecord:
    calls = tuple(replace(call, started_at=0.0) for call in record.calls)
    steps = tuple(replace(step, ended_at=0.0) for step in record.steps)
    record = replace(record, calls=calls, steps=steps, cells=(), executions=())
    return replace(record, started_at=0.0, duration_seconds=0.0)


def test_what_the_user_does_with_a_run_that_is_over_is_in_its_record_and_changes_nothing_else(
    store: RunStore, database: Database
) -> None:
    journal = store.start(*analysis_run())
    before, listed = store.record(journal.run_id), store.list()
    run_id = journal.run_id
    assert store.set_undone({run_id: 2}) == {run_id: None}
    assert store.set_undone({run_id: None}, "Its cells are back.") == {run_id: 2}
    key = "sk-" + "Ab3dEf6hIj9kLm2nOp5q" * 2
    store.add(run_id, note_of_files_moved(["a.csv", f"{key}.txt"], is_forth=False))
    store.add("nobody's", note_of_files_moved(["a.csv"], is_forth=True))
    record = RunStore(database).record(run_id)
    *notices, moved = record.notices[len(before.notices) :]
    assert moved.startswith("The user put files back: a.csv, ")
    assert key not in moved
    assert notices == [
        "Undone by the user from cell 2 on.",
        "Redone by the user. Its cells are back.",
    ]
    assert replace(record, notices=before.notices) == before
    assert (store.list(), store.events("nobody's")) == (listed, ())
    assert store.storage(run_id).problem == ""

    cut = store.start(*analysis_run()[:-1])
    lasted = store.record(cut.run_id).duration_seconds
    later = RunStore(database, clock=lambda: time.time() + 3_600)
    later.set_undone({cut.run_id: 0})
    assert store.record(cut.run_id).duration_seconds == lasted


def test_notes_that_two_write_at_once_about_a_run_are_both_kept(store: RunStore) -> None:
    run_id = store.start(*analysis_run()).run_id
    known = len(store.events(run_id))
    both = Barrier(2)

    def note(writer: str) -> None:
        for number in range(20):
            both.wait(10)
            store.add(run_id, Notice("info", f"{writer}{number}"))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(note, "ab"))
    found = store.events(run_id)[known:]
    texts = {item.event.text for item in found if isinstance(item.event, Notice)}
    assert texts == {f"{writer}{number}" for writer in "ab" for number in range(20)}
    assert [item.sequence for item in found] == list(range(known + 1, known + 41))


def test_ids_tell_when_a_run_began_and_sort_that_way(database: Database) -> None:
    times = iter([1_795_253_415.0, 1_795_253_416.0])
    store = RunStore(database, clock=lambda: next(times))
    first, second = store.start(), store.start()
    assert re.fullmatch(r"20261121-093015-[0-9a-f]{6}", first.run_id)
    assert first.run_id < second.run_id


def test_a_silent_model_is_not_recorded(store: RunStore, database: Database) -> None:
    journal = store.start(ModelSilent(5.0))
    assert events_of(store, journal.run_id) == []
    journal.record(TextDelta("a"), ModelSilent(5.0), TextDelta("b"))
    assert events_of(store, journal.run_id) == [TextDelta("a"), TextDelta("b")]


def test_recording_tells_each_events_place_and_time(store: RunStore) -> None:
    journal = store.start(started())
    first, silent, second = journal.record(TextDelta("a"), ModelSilent(5.0), TextDelta("b"))
    assert (first.sequence, silent.sequence, second.sequence) == (2, 0, 3)
    assert silent.event == ModelSilent(5.0)
    assert (first, second) == store.events(journal.run_id)[1:]
    assert journal.record() == ()


def test_a_forked_child_writes_nothing_and_numbers_nothing(store: RunStore) -> None:
    journal = store.start(started())
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            recorded = journal.record(TextDelta("child"))
            os.write(writer, b"".join(str(item.sequence).encode() for item in recorded))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"0"
    assert len(store.events(journal.run_id)) == 1


class TestLargeTexts:
    def test_they_lie_in_files_and_come_back(self, store: RunStore, tmp_path: Path) -> None:
        large = "A" * 70_000
        journal = store.start()
        output = CellOutput("c", DisplayData({"image/png": large, "list": [large, "small"]}))
        journal.record(output)
        assert events_of(store, journal.run_id) == [output]
        files = [item for item in (tmp_path / "blobs").rglob("*") if item.is_file()]
        assert [item.stat().st_size for item in files] == [70_000]

    def test_a_file_that_is_gone_is_told_in_its_place(
        self, store: RunStore, tmp_path: Path
    ) -> None:
        journal = store.start(TextDelta("A" * 70_000))
        (file,) = (item for item in (tmp_path / "blobs").rglob("*") if item.is_file())
        file.unlink()
        assert events_of(store, journal.run_id) == [
            TextDelta("(this part of the record is missing)")
        ]

    def test_text_that_looks_like_a_reference_stays_text(self, store: RunStore) -> None:
        journal = store.start()
        event = ToolStarted("c", "t", {"cellwright:blob": "ab" * 32})
        journal.record(event)
        assert events_of(store, journal.run_id) == [event]

    def test_they_stay_in_the_row_where_no_file_can_be_made(
        self, store: RunStore, tmp_path: Path
    ) -> None:
        (tmp_path / "blobs").write_text("in the way")
        journal = store.start()
        journal.record(TextDelta("A" * 70_000))
        assert events_of(store, journal.run_id) == [TextDelta("A" * 70_000)]

    def test_without_a_file_they_are_kept_in_memory(self) -> None:
        database = open_database(None)
        store = RunStore(database)
        journal = store.start(TextDelta("A" * 70_000))
        assert events_of(store, journal.run_id) == [TextDelta("A" * 70_000)]
        database.close()


class TestList:
    def test_the_newest_run_comes_first_with_its_numbers(self, store: RunStore) -> None:
        store.start(*analysis_run())
        store.start(
            RunStarted("later", "cli", "ask", Parameters("m"), source_run="before"),
            replied(called("c1")),
            replied(called("c2")),
        )
        later, analysis = store.list()
        assert (later.prompt, later.model, later.lane, later.status) == (
            "later",
            "m",
            "cli",
            "running",
        )
        assert later.usage == Usage(200, 20, 100)
        assert later.cost_dollars == pytest.approx(0.002)
        assert later.source_run == "before"
        assert analysis.status == "completed"
        assert analysis.duration_seconds == 12.5
        assert store.list(limit=1) == (later,)

    def test_words_are_looked_for_in_prompt_model_status_and_id(self, store: RunStore) -> None:
        first = store.start(started("Plot the SALES"), RunFinished("completed")).run_id
        store.start(started("数据分析"), RunFinished("cancelled"))
        assert [s.run_id for s in store.list(query="sales demo-analyst")] == [first]
        assert [s.prompt for s in store.list(query="数据")] == ["数据分析"]
        assert [s.prompt for s in store.list(query="cancelled")] == ["数据分析"]
        assert [s.run_id for s in store.list(query=first[-6:])] == [first]
        assert store.list(query="sales cancelled") == ()

    def test_statuses_are_counted(self, store: RunStore) -> None:
        assert store.counts() == {}
        for status in ("completed", "completed", "cancelled"):
            store.start(started(), RunFinished(status))
        assert store.counts() == {"completed": 2, "cancelled": 1}

    def test_a_prompt_with_half_a_character_can_be_listed(self, store: RunStore) -> None:
        journal = store.start(started("half \ud83d"))
        assert store.list()[0].prompt == "half ?"
        assert store.record(journal.run_id).prompt == "half \ud83d"


class TestInterrupted:
    @pytest.mark.parametrize(
        "changes",
        [{"pid": 2**22 + 1}, {"pid": 0}, {"boot": "another"}, {"began": "long ago"}],
        ids=["dead", "no process", "rebooted", "number used again"],
    )
    def test_a_run_whose_process_is_gone_has_ended(
        self, changes: dict[str, object], store: RunStore, database: Database
    ) -> None:
        journal = store.start(started())
        assert store.record(journal.run_id).status == "running"
        disown(database, **changes)
        record = store.record(journal.run_id)
        assert (record.status, record.cause) == ("task error", "interrupted")
        assert record.reason == "The process ended before the run did."
        (summary,) = store.list()
        assert (summary.status, summary.cause) == ("task error", "interrupted")
        assert store.counts() == {"task error": 1}

    def test_a_run_on_another_machine_counts_as_ended_after_an_hour(
        self, database: Database
    ) -> None:
        now = RunStore(database)
        journal = now.start(started())
        disown(database, host="elsewhere", pid=1)
        assert now.record(journal.run_id).status == "running"
        later = RunStore(database, clock=lambda: 4_000_000_000.0)
        assert later.record(journal.run_id).cause == "interrupted"

    def test_a_run_of_the_system_itself_is_alive(self, store: RunStore, database: Database) -> None:
        store.start(started())
        disown(database, pid=1, began="")
        assert store.list()[0].status == "running"

    def test_a_finished_run_stays_what_it_was(self, store: RunStore, database: Database) -> None:
        journal = store.start(started(), RunFinished("cancelled"))
        disown(database, pid=2**22 + 1)
        assert store.record(journal.run_id).status == "cancelled"

    def test_a_row_without_an_owner_that_can_be_read_is_left_as_it_is(
        self, store: RunStore, database: Database
    ) -> None:
        journal = store.start(started())
        database.write(Statement("UPDATE runs SET owner = 'nobody'"))
        assert store.record(journal.run_id).status == "running"


class TestResolve:
    @pytest.fixture
    def known(self, store: RunStore, database: Database) -> list[str]:
        ids = ["20261120-101010-aaaaaa", "20261121-101010-bbbbbb", "20261121-111111-cccccc"]
        for run_id in ids:
            database.write(
                Statement(
                    "INSERT INTO runs (run_id, status, started_at, last_at) VALUES (?, 'x', 0, 0)",
                    (run_id,),
                )
            )
        return ids

    def test_a_whole_id_its_start_its_end_or_last_will_do(
        self, store: RunStore, known: list[str]
    ) -> None:
        assert store.resolve(known[0]) == known[0]
        assert store.resolve("20261120") == known[0]
        assert store.resolve(" bbbb ".strip() + "bb") == known[1]
        assert store.resolve("last") == known[2]

    def test_a_run_that_only_shortened_a_chat_is_not_the_last_one(
        self, store: RunStore, database: Database, known: list[str]
    ) -> None:
        for prompt in ("/compact", "/summary"):
            change = "UPDATE runs SET prompt = ?, started_at = 9 WHERE run_id = ?"
            database.write(Statement(change, (prompt, known[2])))
            assert store.resolve("last") == known[1]
            assert store.resolve(known[2]) == known[2]

    def test_a_replay_or_an_attempt_is_the_last_one_only_where_it_was_kept(
        self, store: RunStore, database: Database, known: list[str]
    ) -> None:
        for lane in ("replay", "judge", "branch"):
            change = "UPDATE runs SET lane = ?, started_at = 9 WHERE run_id = ?"
            database.write(Statement(change, (lane, known[2])))
            assert store.resolve("last") == known[1]
            assert store.resolve(known[2]) == known[2]
        chats = ChatStore(database)
        chats.add_run(chats.create().chat_id, known[2])
        assert store.resolve("last") == known[2]

    @pytest.mark.parametrize(
        ("name", "place"),
        [
            ("20261120-", 0),
            ("20261120-1010", 0),
            ("101010-aaaaaa", 0),
            ("111111", 2),
            ("111111-cc", 2),
            ("cccccc", 2),
            ("ccc", 2),
        ],
    )
    def test_a_part_of_an_id_is_enough(
        self, name: str, place: int, store: RunStore, known: list[str]
    ) -> None:
        assert store.resolve(name) == known[place]

    @pytest.mark.parametrize("name", ["20261121", "2026112", "101010"])
    def test_several_candidates_are_named(
        self, name: str, store: RunStore, known: list[str]
    ) -> None:
        with pytest.raises(SetupError) as caught:
            store.resolve(name)
        assert repr(name) in caught.value.message
        assert known[1] in caught.value.hint
        assert (known[2] in caught.value.hint) is known[2].startswith(name)
        assert caught.value.hint.startswith("They are: ")
        with pytest.raises(SetupError, match="fits 7 ids. The newest 5 are: run-6, run-5"):
            find_id("run", [f"run-{number}" for number in range(6, -1, -1)], "run")

    @pytest.mark.parametrize("name", ["nonsense", "", " "])
    def test_the_newest_runs_are_named_where_none_fits(
        self, name: str, store: RunStore, known: list[str]
    ) -> None:
        with pytest.raises(SetupError, match="There is no run") as caught:
            store.resolve(name)
        assert known[2] in caught.value.hint

    def test_an_empty_record_says_what_to_do(self, store: RunStore) -> None:
        with pytest.raises(SetupError, match="There is no run yet") as caught:
            store.resolve("last")
        assert "%agent" in caught.value.hint

    def test_a_record_that_is_not_there_is_an_error_that_names_it(self, store: RunStore) -> None:
        assert store.events("nothing") == ()
        with pytest.raises(SetupError, match="'nothing'"):
            store.record("nothing")


class DeletingFirst:
    """A database in which somebody deletes a run just before another one is written."""

    def __init__(self, database: Database, delete: Callable[[], None]) -> None:
        self._database = database
        self._delete = delete
        self.has_deleted = False

    def write(self, *statements: Statement) -> None:
        if not self.has_deleted:
            self.has_deleted = True
            self._delete()
        self._database.write(*statements)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class TestDelete:
    def test_nothing_of_a_deleted_run_stays_on_the_disk(
        self, store: RunStore, tmp_path: Path
    ) -> None:
        mark = "do-not-keep-this"
        shared, own = "S" * 70_000, f"{mark}" * 7_000
        kept = store.start(started(), TextDelta(shared)).run_id
        gone = store.start(started(mark), TextDelta(mark), TextDelta(shared), TextDelta(own)).run_id
        store.delete(gone)
        assert store.events(gone) == ()
        assert [s.run_id for s in store.list()] == [kept]
        assert events_of(store, kept) == [started(), TextDelta(shared)]
        for file in tmp_path.rglob("*"):
            if file.is_file():
                assert mark.encode() not in file.read_bytes(), file

    def test_a_run_that_begins_meanwhile_keeps_the_large_text_of_both(
        self, database: Database, store: RunStore, tmp_path: Path
    ) -> None:
        shared = TextDelta("S" * 70_000)
        gone = store.start(started(), shared).run_id
        deleting = DeletingFirst(database, partial(store.delete, gone))
        journal = RunJournal("kept", deleting, BlobFolder(tmp_path / "blobs"))  # type: ignore[arg-type]
        journal.record(started(), shared)
        assert deleting.has_deleted
        assert events_of(store, "kept") == [started(), shared]

    def test_a_run_in_memory_can_be_deleted(self) -> None:
        database = open_database(None)
        store = RunStore(database)
        run_id = store.start(started()).run_id
        store.delete(run_id)
        assert store.list() == ()
        database.close()

    def test_a_file_that_cannot_be_written_is_told(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "runs.sqlite", OpenOptions(retry_seconds=60))
        store = RunStore(database)
        run_id = store.start(started()).run_id
        (pages,) = database.read("PRAGMA page_count")[0]
        database.read(f"PRAGMA max_page_count = {pages}")
        store.start(TextDelta("x" * 30_000))
        with pytest.raises(StoreError, match=run_id):
            store.delete(run_id)
        database.close()


@dataclass(frozen=True)
class Odd:
    """A value nobody foresaw."""

    inner: object


class TestNeverInTheWay:
    def test_values_that_json_cannot_hold_are_kept_as_words(self, store: RunStore) -> None:
        deep: list[object] = []
        deep.append(deep)
        journal = store.start()
        arguments: dict[Any, Any] = {
            "set": {1},
            "odd": Odd(3),
            5: (1, 2),
            "deep": deep,
            "nan": float("nan"),
        }
        journal.record(ToolStarted("c", "t", arguments))
        journal.record(ToolStarted("c", "t", {"bytes": b"x"}))
        first, second = events_of(store, journal.run_id)
        assert isinstance(first, ToolStarted)
        assert first.arguments["set"] == "{1}"
        assert first.arguments["odd"] == {"inner": 3}
        assert first.arguments["5"] == [1, 2]
        assert second == ToolStarted("c", "t", {"bytes": "b'x'"})
        assert journal.take_notices() == ()

    @pytest.mark.parametrize("is_in_file", [True, False])
    def test_a_number_that_no_service_would_say_is_recorded_all_the_same(
        self, is_in_file: bool, tmp_path: Path
    ) -> None:
        database = open_database(tmp_path / "runs.sqlite" if is_in_file else None)
        store = RunStore(database)
        said = replace(replied(called("c1")), usage=Usage(10**30, 10, -(10**30)))
        journal = store.start(started(), said, TextDelta("after"))
        assert events_of(store, journal.run_id) == [started(), said, TextDelta("after")]
        assert journal.take_notices() == ()
        database.close()

    def test_a_row_that_is_refused_is_told_and_nothing_is_raised(
        self, store: RunStore, database: Database
    ) -> None:
        journal = store.start(started())
        database.write(Statement("DROP TABLE events"))
        (lost,) = journal.record(TextDelta("lost"))
        (too,) = journal.record(TextDelta("lost too"))
        assert (lost.sequence, too.sequence) == (2, 3), "the run goes on as if it had been kept"
        (notice,) = journal.take_notices()
        assert isinstance(notice, Notice)
        assert (notice.level, notice.code) == ("warning", "store_refused")
        assert "no such table: events" in notice.text
        assert journal.take_notices() == ()

    def test_what_the_database_has_to_say_comes_as_notices(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        database = open_database(tmp_path / "file" / "runs.sqlite")
        journal = RunStore(database).start(started())
        (notice,) = journal.take_notices()
        assert notice.code == "store_failed"
        assert "CELLWRIGHT_HOME" in notice.action
        database.close()

    @pytest.mark.parametrize(
        "change",
        [
            "UPDATE events SET data = replace(data, 'hello', 'other')",
            "UPDATE events SET data = 'not json', sha = 'x'",
        ],
    )
    def test_a_changed_row_is_told_and_the_rest_is_read(
        self, change: str, store: RunStore, database: Database
    ) -> None:
        journal = store.start(TextDelta("hello"))
        database.write(Statement(change))
        journal.record(TextDelta("after"))
        first, second = events_of(store, journal.run_id)
        assert isinstance(first, Notice)
        assert first.code == "event_unreadable"
        assert second == TextDelta("after")

    def test_an_event_of_a_newer_version_is_told_and_the_rest_is_read(
        self, store: RunStore, database: Database
    ) -> None:
        from cellwright.store.event_rows import sha_of

        journal = store.start(started())
        for sequence, data in ((2, '{"kind":"future"}'), (3, '{"kind":"text_delta"}'), (4, "7")):
            row = (journal.run_id, sequence, 1.0, "future", data, sha_of(data))
            database.write(Statement("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", row))
        found = events_of(store, journal.run_id)
        assert [type(event) for event in found] == [RunStarted, Notice, Notice, Notice]
        assert "unknown kind 'future'" in found[1].text  # type: ignore[union-attr]
        assert store.record(journal.run_id).prompt == started().prompt


def test_a_sample_run_has_the_shape_of_a_stored_one() -> None:
    assert fold(recorded(analysis_run())).run_id == RUN_ID
