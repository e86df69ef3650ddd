"""A damaged record is read page by page: what one bad place costs is said, and no more than it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from recorded_runs import SYSTEM, analysis_run, replied, started, user

from cellwright.context.blocks import Block
from cellwright.record.events import Event, ModelAsked, RunFinished, RunStarted, TextDelta
from cellwright.record.messages import AssistantMessage, Message
from cellwright.store.blocks import BlockStore
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, Statement, is_sound, open_database
from cellwright.store.runs import RunStore
from cellwright.store.salvage import PageFile, Salvage, repair, salvage
from cellwright.store.search_index import runs_that_say

PAGE = 4096
RUNS = 100
Damage = Callable[[bytearray, random.Random], None]


def run_of(number: int) -> list[Event]:
    """A run of an analysis, with what was said before it in its chat."""
    events: list[Event] = [started(f"Question {number}"), *analysis_run()[1:-1]]
    history: tuple[Message, ...] = (
        SYSTEM,
        *(user(f"{n} {'What about it? ' * 30}") for n in range(number % 40)),
    )
    events.append(ModelAsked(9, history))
    events.append(replied(AssistantMessage(f"Answer {number} " + "word " * (number % 50))))
    events += [TextDelta(f"{number} {n} " + "x" * 300) for n in range(number % 7)]
    events.append(RunFinished("completed", f"Answer {number}", duration_seconds=2.0))
    return events


def fill(path: Path, runs: int = RUNS) -> list[str]:
    """A record of so many runs, in chats of ten; their ids."""
    with closing(open_database(path)) as database:
        store, chats, ids = RunStore(database), ChatStore(database), list[str]()
        for number in range(runs):
            if number % 10 == 0:
                chat = chats.create(f"book-{number // 10}.ipynb")
            ids.append(store.start(*run_of(number)).run_id)
            chats.add_run(chat.chat_id, ids[-1])
        return ids


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record that no test changes."""
    path = tmp_path_factory.mktemp("sound") / "runs.sqlite"
    fill(path)
    return path


def damaged(sound: Path, folder: Path, damage: Damage, seed: int = 0) -> Path:
    """A copy of a record that was damaged, under the name of one that was set aside."""
    data = bytearray(sound.read_bytes())
    damage(data, random.Random(seed))
    path = folder / "runs.sqlite.corrupt-20261123T000000-1"
    path.write_bytes(data)
    if (sound.parent / "blobs").exists():
        shutil.copytree(sound.parent / "blobs", folder / "blobs")
    return path


def flip_bytes(places: int) -> Damage:
    def damage(data: bytearray, rng: random.Random) -> None:
        for _ in range(places):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)

    return damage


def overwrite_pages(share: float) -> Damage:
    def damage(data: bytearray, rng: random.Random) -> None:
        count = len(data) // PAGE
        for page in rng.sample(range(count), round(count * share)):
            data[page * PAGE : (page + 1) * PAGE] = rng.randbytes(PAGE)

    return damage


def no_start(data: bytearray, rng: random.Random) -> None:
    data[: 3 * PAGE] = bytes(3 * PAGE)


Events = dict[str, list[Event]]


def events_of(path: Path) -> Events:
    """The events of each run of a record."""
    with closing(open_database(path)) as database:
        store = RunStore(database)
        return {
            run.run_id: [item.event for item in store.events(run.run_id)]
            for run in store.list(limit=1_000)
        }


@pytest.fixture(scope="module")
def before(sound: Path) -> Events:
    """The events of the record that no test changes."""
    return events_of(sound)


def whole_runs(now: Events, before: Events) -> int:
    """How many runs are, event for event, what they were."""
    return sum(now.get(run_id) == events for run_id, events in before.items())


def repaired(sound: Path, folder: Path, damage: Damage, seed: int = 0) -> Salvage:
    damaged(sound, folder, damage, seed)
    (done,) = repair(folder / "runs.sqlite")
    return done


def test_everything_of_a_sound_file_is_put_back(
    sound: Path, before: Events, tmp_path: Path
) -> None:
    done = repaired(sound, tmp_path, flip_bytes(0))
    path = tmp_path / "runs.sqlite"
    assert (done.runs, done.whole, done.lost_events, done.missing_texts) == (RUNS, RUNS, 0, 0)
    assert whole_runs(events_of(path), before) == RUNS
    with closing(open_database(path)) as database, closing(open_database(sound)) as source:
        then, now = RunStore(source), RunStore(database)
        assert now.list(limit=RUNS) == then.list(limit=RUNS)
        assert ChatStore(database).list() == ChatStore(source).list()
        assert runs_that_say(database, "Answer 77") == runs_that_say(source, "Answer 77")
        for table in ("usage_calls", "run_parts", "part_uses", "blob_uses"):
            count = f"SELECT COUNT(*) FROM {table}"
            assert database.read(count) == source.read(count), table
        assert database.read("PRAGMA integrity_check") == [("ok",)]
        # And what was put back can be deleted like all else, with nothing of it left.
        for run in now.list(limit=RUNS):
            now.delete(run.run_id)
        assert database.read("SELECT COUNT(*) FROM parts") == [(0,)]


