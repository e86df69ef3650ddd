"""The database takes rows whatever happens to its file."""

from __future__ import annotations

import functools
import os
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from locked_records import locked

from cellwright.errors import StoreError
from cellwright.store.database import Database, OpenOptions, Statement, StoreNotice, open_database
from cellwright.store.migrations import MIGRATIONS, applied, apply

INSERT = "INSERT OR IGNORE INTO blob_uses VALUES (?, ?)"
SELECT = "SELECT sha FROM blob_uses ORDER BY sha"


def insert(name: str, run: str = "run") -> Statement:
    return Statement(INSERT, (name, run))


def names(database: Database) -> list[str]:
    return sorted(row[0] for row in database.read(SELECT))


def codes(notices: tuple[StoreNotice, ...]) -> list[str]:
    return [notice.code for notice in notices]


def test_a_new_database_is_private_and_safe_against_power_loss(tmp_path: Path) -> None:
    path = tmp_path / "home" / "runs.sqlite"
    database = open_database(path)
    assert database.notices == ()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert database.read("PRAGMA journal_mode") == [("wal",)]
    assert database.read("PRAGMA synchronous") == [(2,)]
    database.write(insert("a"))
    for name in ("runs.sqlite-wal", "runs.sqlite-shm"):
        assert stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600
    database.close()
    assert not (path.parent / "runs.sqlite-wal").exists()


