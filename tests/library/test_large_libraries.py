"""Libraries whose vectors do not fit into memory: what is found, and what it takes."""

from __future__ import annotations

import array
import contextlib
import sqlite3
import tracemalloc
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library.shelves import Shelf, serving, vectors_like

from cellwright.commands.doctor import checks
from cellwright.errors import SetupError
from cellwright.knowledge.library import Library
from cellwright.knowledge.library import nearness as nearness_module
from cellwright.knowledge.library import store_vectors as library_vectors
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.nearness import Nearness, StoredTable, VectorTable
from cellwright.knowledge.library.store import id_range
from cellwright.knowledge.library.store_vectors import keep_vectors
from cellwright.knowledge.retrieval import Near
from cellwright.settings import ServiceSettings, Settings, from_env
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import apply

ENOUGH = 2**28
NONE = 0
TABLES = ("chunks", "vectors")
PIECE = "INSERT INTO library_chunks VALUES (?, 'd', 0, '', '', ?, ?)"
LIBRARY = Library(7, "default", "/project")


class CountingDatabase(Database):
    """Knows how many vectors were read."""

    vectors = 0

    def read(
        self, sql: str, parameters: Sequence[Any] = (), *, also_waiting: bool = True
    ) -> list[tuple[Any, ...]]:
        """The rows."""
        rows = super().read(sql, parameters, also_waiting=also_waiting)
        self.vectors += sum(isinstance(value, bytes) for row in rows for value in row)
        return rows


@pytest.fixture
def counting() -> Iterator[CountingDatabase]:
    database = CountingDatabase(None, OpenOptions())
    yield database
    database.close()


def vector(*numbers: float) -> bytes:
    length = sum(number * number for number in numbers) ** 0.5 or 1.0
    return array.array("f", (number / length for number in numbers)).tobytes()


def put(
    database: Database, texts: Sequence[str], library: Library = LIBRARY, start: int = 1
) -> None:
    """Pieces with these texts, in their order."""
    first, _ = id_range(library.number)
    rows = ((first + number, text, text) for number, text in enumerate(texts, start))
    database.write(*(Statement(PIECE, row) for row in rows))


def found(near: Sequence[Near], library: Library = LIBRARY) -> list[int]:
    """Which pieces, as they were counted when they were put."""
    return [item.text_id - id_range(library.number)[0] for item in near]


def around(count: int, dimension: int = 8) -> dict[str, bytes]:
    """Vectors that turn away from the first one."""
    rest = [0.0] * (dimension - 2)
    return {str(number): vector(1.0, number / 100, *rest) for number in range(count)}


numbers = st.tuples(*[st.integers(-2, 2).map(float)] * 3)


def test_002_08_the_same_is_found_in_the_same_order_in_memory_and_out_of_it(
    database: Database,
) -> None:
    @settings(max_examples=40, deadline=None)
    @given(
        known=st.dictionaries(st.sampled_from("abcdefghijkl"), numbers),
        texts=st.lists(st.sampled_from("abcdefghijklmn"), max_size=40),
        wanted=numbers,
        limit=st.integers(1, 12),
    )
    def is_found(
        known: Mapping[str, tuple[float, ...]],
        texts: Sequence[str],
        wanted: tuple[float, ...],
        limit: int,
    ) -> None:
        database.write(*(Statement(f"DELETE FROM library_{table}") for table in TABLES))
        put(database, texts)
        keep_vectors(database, "m", ((text, vector(*each)) for text, each in known.items()))
        asked = (LIBRARY, "m", vector(*wanted), limit)
        near = Nearness(database, ENOUGH).nearest(*asked)
        assert Nearness(database, NONE).nearest(*asked) == near
        assert len(near) == min(limit, sum(text in known for text in texts))
        places = [(-item.cosine, item.text_id) for item in near]
        assert places == sorted(places)

    is_found()


@pytest.mark.parametrize(("memory_bytes", "read_later"), [(ENOUGH, 0), (NONE, 301)])
def test_vectors_are_kept_in_memory_where_they_fit_and_else_read_by_each_question(
    counting: CountingDatabase, memory_bytes: int, read_later: int
) -> None:
    """Each question reads all of them, and the nearest once more."""
    vectors = around(300)
    put(counting, list(vectors))
    keep_vectors(counting, "m", vectors.items())
    nearness = Nearness(counting, memory_bytes)
    assert found(nearness.nearest(LIBRARY, "m", vectors["9"], 1)) == [10]
    counting.vectors = 0
    assert found(nearness.nearest(LIBRARY, "m", vectors["120"], 1)) == [121]
    assert counting.vectors == read_later


def test_a_library_that_does_not_fit_takes_next_to_no_memory(database: Database) -> None:
    vectors = around(2_000, dimension=384)
    put(database, list(vectors))
    keep_vectors(database, "m", vectors.items())
    size = 2_000 * 384 * 4
    peaks = []
    for memory_bytes in (size, size - 1):
        tracemalloc.start()
        nearness = Nearness(database, memory_bytes)
        assert found(nearness.nearest(LIBRARY, "m", vectors["7"], 3))[0] == 8
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert size < peaks[0] < 2.5 * size, "in memory, and not twice"
    assert peaks[1] < size / 2