@pytest.mark.parametrize(
    ("damage", "least"),
    [
        (flip_bytes(1), 0.99),
        (flip_bytes(10), 0.85),
        (flip_bytes(100), 0.25),
        (overwrite_pages(0.01), 0.8),
        (overwrite_pages(0.1), 0.1),
        (no_start, 0.95),
    ],
    ids=["1 byte", "10 bytes", "100 bytes", "1 page of 100", "1 page of 10", "no start"],
)
def test_most_runs_are_read_back_and_the_rest_is_counted(
    damage: Damage, least: float, sound: Path, before: Events, tmp_path: Path
) -> None:
    done = repaired(sound, tmp_path, damage, seed=1)
    path = tmp_path / "runs.sqlite"
    found = events_of(path)
    whole = whole_runs(found, before)
    # No hash vouches for the id that an event is filed under.
    assert abs(done.whole - whole) <= 2
    assert whole + done.lacking >= least * RUNS
    with closing(open_database(path)) as database:
        now = RunStore(database)
        (there,) = database.read("SELECT COUNT(*) FROM events")[0]
        assert done.lost_events <= sum(map(len, before.values())) - there
        for run in now.list(limit=RUNS):
            missing = len(before[run.run_id]) - len(found[run.run_id])
            assert missing == 0 or run.status != "completed", "half a run is no whole one"
            assert now.record(run.run_id).run_id == run.run_id or not found[run.run_id]
        assert database.read("PRAGMA integrity_check") == [("ok",)]
        ChatStore(database).list()
        runs_that_say(database, "Answer")


def test_a_record_damaged_where_it_stands_is_set_aside_first_and_kept(
    sound: Path, tmp_path: Path
) -> None:
    path = tmp_path / "runs.sqlite"
    copy = damaged(sound, tmp_path, overwrite_pages(0.05), 3).rename(path)
    before = copy.read_bytes()
    (done,) = repair(path)
    assert done.source.name.startswith("runs.sqlite.repaired-")
    assert done.source.read_bytes() == before
    assert repair(path) == (), "what was read is not read again: some of it may be deleted since"
    assert "runs in" in str(done)


