"""Faults of the disk and of other processes: no run is stopped, no row is lost (S4 to S11)."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import started

from cellwright.record.events import RunFinished, TextDelta
from cellwright.store.database import Database, OpenOptions, locks_work, on_network, open_database
from cellwright.store.runs import RunStore

NOBODY = 65534
QUICK = OpenOptions(busy_seconds=0.2, retry_seconds=0.01)


def codes(database: Database) -> list[str]:
    return [notice.code for notice in database.take_notices()]


def texts(database: Database, run_id: str) -> list[str]:
    events = [recorded.event for recorded in RunStore(database).events(run_id)]
    return [event.text for event in events if isinstance(event, TextDelta)]


def python(script: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done


def python_as_nobody(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script that gives up root's rights on its way, where it has them.

    Skips where it fails and the user it becomes could not run it at all, such as with a Python
    below root's home: what it imports from then on cannot be found.
    """
    try:
        return python(script, *arguments)
    except AssertionError:
        if os.getuid() == 0 and not nobody_can_run_python():
            pytest.skip(f"the user nobody cannot read {sys.executable} and what it imports")
        raise


def nobody_can_run_python() -> bool:
    command = [sys.executable, "-c", "import sqlite3, uuid, cellwright.store.database"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(
            command, user=NOBODY, group=NOBODY, capture_output=True, check=False, env=environment
        )
    except PermissionError:
        return False
    return done.returncode == 0


def test_a_run_of_another_users_process_is_going_on() -> None:
    script = """if True:
        import os
        from cellwright.store.process_claims import is_alive, this_process
        owner = {**this_process(), "pid": 1, "began": ""}
        if os.getuid() == 0:
            os.setuid(65_534)  # nobody, who may not signal process 1
        print(is_alive(owner, 0.0))
    """
    assert python(script).stdout == "True\n"


class TestFullDisk:
    """S4, S5."""

    def test_rows_wait_in_memory_and_are_written_when_there_is_room(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "runs.sqlite", QUICK)
        journal = RunStore(database).start(started())
        (pages,) = database.read("PRAGMA page_count")[0]
        database.read(f"PRAGMA max_page_count = {pages + 2}")
        written = [f"{number:03}{'x' * 3_000}" for number in range(20)]
        for text in written:
            journal.record(TextDelta(text))
        assert codes(database) == ["store_full"]
        assert not database.is_durable
        assert texts(database, journal.run_id) == written, "the run can be read all the same"
        assert RunStore(database).record(journal.run_id).status == "running"

        database.read("PRAGMA max_page_count = 1000000")
        time.sleep(0.2)
        journal.record(TextDelta("later"), RunFinished("completed"))
        while not database.is_durable:
            time.sleep(0.05)
            journal.record(TextDelta("more"))
        assert codes(database) == ["store_recovered"]
        database.close()
        again = open_database(tmp_path / "runs.sqlite")
        assert texts(again, journal.run_id)[:21] == [*written, "later"]
        assert RunStore(again).record(journal.run_id).status == "completed"
        assert again.read("PRAGMA integrity_check") == [("ok",)]
        again.close()

    def test_what_waits_is_written_on_closing(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "runs.sqlite", replace(QUICK, retry_seconds=60))
        journal = RunStore(database).start(started())
        (pages,) = database.read("PRAGMA page_count")[0]
        database.read(f"PRAGMA max_page_count = {pages}")
        journal.record(TextDelta("x" * 30_000))
        database.read("PRAGMA max_page_count = 1000000")
        journal.record(TextDelta("still too early to try"))
        assert not database.is_durable
        database.close()
        again = open_database(tmp_path / "runs.sqlite")
        assert texts(again, journal.run_id) == ["x" * 30_000, "still too early to try"]
        again.close()

    def test_a_file_that_may_not_grow_stops_nothing(self, tmp_path: Path) -> None:
        script = """
import json, resource, sys
from pathlib import Path
from cellwright.record.events import TextDelta
from cellwright.store.database import open_database
from cellwright.store.database import OpenOptions
from cellwright.store.runs import RunStore

options = OpenOptions(busy_seconds=0.2, retry_seconds=0.01)
database = open_database(Path(sys.argv[1]), options)
store = RunStore(database)
journal = store.start()
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
written = [f"{number:03}" + "x" * 9_000 for number in range(60)]
written.append("y" * 400_000)  # too large for the database and for a file of its own
for text in written:
    journal.record(TextDelta(text))
kept = [recorded.event.text for recorded in store.events(journal.run_id)] == written
first = [notice.code for notice in database.take_notices()]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
database.close()
again = open_database(Path(sys.argv[1]))
after = [recorded.event.text for recorded in RunStore(again).events(journal.run_id)] == written
sound = again.read("PRAGMA integrity_check")
print(json.dumps([kept, first, after, sound]))
"""
        done = python(script, str(tmp_path / "runs.sqlite"))
        kept, first, after, sound = json.loads(done.stdout)
        assert kept
        assert first[0] in ("store_failed", "store_full")
        assert after, "everything is in the file once it may grow"
        assert sound == [["ok"]]


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that any user may look into, which pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        home = folder / "home"
        home.mkdir()
        yield home
        home.chmod(0o755)


class TestNoHome:
    """S6."""

    def test_a_folder_that_cannot_be_made_means_memory_and_a_notice(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        database = open_database(tmp_path / "file" / "home" / "runs.sqlite")
        journal = RunStore(database).start(started(), TextDelta("hello"))
        assert texts(database, journal.run_id) == ["hello"]
        (notice,) = database.take_notices()
        assert notice.code == "store_failed"
        assert str(tmp_path / "file" / "home") in notice.text
        assert "CELLWRIGHT_HOME" in notice.action
        database.close()

    def test_a_read_only_home_is_read_and_new_runs_stay_in_memory(self) -> None:
        script = """
import json, os, sys
from pathlib import Path
from cellwright.record.events import TextDelta
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
database = open_database(Path(sys.argv[1]))
store = RunStore(database)
notices = [notice.code for notice in database.take_notices()]
before = [summary.prompt for summary in store.list()]
journal = store.start()
journal.record(TextDelta("hello"))
print(json.dumps([notices, before, len(store.events(journal.run_id)), len(store.list())]))
database.close()
"""
        with open_folder() as home:
            database = open_database(home / "runs.sqlite")
            RunStore(database).start(started("before"))
            database.close()
            (home / "runs.sqlite").chmod(0o444)
            home.chmod(0o555)
            done = python_as_nobody(script, str(home / "runs.sqlite"))
        assert json.loads(done.stdout) == [["store_read_only"], ["before"], 1, 2]

    def test_a_file_that_may_not_even_be_read_means_memory(self) -> None:
        script = """
import json, os, sys
from pathlib import Path
from cellwright.store.database import open_database

if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
database = open_database(Path(sys.argv[1]))
print(json.dumps([notice.code for notice in database.take_notices()]))
"""
        with open_folder() as home:
            open_database(home / "runs.sqlite").close()
            (home / "runs.sqlite").chmod(0)
            home.chmod(0o555)
            done = python_as_nobody(script, str(home / "runs.sqlite"))
        assert json.loads(done.stdout) == ["store_failed"]


class TestLocked:
    """S7."""

    def test_a_lock_is_waited_for_and_then_done_without(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        journal = RunStore(database).start(started())
        other = sqlite3.connect(path)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        journal.record(TextDelta("first"))
        assert 0.2 <= time.monotonic() - began < 1.5
        began = time.monotonic()
        for number in range(5):
            journal.record(TextDelta(str(number)))
        assert time.monotonic() - began < 1.5, "it waits once, not for every event"
        assert codes(database) == ["store_locked"]
        other.rollback()
        other.close()
        deadline = time.monotonic() + 5
        while not database.is_durable and time.monotonic() < deadline:
            time.sleep(0.05)
            journal.record(TextDelta("after"))
        assert texts(database, journal.run_id)[:7] == ["first", "0", "1", "2", "3", "4", "after"]
        assert codes(database) == ["store_recovered"]
        database.close()

    def test_a_lock_that_goes_away_in_time_is_not_noticed(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path)
        journal = RunStore(database).start(started())
        script = """
import sqlite3, sys, time
other = sqlite3.connect(sys.argv[1])
other.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(0.5)
other.rollback()
"""
        command = [sys.executable, "-c", script, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "locked\n"
            journal.record(TextDelta("patient"))
        assert database.is_durable
        assert database.notices == ()
        database.close()

    def test_a_file_that_is_locked_when_it_is_opened_is_used_later(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        open_database(path).close()
        other = sqlite3.connect(path)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        database = open_database(path, QUICK)
        journal = RunStore(database).start(started(), TextDelta("hello"))
        assert codes(database) == ["store_locked"]
        other.close()
        time.sleep(0.5)
        journal.record(TextDelta("again"))
        assert database.is_durable
        assert texts(database, journal.run_id) == ["hello", "again"]
        database.close()


class TestManyWriters:
    """S8, S11."""

    SCRIPT = """
import sys
from pathlib import Path
from recorded_runs import started
from cellwright.record.events import RunFinished, TextDelta
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

database = open_database(Path(sys.argv[1]))
store = RunStore(database)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(3):
    journal = store.start(started())
    for number in range(20):
        journal.record(TextDelta(str(number)))
        store.list(limit=1)  # reading first must not make the write fail
    journal.record(RunFinished("completed"))
print(len(database.notices), database.is_durable)
database.close()
"""

    @pytest.mark.parametrize("processes", [2, 8])
    def test_processes_write_at_once_to_one_file(self, processes: int, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        command = [sys.executable, "-c", self.SCRIPT, str(path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        pipe = subprocess.PIPE
        writers = [
            subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment)
            for _ in range(processes)
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        told = [writer.communicate("go\n", timeout=60)[0].strip() for writer in writers]
        assert told == ["0 True"] * processes
        database = open_database(path)
        store = RunStore(database)
        summaries = store.list(limit=100)
        assert len(summaries) == len({s.run_id for s in summaries}) == 3 * processes
        assert store.counts() == {"completed": 3 * processes}
        for summary in summaries:
            assert texts(database, summary.run_id) == [str(number) for number in range(20)]
        database.close()

    def test_every_write_begins_immediate(self) -> None:
        folder = Path(sys.modules["cellwright.store"].__path__[0])
        source = "".join(file.read_text(encoding="utf-8") for file in folder.glob("*.py"))
        begins = re.findall(r'"BEGIN[^"]*"', source)
        assert begins.count('"BEGIN IMMEDIATE"') >= 2
        # The one in memory has no other writer.
        assert [begin for begin in begins if begin != '"BEGIN IMMEDIATE"'] == ['"BEGIN"']


def sound_file(path: Path) -> None:
    database = open_database(path)
    journal = RunStore(database).start(started("before the damage"))
    for number in range(50):
        journal.record(TextDelta(str(number) * 500))
    database.close()


def damage_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"\0" * 64)


def damage_truncated(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def damage_text(path: Path) -> None:
    path.write_text("this is no database, and it is longer than a header " * 10)


def damage_empty(path: Path) -> None:
    path.write_bytes(b"")
    os.utime(path, (0, 0))


class TestDamaged:
    """S9."""

    @pytest.mark.parametrize("damage", [damage_header, damage_truncated, damage_text, damage_empty])
    def test_a_damaged_file_is_set_aside_and_a_new_one_begun(
        self, damage: Callable[[Path], None], tmp_path: Path
    ) -> None:
        path = tmp_path / "runs.sqlite"
        sound_file(path)
        damage(path)
        damaged = path.read_bytes()
        database = open_database(path)
        (notice,) = database.take_notices()
        assert notice.code == "store_damaged"
        (aside,) = tmp_path.glob("runs.sqlite.corrupt-*")
        assert aside.name in notice.action
        assert aside.read_bytes() == damaged
        journal = RunStore(database).start(started(), TextDelta("new"))
        assert database.is_durable
        assert texts(database, journal.run_id) == ["new"]
        assert len(RunStore(database).list()) == 1
        database.close()
        open_database(path).close()
        assert len(list(tmp_path.glob("*.corrupt-*"))) == 1, "it is not set aside for ever"

    def test_damage_that_shows_later_is_dealt_with_in_the_run(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        sound_file(path)
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(path.stat().st_size - 4096))
        database = open_database(path, QUICK)
        journal = RunStore(database).start()
        for number in range(5):
            journal.record(TextDelta(str(number)))
        assert texts(database, journal.run_id) == ["0", "1", "2", "3", "4"]
        assert "store_damaged" in codes(database)
        assert database.is_durable
        database.close()

    def test_pages_damaged_in_an_unclean_file_are_found_on_opening(self, tmp_path: Path) -> None:
        path, copy = tmp_path / "runs.sqlite", tmp_path / "copy.sqlite"
        database = open_database(path)
        journal = RunStore(database).start(started())
        for number in range(50):
            journal.record(TextDelta(str(number) * 500))
        database.read("PRAGMA wal_checkpoint(FULL)")
        journal.record(TextDelta("in the log"))
        for ending in ("", "-wal"):
            shutil.copy(f"{path}{ending}", f"{copy}{ending}")
        database.close()
        with copy.open("r+b") as file:
            file.seek(10 * 4096)  # rows of events; the first pages are in the log
            file.write(b"\xff" * 8 * 4096)
        again = open_database(copy)
        assert codes(again) == ["store_damaged"]
        assert (Path(f"{next(tmp_path.glob('copy.sqlite.corrupt-*'))}")).exists()
        again.close()

    def test_a_file_that_is_just_being_made_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        path.write_bytes(b"")
        database = open_database(path)
        assert database.notices == ()
        assert database.is_durable
        database.close()

    def test_a_file_of_a_newer_version_is_read_and_not_written(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        sound_file(path)
        newer = sqlite3.connect(path)
        newer.execute("INSERT INTO migrations VALUES ('m999_from_the_future', 0)")
        newer.commit()
        newer.close()
        before = path.read_bytes()
        database = open_database(path)
        assert codes(database) == ["store_newer"]
        store = RunStore(database)
        assert [summary.prompt for summary in store.list()] == ["before the damage"]
        journal = store.start(started("now"))
        assert store.record(journal.run_id).prompt == "now"
        assert len(store.list()) == 2
        assert not database.is_durable
        database.close()
        assert path.read_bytes() == before

    def test_a_file_that_is_taken_away_during_a_run_is_begun_anew(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        journal = RunStore(database).start(started())
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink()
        for number in range(10):
            journal.record(TextDelta(str(number)))
            time.sleep(0.02)
        database.close()
        again = open_database(path)
        found = texts(again, journal.run_id)
        assert found[-1] == "9"
        again.close()


SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

static int answer(int (*real)(int, int, ...), int fd, int command, void *argument) {
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
        %s
    }
    return real(fd, command, argument);
}
int fcntl(int fd, int command, ...) {
    va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
    return answer((int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl"), fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
    va_list list; va_start(list, command); void *argument = va_arg(list, void *); va_end(list);
    return answer((int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64"), fd, command, argument);
}
"""


class TestNetworkFileSystem:
    """S10."""

    def test_a_network_file_system_gets_the_journal_it_can_bear(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        sound_file(path)
        database = open_database(path, OpenOptions(network=True))
        assert codes(database) == ["store_network"]
        assert database.read("PRAGMA journal_mode") == [("delete",)]
        journal = RunStore(database).start(started(), TextDelta("slow but safe"))
        assert database.is_durable
        assert texts(database, journal.run_id) == ["slow but safe"]
        database.close()

    @pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler here")
    @pytest.mark.parametrize(
        "lock", ["errno = ENOLCK; return -1;", "sleep(600);"], ids=["refused", "hanging"]
    )
    def test_without_locks_it_works_within_two_seconds(self, lock: str, tmp_path: Path) -> None:
        source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
        source.write_text(SHIM % lock)
        compiler = ["cc", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"]
        subprocess.run(compiler, check=True, timeout=60, capture_output=True)
        script = """
import json, os, sys, time
from pathlib import Path
from cellwright.record.events import TextDelta
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

began = time.monotonic()
database = open_database(Path(sys.argv[1]))
opened = time.monotonic() - began
journal = RunStore(database).start(TextDelta("hello"))
kept = [recorded.event.text for recorded in RunStore(database).events(journal.run_id)]
codes = [notice.code for notice in database.take_notices()]
mode = database.read("PRAGMA journal_mode")
print(json.dumps([opened, codes, mode, kept, database.is_durable]), flush=True)
database.close()
os._exit(0)
"""
        environment = {**os.environ, "LD_PRELOAD": str(shim)}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        path = tmp_path / "runs.sqlite"
        left_behind = tmp_path / "runs.sqlite.lock"
        left_behind.mkdir()
        os.utime(left_behind, (0, 0))
        done = subprocess.run(
            [sys.executable, "-c", script, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=True,
        )
        opened, noticed, mode, kept, durable = json.loads(done.stdout)
        assert opened < 3
        assert noticed == ["store_network"]
        assert mode == [["delete"]]
        assert kept == ["hello"]
        assert durable

    def test_locks_work_here_and_not_in_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        assert locks_work(tmp_path, 2)
        assert not locks_work(tmp_path / "nowhere", 2)
        assert list(tmp_path.iterdir()) == [], "the question leaves no file"

    def test_the_mount_that_holds_a_folder_tells_whether_it_is_a_network_one(
        self, tmp_path: Path
    ) -> None:
        mounts = tmp_path / "mounts"
        mounts.write_text(
            "/dev/sda / ext4 rw 0 0\nbroken\nserver:/home /home/me\\040too nfs4 rw 0 0\n"
            "tmpfs /home/me\\040too/scratch tmpfs rw 0 0\n"
        )

        def lies(path: str) -> bool:
            return on_network(Path(path), str(mounts))

        assert lies("/home/me too/.cellwright/runs.sqlite")
        assert not lies("/home/me too/scratch/runs.sqlite")
        assert not lies("/home/me/runs.sqlite")
        assert not on_network(Path("/home/me too/x"), str(tmp_path / "missing"))