def test_vectors_of_other_libraries_and_models_between_those_of_a_library_are_passed_over(
    counting: CountingDatabase,
) -> None:
    other = replace(LIBRARY, number=8)
    vectors = around(600)
    for text, each in vectors.items():
        keep_vectors(counting, "m", [(text, each), (f"other {text}", each)])
        keep_vectors(counting, "longer", [(text, each + each)])
    put(counting, list(vectors)[::3])
    put(counting, [f"other {text}" for text in vectors], other)
    nearness = Nearness(counting, NONE)
    assert found(nearness.nearest(LIBRARY, "m", vectors["300"], 1)) == [101]
    assert found(nearness.nearest(other, "m", vectors["300"], 1), other) == [301]
    longer = vectors["30"] + vectors["30"]
    assert found(nearness.nearest(LIBRARY, "longer", longer, 1)) == [11]
    assert nearness.nearest(LIBRARY, "unknown", vectors["30"], 1) == ()


def test_a_library_finds_room_where_nobody_asked_for_another_one_lately(
    counting: CountingDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, vectors = replace(LIBRARY, number=8), around(100)
    keep_vectors(counting, "m", vectors.items())
    for library in (LIBRARY, other):
        put(counting, list(vectors), library)
    nearness = Nearness(counting, 100 * 8 * 4 + 99)

    def read_for(library: Library) -> int:
        counting.vectors = 0
        assert found(nearness.nearest(library, "m", vectors["3"], 1), library) == [4]
        return counting.vectors

    assert (read_for(LIBRARY), read_for(LIBRARY)) == (100, 0)
    assert (read_for(other), read_for(other), read_for(LIBRARY)) == (101, 101, 0)
    monkeypatch.setattr(nearness_module, "IDLE_SECONDS", 0.0)
    assert (read_for(other), read_for(other)) == (100, 0)


def test_a_library_that_grows_beyond_the_bound_leaves_memory(counting: CountingDatabase) -> None:
    vectors = around(101)
    keep_vectors(counting, "m", vectors.items())
    put(counting, list(vectors)[:100])
    nearness = Nearness(counting, 100 * 8 * 4)
    assert found(nearness.nearest(LIBRARY, "m", vectors["3"], 1)) == [4]
    put(counting, ["100"], start=101)
    counting.vectors = 0
    grown = replace(LIBRARY, version=1)
    for _ in range(2):
        assert found(nearness.nearest(grown, "m", vectors["100"], 1)) == [101]
    assert counting.vectors == 2 * 102


def test_a_library_in_memory_grows_by_what_is_new(counting: CountingDatabase) -> None:
    vectors = around(200)
    keep_vectors(counting, "m", vectors.items())
    put(counting, list(vectors)[:60])
    nearness = Nearness(counting, ENOUGH)
    assert found(nearness.nearest(LIBRARY, "m", vectors["7"], 1)) == [8]
    put(counting, list(vectors)[60:], start=61)
    counting.vectors = 0
    grown = replace(LIBRARY, version=1)
    assert found(nearness.nearest(grown, "m", vectors["199"], 1)) == [200]
    assert found(nearness.nearest(grown, "m", vectors["7"], 1)) == [8]
    assert counting.vectors == 140


def test_a_vector_that_goes_while_it_is_asked_for_is_far_away(database: Database) -> None:
    vectors = around(3)
    put(database, list(vectors))
    keep_vectors(database, "m", vectors.items())
    stored = StoredTable(database, "m", 8).at(LIBRARY)
    held = VectorTable(database, "m", 8).at(LIBRARY)
    import numpy

    wanted = numpy.frombuffer(vectors["0"], dtype="float32")
    assert stored.cosines(wanted).tolist() == pytest.approx(held.cosines(wanted).tolist())
    database.write(Statement("DELETE FROM library_vectors WHERE sha256 = '1'"))
    assert stored.cosines(wanted).tolist() == [pytest.approx(1.0), 0.0, pytest.approx(0.9998)]
    assert not stored.numbers([1]).any()
    database.write(Statement("DELETE FROM library_vectors"))
    assert stored.cosines(wanted).tolist() == [0.0, 0.0, 0.0]
    assert stored.numbers([0, 1]).shape == (2, 8)


def test_vectors_that_wait_to_be_written_are_not_taken_for_those_of_the_file(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.sqlite"
    vectors = around(4)
    with contextlib.closing(open_database(path)) as database:
        put(database, ["0", "1"])
        keep_vectors(database, "m", [("0", vectors["0"]), ("1", vectors["1"])])
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        apply(connection, m999_of_a_newer_version)
    with contextlib.closing(open_database(path)) as database:
        assert not database.is_durable
        other = replace(LIBRARY, number=8)
        put(database, ["2", "3"], other)
        keep_vectors(database, "m", [("2", vectors["2"]), ("3", vectors["3"])])
        nearness = Nearness(database, NONE)
        near = nearness.nearest(LIBRARY, "m", vectors["1"], 9)
        assert found(near) == [2, 1]
        assert near[0].cosine == pytest.approx(1.0)
        assert nearness.nearest(other, "m", vectors["1"], 9) == ()
        in_memory = Nearness(database, ENOUGH)
        assert found(in_memory.nearest(other, "m", vectors["3"], 9), other) == [2, 1]


def test_where_the_record_cannot_be_read_no_vector_is_near(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    vectors = around(2)
    with contextlib.closing(open_database(tmp_path / "file" / "runs.sqlite")) as database:
        put(database, list(vectors))
        keep_vectors(database, "m", vectors.items())
        assert Nearness(database, NONE).nearest(LIBRARY, "m", vectors["1"], 9) == ()
        assert found(Nearness(database, ENOUGH).nearest(LIBRARY, "m", vectors["1"], 9)) == [2, 1]


def test_a_library_of_many_pieces_is_read_page_by_page(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_vectors, "READ_AT_ONCE", 10)
    vectors = around(30)
    put(database, list(vectors)[::-1])
    keep_vectors(database, "m", vectors.items())
    for memory_bytes in (NONE, ENOUGH):
        nearness = Nearness(database, memory_bytes)
        assert found(nearness.nearest(LIBRARY, "m", vectors["0"], 3)) == [30, 29, 28]


def test_a_record_that_holds_a_table_of_sqlite_vec_opens_and_is_searched(tmp_path: Path) -> None:
    path, vectors = tmp_path / "runs.sqlite", around(30)
    with contextlib.closing(open_database(path)) as database:
        put(database, list(vectors))
        keep_vectors(database, "m", vectors.items())
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # as the extension leaves it: a virtual table whose module nobody knows, and its shadow
        connection.execute("CREATE TABLE nearest_rowids (rowid INTEGER PRIMARY KEY, id)")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'nearest', 'nearest', 0, ?)",
            ("CREATE VIRTUAL TABLE nearest USING vec0(vector float[8])",),
        )
        connection.execute("PRAGMA writable_schema = RESET")
    with (
        contextlib.closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="no such module: vec0"),
    ):
        connection.execute("SELECT * FROM nearest")
    with contextlib.closing(open_database(path)) as database:
        assert database.is_durable
        assert not database.take_notices()
        put(database, ["30"], start=31)
        keep_vectors(database, "m", [("30", vectors["29"])])
        for memory_bytes in (NONE, ENOUGH):
            near = Nearness(database, memory_bytes).nearest(LIBRARY, "m", vectors["29"], 2)
            assert found(near) == [30, 31]