def test_a_sound_record_is_left_alone(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    shutil.copy(sound, path)
    inode = path.stat().st_ino
    assert repair(path) == ()
    assert path.stat().st_ino == inode


WHOLE_NUMBERS = [
    sign * (1 << bits) + more
    for bits in (0, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 62)
    for sign in (1, -1)
    for more in (-1, 0, 1)
]


def begin_file(path: Path, page_bytes: int, reserved: int) -> None:
    """An empty file of pages of this size, with room at their ends, as some systems leave it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA page_size = {page_bytes}")
        connection.execute("VACUUM")
    data = bytearray(path.read_bytes())
    data[20] = reserved
    data[105:107] = ((page_bytes - reserved) % 65_536).to_bytes(2, "big")
    path.write_bytes(data)


@pytest.mark.parametrize(("page_bytes", "reserved"), [(512, 0), (4096, 0), (4096, 12), (65_536, 0)])
def test_rows_and_indexes_are_read_as_sqlite_reads_them(
    page_bytes: int, reserved: int, tmp_path: Path
) -> None:
    path = tmp_path / "values.sqlite"
    begin_file(path, page_bytes, reserved)
    values: list[object] = [None, 1.5, -1e300, *WHOLE_NUMBERS, 2**63 - 1, -(2**63)]
    # Whatever fits into its page to the last byte, and whatever does not.
    for size in (*range(1_200 if page_bytes == 512 else 140), *range(1_200, 9_000, 501)):
        values += ["é" * (size // 2) + "x" * (size % 2), bytes(size)]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, value)")
        connection.execute("CREATE INDEX by_value ON t (value)")
        rows = [(number, value) for number, value in enumerate(values, 100)]
        rows += [(number, "far") for number in (-(2**63), -1, 0, 2**62, 2**63 - 1)]
        connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        connection.commit()
        roots = dict(connection.execute("SELECT name, rootpage FROM sqlite_master"))
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert path.read_bytes()[20] == reserved
    with PageFile(path) as file:
        owned = file.owners({"t": roots["t"]})
        found = [cell for cell in file.rows() if cell.page in owned]
        assert [(c.rowid, *c.values[1:]) for c in sorted(found, key=lambda c: c.rowid)] == sorted(
            rows, key=lambda row: row[0]
        )
        assert [cell for page in sorted(owned) for cell in file.rows_of(page)] == found
        entries = [cell.values for cell in file.index_entries()]
    assert sorted(map(repr, entries)) == sorted(repr((row[1], row[0])) for row in rows)


@pytest.mark.parametrize("kind", [10, 11])
def test_a_value_of_a_kind_that_there_is_not_costs_its_row(kind: int, tmp_path: Path) -> None:
    path = tmp_path / "values.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, value)")
        connection.execute("INSERT INTO t VALUES (1, ''), (2, 'two')")
        connection.commit()
    row = bytes([3, 1, 3, 0, 13])  # its size, its number, and an empty text
    data = path.read_bytes()
    assert data.count(row) == 1
    path.write_bytes(data.replace(row, bytes([3, 1, 3, 0, kind])))
    with PageFile(path) as file:
        assert [cell.values for cell in file.rows_of(2)] == [(None, "two")]


def test_a_chat_that_cannot_be_read_is_not_put_back(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    fill(path, 11)
    with sqlite3.connect(path) as connection:
        broken = "UPDATE chats SET settings = '{' WHERE notebook_path = 'book-0.ipynb'"
        assert connection.execute(broken).rowcount == 1
    connection.close()
    repair(tmp_path / "runs.sqlite", path)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        assert [chat.notebook_path for chat in ChatStore(database).list()] == ["book-1.ipynb"]


def test_what_the_log_holds_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "live" / "runs.sqlite"
    database = open_database(path)
    store = RunStore(database)
    database.read("PRAGMA wal_autocheckpoint = 0")
    ids = [store.start(*run_of(number)).run_id for number in range(5)]
    assert path.with_name("runs.sqlite-wal").stat().st_size > 10_000
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", f"{tmp_path}/copy{ending}")
    database.close()
    with closing(open_database(tmp_path / "new" / "runs.sqlite")) as other:
        done = salvage(tmp_path / "copy", other)
        assert (done.runs, done.whole) == (5, 5)
        assert {run.run_id for run in RunStore(other).list()} == set(ids)


def test_a_run_goes_on_from_what_was_set_aside(sound: Path, tmp_path: Path) -> None:
    """New runs that were recorded meanwhile stay as they are."""
    damaged(sound, tmp_path, flip_bytes(5), 4)
    path = tmp_path / "runs.sqlite"
    with closing(open_database(path)) as database:
        new = RunStore(database).start(started("meanwhile"), RunFinished("completed")).run_id
    repair(path)
    with closing(open_database(path)) as database:
        assert RunStore(database).record(new).status == "completed"
        assert len(RunStore(database).list(limit=1_000)) == RUNS + 1


def test_a_file_of_one_run_is_put_into_the_record(tmp_path: Path) -> None:
    path, file = tmp_path / "runs.sqlite", tmp_path / "elsewhere" / "mine.sqlite"
    other = open_database(tmp_path / "other" / "runs.sqlite")
    run_id = RunStore(other).start(*run_of(8), TextDelta("z" * 70_000)).run_id
    file.parent.mkdir()
    RunStore(other).write_to(run_id, file)
    events = [item.event for item in RunStore(other).events(run_id)]
    other.close()
    (done,) = repair(path, file)
    assert (done.runs, done.whole, done.source) == (1, 1, file)
    assert file.exists()
    with closing(open_database(path)) as database:
        assert [item.event for item in RunStore(database).events(run_id)] == events


@pytest.mark.parametrize("damage", ["DELETE FROM runs", "UPDATE runs SET run_id = 'no run'"])
def test_a_run_that_lost_its_line_gets_it_back_from_its_events(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    (run_id,) = fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER forget_deleted_run")
        connection.execute(damage)
    connection.close()
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole) == (1, 1)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        (summary,) = RunStore(database).list()
        assert (summary.run_id, summary.status) == (run_id, "completed")
        assert summary.prompt == "Question 0"
        assert summary.usage.total_tokens > 0


def test_a_run_whose_events_are_all_gone_is_no_completed_one(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM events")
    connection.close()
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole) == (1, 0)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        (summary,) = RunStore(database).list()
        told = (summary.status, summary.prompt, summary.model)
        assert told == ("unknown", "Question 0", "demo-analyst")


def test_an_event_whose_run_cannot_be_told_is_lost_and_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    (run_id,) = fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE events SET run_id = x'00' WHERE sequence = 3")
        connection.execute("UPDATE runs SET prompt = 'Changed', model = 'changed'")
        (events,) = connection.execute("SELECT COUNT(*) FROM events").fetchone()
    connection.close()
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole, done.events, done.lost_events) == (1, 0, events, 1)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        (summary,) = RunStore(database).list()
        told = (summary.status, summary.prompt, summary.model)
        assert told == ("unknown", "Question 0", "demo-analyst"), "what the events say counts"


@pytest.mark.parametrize("size", [0, 2, 256, 4097, 0x9000])
def test_a_page_size_that_no_file_can_have_is_not_believed(size: int, tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    fill(path, 2)
    data = bytearray(path.read_bytes())
    data[16:18] = size.to_bytes(2, "big")
    path.write_bytes(data)
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole) == (2, 2)


def test_an_event_that_was_changed_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    (run_id,) = fill(path, 1)
    data = path.read_bytes()
    assert data.count(b"Question 0") >= 2, "in the event, and in the line of the list"
    path.write_bytes(data.replace(b"Question 0", b"Question 9"))
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert done.lost_events == 1
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        kinds = [type(item.event) for item in RunStore(database).events(run_id)]
        assert RunStarted not in kinds
        assert RunStore(database).list()[0].status == "unknown"


@pytest.mark.parametrize("where", ["row", "index"])
@pytest.mark.parametrize("number", [3, 99])
def test_an_event_whose_number_changed_keeps_its_place(
    where: str, number: int, tmp_path: Path
) -> None:
    """Row and index tell of each event; the rows beside it say which of them is right."""
    path = tmp_path / "old.sqlite"
    (run_id,) = fill(path, 1)
    with closing(open_database(path)) as database:
        before = [item.event for item in RunStore(database).events(run_id)]
    data = bytearray(path.read_bytes())
    # In the row a time follows the number, in the index the row's own, which is the same here.
    place = data.index(run_id.encode() + b"\x05" + (b"A" if where == "row" else b"\x05"))
    data[place + len(run_id)] = number
    path.write_bytes(data)
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole, done.lost_events) == (1, 1, 0)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        assert [item.event for item in RunStore(database).events(run_id)] == before


def test_a_run_that_lost_its_end_and_its_line_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER forget_deleted_run")
        connection.execute("DELETE FROM runs")
        connection.execute("DELETE FROM events WHERE kind = 'run_finished'")
    connection.close()
    (done,) = repair(tmp_path / "runs.sqlite", path)
    assert (done.runs, done.whole, done.lost_events) == (1, 0, 1)


def test_blocks_get_numbers_of_their_own_and_are_found_by_their_words(tmp_path: Path) -> None:
    def keep(database: Database, word: str) -> None:
        BlockStore(database).keep("chat", Block(f"run-{word}", word, f"all about {word}"))

    path = tmp_path / "old.sqlite"
    with closing(open_database(path)) as database:
        keep(database, "elephants")
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        keep(database, "giraffes")
    repair(tmp_path / "runs.sqlite", path)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        for word in ("elephants", "giraffes"):
            (block,) = BlockStore(database).find("chat", word, ()).blocks
            assert word in block.text


def test_memories_and_consents_come_back_from_where_they_were_alone(tmp_path: Path) -> None:
    """A row that no hash vouches for is not taken from a page that is of no table."""
    path = tmp_path / "old.sqlite"
    with closing(open_database(path)) as database:
        consent = "INSERT INTO tool_consents VALUES ('', 'abc', 'tool', 1.0)"
        database.write(Statement(consent))
        (root,) = database.read("SELECT rootpage FROM sqlite_master WHERE name = 'tool_consents'")[
            0
        ]
    repair(tmp_path / "runs.sqlite", path)
    with closing(open_database(tmp_path / "runs.sqlite")) as database:
        assert database.read("SELECT name FROM tool_consents") == [("tool",)]
    data = bytearray(path.read_bytes())
    data[:PAGE] = bytes(PAGE)
    path.write_bytes(data)
    with PageFile(path) as file:
        assert any(cell.values[1] == "abc" for cell in file.rows_of(root)), "it can be read"
    repair(tmp_path / "again.sqlite", path)
    with closing(open_database(tmp_path / "again.sqlite")) as database:
        assert database.read("SELECT name FROM tool_consents") == []


def test_a_file_that_is_no_database_holds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(random.Random(1).randbytes(100_000))
    (done,) = repair(tmp_path / "runs.sqlite", file)
    assert (done.runs, done.events) == (0, 0)


@pytest.mark.parametrize("table", ["runs", "events", "chats"])
def test_13_17_a_record_that_lacks_a_table_is_set_aside(tmp_path: Path, table: str) -> None:
    path = tmp_path / "runs.sqlite"
    open_database(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"DROP TABLE {table}")
    connection.commit()
    connection.close()
    assert not is_sound(path)
    database = open_database(path)
    (notice,) = database.take_notices()
    database.close()
    assert "a table is missing" in notice.text
    assert is_sound(path)