def test_a_file_that_others_may_read_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    open_database(path).close()
    path.chmod(0o644)
    open_database(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_folder_of_the_persons_own_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    open_database(tmp_path / "runs.sqlite").close()
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_rows_are_there_after_closing_and_opening(tmp_path: Path) -> None:
    database = open_database(tmp_path / "runs.sqlite")
    database.write(insert("a"), insert("b"))
    database.close()
    again = open_database(tmp_path / "runs.sqlite")
    assert names(again) == ["a", "b"]
    again.close()
    assert names(again) == ["a", "b"], "a closed database opens again when it is asked"
    again.close()


def test_without_a_path_rows_live_as_long_as_the_database() -> None:
    database = open_database(None)
    database.write(insert("a"))
    assert names(database) == ["a"]
    assert database.read(SELECT, also_waiting=False) == [("a",)], "there is no other place"
    assert not database.is_durable
    assert database.notices == ()
    database.close()


@pytest.mark.parametrize("in_file", [True, False])
def test_a_wrong_statement_changes_nothing_and_is_told(in_file: bool, tmp_path: Path) -> None:
    database = open_database(tmp_path / "runs.sqlite" if in_file else None)
    with pytest.raises(StoreError, match="no such table: nonsense"):
        database.write(insert("a"), Statement("INSERT INTO nonsense VALUES (1)"))
    assert names(database) == []
    database.write(insert("b"))
    assert names(database) == ["b"]
    database.close()


def test_an_interrupt_in_the_middle_leaves_no_open_transaction(tmp_path: Path) -> None:
    database = open_database(tmp_path / "runs.sqlite")

    class Interrupting(str):
        def __conform__(self, protocol: object) -> str:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        database.write(insert("a"), insert(Interrupting("b")))
    other = sqlite3.connect(tmp_path / "runs.sqlite", timeout=0)
    other.execute("BEGIN IMMEDIATE")
    other.close()
    database.write(insert("c"))
    assert names(database) == ["c"]
    database.close()


def test_a_row_that_waits_and_is_refused_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    database = open_database(path)
    database.write(insert("there"))
    with locked(path):
        for name in ("one", "two", "there", "three", "four"):
            database.write(Statement("INSERT INTO blob_uses VALUES (?, 'run')", (name,)))
        assert database.read(SELECT, also_waiting=False) == [("there",)]
        assert len(database.read(SELECT)) == 6
    assert database.flush()
    assert database.read(SELECT, also_waiting=False) == [
        (name,) for name in ("four", "one", "there", "three", "two")
    ]
    assert codes(database.notices).count("store_refused") == 1
    database.close()


def test_notices_are_handed_out_once(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    database = open_database(blocked / "runs.sqlite")
    assert codes(database.notices) == ["store_failed"]
    assert codes(database.take_notices()) == ["store_failed"]
    assert database.take_notices() == ()
    database.close()


def m900_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE blob_uses ADD COLUMN colour TEXT")


def m901_broken(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (a)")
    raise sqlite3.OperationalError("out of luck")


def test_a_migration_keeps_the_rows_and_a_copy_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    old = open_database(path)
    old.write(insert("a"))
    old.close()
    new = open_database(path, OpenOptions(migrations=(*MIGRATIONS, m900_colour)))
    assert new.read("SELECT sha, colour FROM blob_uses") == [("a", None)]
    new.close()
    backup = tmp_path / "runs.sqlite.before-m900_colour"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    copy = sqlite3.connect(backup)
    assert copy.execute("SELECT * FROM blob_uses").fetchall() == [("a", "run")]
    assert applied(copy) == tuple(step.__name__ for step in MIGRATIONS)
    copy.close()


def test_a_new_file_is_migrated_without_a_copy(tmp_path: Path) -> None:
    open_database(tmp_path / "runs.sqlite").close()
    assert sorted(item.name for item in tmp_path.iterdir()) == ["runs.sqlite"]


def test_a_migration_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="out of luck"):
        apply(connection, m901_broken)
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []
    connection.close()


def test_a_migration_that_another_process_has_just_made_is_not_made_twice(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    for step in (*MIGRATIONS, *MIGRATIONS):
        apply(connection, step)
    assert applied(connection) == tuple(step.__name__ for step in MIGRATIONS)
    connection.close()


def test_migration_names_never_repeat_and_are_in_order() -> None:
    found = [step.__name__ for step in MIGRATIONS]
    assert found == sorted(set(found))
    assert all(step.__doc__ for step in MIGRATIONS)


def test_threads_share_one_database(tmp_path: Path) -> None:
    database = open_database(tmp_path / "runs.sqlite")

    def write(prefix: str) -> None:
        for number in range(50):
            database.write(insert(f"{prefix}{number:02}"))

    run_together([functools.partial(write, prefix) for prefix in "abcd"])
    assert len(names(database)) == 200
    assert database.notices == ()
    database.close()


def run_together(tasks: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


FORKING = """
import os, sys
from pathlib import Path
from cellwright.store.database import Statement, open_database

database = open_database(Path(sys.argv[1]))
INSERT = "INSERT INTO blob_uses VALUES (?, 'run')"
database.write(Statement(INSERT, ("before",)))
child = os.fork()
if child == 0:
    database.write(Statement(INSERT, ("child",)))
    database.close()
    os._exit(0)
os.waitpid(child, 0)
database.write(Statement(INSERT, ("parent",)))
database.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_uses_a_connection_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    subprocess.run([sys.executable, "-c", FORKING, str(path)], check=True, timeout=60)
    database = open_database(path)
    assert names(database) == ["before", "child", "parent"]
    database.close()


def test_a_commit_is_quick(tmp_path: Path) -> None:
    database = open_database(tmp_path / "runs.sqlite")
    times = []
    for number in range(50):
        began = time.perf_counter()
        database.write(insert(str(number)))
        times.append(time.perf_counter() - began)
    assert sorted(times)[25] < 0.05, "a slow disk may take milliseconds, never more"
    database.close()


def test_a_statement_may_depend_on_whether_the_one_before_changed_a_row(tmp_path: Path) -> None:
    for database in (open_database(tmp_path / "runs.sqlite"), open_database(None)):
        innermost = Statement(INSERT, ("c", "run"))
        nested = Statement(INSERT, ("b", "run"), then=(innermost,))
        database.write(Statement(INSERT, ("a", "run"), then=(nested,)))
        assert names(database) == ["a", "b", "c"]
        database.write(Statement(INSERT, ("a", "run"), then=(insert("d"),)))
        assert names(database) == ["a", "b", "c"]
        gone = Statement("DELETE FROM blob_uses WHERE sha = 'x'", then=(insert("d"),))
        database.write(gone, insert("e"))
        assert names(database) == ["a", "b", "c", "e"]
        database.close()


@pytest.mark.parametrize("value", [2**70, "half \ud83d"], ids=["number", "text"])
def test_a_value_that_sqlite_cannot_hold_is_refused_and_the_next_is_taken(
    value: object, tmp_path: Path
) -> None:
    for database in (open_database(tmp_path / "runs.sqlite"), open_database(None)):
        with pytest.raises(StoreError, match="refused a value"):
            database.write(insert("a"), Statement(INSERT, (value, "run")))
        database.write(insert("b"))
        assert names(database) == ["b"]
        database.close()


def test_damage_is_looked_for_in_a_file_alone(tmp_path: Path) -> None:
    assert open_database(None).find_damage() == ""
    database = open_database(tmp_path / "runs.sqlite")
    assert database.find_damage() == ""
    database.close()
    (tmp_path / "runs.sqlite").unlink()
    assert database.find_damage() == ""