@pytest.mark.parametrize("memory_bytes", [2**20, 2**28])
def test_doctor_says_how_a_large_library_is_searched(tmp_path: Path, memory_bytes: int) -> None:
    settings = Settings(home=tmp_path, embedding_model="m", vector_memory_bytes=memory_bytes)
    (check,) = [check for check in checks(settings) if check.name == "vectors"]
    assert f"up to {memory_bytes // 2**20} MB" in check.text
    without = Settings(home=tmp_path)
    assert "vectors" not in [check.name for check in checks(without)]


def m999_of_a_newer_version(connection: sqlite3.Connection) -> None:
    """Nothing that this version would know."""


def test_a_library_out_of_memory_is_asked_by_the_settings(
    database: Database, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    with serving(vectors_like) as service:
        there = ServiceSettings(base_url=f"{service.url}/v1", api_key="k")
        given = Settings(service=there, embedding_model="m1", vector_memory_bytes=NONE)
        shelf = Shelf(folder, Libraries(database, given))
        shelf.write("car.md", "car")
        shelf.write("fruit.md", "apple banana cherry kiwi lemon")
        shelf.add(".")
        assert shelf.found("automobile") == ["car.md"]
        shelf.write("more.md", "automobile")
        shelf.update()
        assert sorted(shelf.found("vehicle")) == ["car.md", "more.md"]


def test_how_much_memory_vectors_may_take_is_set_in_megabytes() -> None:
    assert from_env({}).vector_memory_bytes == 256 * 2**20
    assert from_env({"CELLWRIGHT_VECTOR_MEMORY_MB": " 0 "}).vector_memory_bytes == 0
    assert from_env({"CELLWRIGHT_VECTOR_MEMORY_MB": "1024"}).vector_memory_bytes == 2**30


@pytest.mark.parametrize("text", ["lots", "-1", "1.5", "²"])
def test_an_amount_of_memory_that_is_none_is_named(text: str) -> None:
    with pytest.raises(SetupError, match=f"CELLWRIGHT_VECTOR_MEMORY_MB is '{text}'"):
        from_env({"CELLWRIGHT_VECTOR_MEMORY_MB": text})
