"""What is said of a record is what is on disk, also where that fails while a run goes on."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from command_line import Shell
from fake_answers import Request, Wire
from fake_service import FakeService, text, tool_call
from locked_records import locked
from magics.live_kernel import LiveKernel
from recorded_runs import started

from cellwright.record.events import RunFinished, TextDelta
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.runs import RunStore

QUICK = OpenOptions(busy_seconds=0.2, retry_seconds=0.05)
LARGE = "y" * 70_000


def on_disk(path: Path, run_id: str) -> int:
    """How many events of a run another program finds."""
    with sqlite3.connect(path) as other:
        (count,) = other.execute(
            "SELECT COUNT(*) FROM events WHERE run_id = ?", (run_id,)
        ).fetchone()
    other.close()
    return int(count)


def wait_until(there: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline, "it does not come to pass"
        time.sleep(0.05)


def codes(database: Database) -> list[str]:
    return [notice.code for notice in database.take_notices()]


class TestRunStore:
    def test_what_waited_is_written_when_the_lock_goes_though_nothing_is_asked_any_more(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        store = RunStore(database)
        with locked(path) as free:
            journal = store.start(started(), TextDelta("hello"), RunFinished("completed"))
            storage = store.storage(journal.run_id, 0.1)
            assert (storage.on_disk, storage.in_memory, storage.missing) == (0, 3, 0)
            assert "locked" in storage.problem
            assert store.unwritten() == {journal.run_id}
            assert on_disk(path, journal.run_id) == 0
            free()
            wait_until(lambda: on_disk(path, journal.run_id) == 3)
        assert store.storage(journal.run_id).problem == ""
        assert store.unwritten() == frozenset()
        assert codes(database) == ["store_locked", "store_recovered"]
        database.close()

    def test_a_run_that_is_partly_on_disk_says_how_much(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        store = RunStore(database)
        journal = store.start(started(), TextDelta("kept"))
        with locked(path):
            journal.record(TextDelta("waits"), RunFinished("completed"))
            storage = store.storage(journal.run_id, 0.1)
            assert (storage.on_disk, storage.in_memory) == (2, 2)
            assert "2 of its 4 events" in storage.problem
        database.close()
        assert on_disk(path, journal.run_id) == 4

    def test_closing_waits_for_a_lock_that_goes(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, OpenOptions(busy_seconds=0.1, retry_seconds=60))
        journal = RunStore(database).start(started())
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN EXCLUSIVE")
        journal.record(TextDelta("waits"))
        timer = threading.Timer(0.5, other.rollback)
        timer.start()
        assert database.close()
        timer.join()
        other.close()
        assert on_disk(path, journal.run_id) == 2

    def test_closing_says_when_something_was_left(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        with locked(path):
            RunStore(database).start(started())
            assert not database.close()
            assert not database.close(), "closing it again changes nothing"

    def test_what_waited_is_written_in_the_order_in_which_it_came(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, OpenOptions(busy_seconds=0.1, retry_seconds=60))
        store = RunStore(database)
        with locked(path):
            journal = store.start(started())
            journal.record(TextDelta("waits"))
            journal.record(RunFinished("completed"))
        assert database.flush()
        database.close()
        again = open_database(path)
        (summary,) = RunStore(again).list()
        assert summary.status == "completed", "the newest line of the list is the last one"
        again.close()

    def test_a_row_that_the_file_refuses_holds_up_no_other(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, OpenOptions(busy_seconds=0.2, retry_seconds=60))
        store = RunStore(database)
        with locked(path):
            journal = store.start(started())
            # In memory there is no such budget yet; another program makes one meanwhile.
            database.write(Statement("INSERT INTO usage_budgets VALUES ('month_tokens', 5)"))
            journal.record(TextDelta("after"))
        with sqlite3.connect(path) as other:
            other.execute("INSERT INTO usage_budgets VALUES ('month_tokens', 7)")
        other.close()
        assert database.flush()
        assert on_disk(path, journal.run_id) == 2
        assert codes(database) == ["store_locked", "store_refused", "store_recovered"]
        journal.record(TextDelta("later"))
        assert on_disk(path, journal.run_id) == 3
        database.close()

    def test_a_home_that_is_deleted_in_a_run_costs_the_earlier_runs_and_not_this_one(
        self, tmp_path: Path
    ) -> None:
        home = tmp_path / "home"
        database = open_database(home / "runs.sqlite", QUICK)
        store = RunStore(database)
        earlier = store.start(started("earlier"), RunFinished("completed"))
        journal = store.start(started("this"), TextDelta("before"))
        shutil.rmtree(home)
        journal.record(TextDelta("after"), RunFinished("completed"))
        assert "store_lost" in codes(database)
        assert [run.prompt for run in store.list()] == ["this"]
        assert store.storage(journal.run_id).problem == ""
        assert store.storage(earlier.run_id).on_disk == 0
        database.close()
        again = open_database(home / "runs.sqlite")
        record = RunStore(again).record(journal.run_id)
        assert (record.status, record.prompt) == ("completed", "this")
        assert len(RunStore(again).events(journal.run_id)) == 4
        again.close()

    def test_large_texts_that_went_with_the_home_are_said(self, tmp_path: Path) -> None:
        home = tmp_path / "home"
        database = open_database(home / "runs.sqlite", QUICK)
        store = RunStore(database)
        journal = store.start(started("this"), TextDelta(LARGE))
        shutil.rmtree(home)
        journal.record(RunFinished("completed"))
        storage = store.storage(journal.run_id)
        assert storage.missing_texts == 1
        assert "1 of its large texts are lost" in storage.problem
        database.close()

    def test_a_home_that_cannot_be_made_anew_leaves_the_whole_run_in_memory(
        self, tmp_path: Path
    ) -> None:
        home = tmp_path / "home"
        database = open_database(home / "runs.sqlite", QUICK)
        store = RunStore(database)
        journal = store.start(started("this"), TextDelta("before"))
        shutil.rmtree(home)
        home.write_text("a file where the folder was")
        journal.record(RunFinished("completed"))
        storage = store.storage(journal.run_id)
        assert (storage.on_disk, storage.in_memory, storage.missing) == (0, 3, 0)
        assert store.record(journal.run_id).status == "completed"
        home.unlink()
        wait_until(database.flush)
        assert on_disk(home / "runs.sqlite", journal.run_id) == 3
        database.close()

    def test_a_run_whose_start_was_damaged_is_not_listed_as_completed(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.sqlite"
        database = open_database(path, QUICK)
        store = RunStore(database)
        journal = store.start(started("this"), *(TextDelta("x" * 900) for _ in range(40)))
        database.read("PRAGMA wal_checkpoint(TRUNCATE)")
        database.read("PRAGMA shrink_memory")  # what SQLite has in memory could be rescued
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(os.urandom(path.stat().st_size - 4096))
        for number in range(5):
            journal.record(TextDelta(str(number)))
        journal.record(RunFinished("completed"))
        (summary,) = store.list()
        record = store.record(journal.run_id)
        lost = 47 - len(store.events(journal.run_id))
        assert lost > 0
        for told in (summary, record):
            assert (told.status, told.cause) == ("unknown", "record_incomplete")
            assert f"{lost} of its 47 events" in told.reason
            assert "'completed'" in told.reason
        database.close()

    @pytest.mark.parametrize("lock", [False, True])
    def test_a_run_is_written_to_a_record_of_its_own(self, lock: bool, tmp_path: Path) -> None:
        path, file = tmp_path / "home" / "runs.sqlite", tmp_path / "run.sqlite"
        database = open_database(path, QUICK)
        store = RunStore(database)
        journal = store.start(started("this"), TextDelta(LARGE))
        with locked(path):
            if lock:
                journal.record(TextDelta("waits"))
            store.write_to(journal.run_id, file)
            events = [item.event for item in store.events(journal.run_id)]
        database.close()
        assert [name.name for name in tmp_path.iterdir() if name.is_file()] == ["run.sqlite"]
        other = open_database(file)
        assert [item.event for item in RunStore(other).events(journal.run_id)] == events
        assert RunStore(other).list()[0].prompt == "this"
        other.close()


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    folder = tmp_path / "work"
    folder.mkdir()
    return Shell(folder, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


SCRIPT = (tool_call("run_cell", {"code": "print(6 * 7)"}), text("It is **42**."))
ASK = ("run", "What is it?", "--mode", "auto")


@pytest.mark.kernel
class TestCommandLine:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "home" / "runs.sqlite"
        open_database(path).close()
        return path

    def ids(self, path: Path) -> Sequence[str]:
        with sqlite3.connect(path) as other:
            rows = other.execute("SELECT run_id FROM runs").fetchall()
        other.close()
        return [row[0] for row in rows]

    def test_a_locked_record_is_no_success(self, shell: Shell, path: Path) -> None:
        with FakeService(SCRIPT) as service, locked(path):
            done = shell.asking(service).run_process(*ASK, "--json")
        assert done.code == 4
        assert done.document["status"] == "completed"
        assert done.document["exit_code"] == 4
        assert (done.document["recorded"], done.document["events_on_disk"]) == (False, 0)
        assert done.document["events_lost"] > 5
        assert "not on disk" in done.err
        assert "--record" in done.err
        assert "cellwright export" not in done.err, "what is not there cannot be exported"
        assert self.ids(path) == []

    def test_a_record_of_its_own_keeps_the_run(self, shell: Shell, path: Path) -> None:
        with FakeService(SCRIPT) as service, locked(path):
            done = shell.asking(service).run(*ASK, "--json", "--record", "run.sqlite")
        assert (done.code, done.document["record_file"]) == (0, "run.sqlite")
        assert done.document["recorded"] is False
        assert self.ids(path) == []
        assert self.ids(shell.folder / "run.sqlite") == [done.document["id"]]

    def test_a_lock_that_goes_before_the_end_costs_nothing(self, shell: Shell, path: Path) -> None:
        with locked(path) as free:

            def let_go(request: Request) -> Wire:
                free()
                return text("It is **42**.")(request)

            with FakeService([SCRIPT[0], let_go]) as service:
                done = shell.asking(service).run(*ASK, "--json")
        assert (done.code, done.document["recorded"]) == (0, True)
        assert on_disk(path, done.document["id"]) == done.document["events_on_disk"] > 5

    def test_a_full_disk_is_no_success(self, shell: Shell, path: Path) -> None:
        def fill(request: Request) -> Wire:
            # From now on no file of the command grows, as on a disk that is full.
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20_000, 20_000))
            return text("It is **42**.")(request)

        with FakeService([SCRIPT[0], fill]) as service:
            process = shell.asking(service).start(*ASK)
            out, err = process.communicate(timeout=90)
        assert process.returncode == 4, err
        assert out == "It is **42**.\n"
        assert "not on disk" in err
        (run_id,) = self.ids(path)
        said = [line for line in err.splitlines() if "of its" in line]
        assert said
        total = int(said[-1].split(" of its ")[1].split()[0])
        lost = int(said[-1].split(" of its ")[0].split()[-1])
        assert on_disk(path, run_id) == total - lost

    def test_a_home_deleted_in_the_run_is_said_and_the_run_is_whole(
        self, shell: Shell, path: Path
    ) -> None:
        def delete(request: Request) -> Wire:
            shutil.rmtree(path.parent)
            return text("It is **42**.")(request)

        with FakeService([SCRIPT[0], delete]) as service:
            done = shell.asking(service).run(*ASK, "--json")
        assert (done.code, done.document["recorded"]) == (0, True)
        assert "was deleted" in done.err
        shown = shell.run("show", "last", "--json").document
        assert (shown["status"], shown["answer"]) == ("completed", "It is **42**.")
        assert [cell["cell"]["source"] for cell in shown["cells"]] == ["print(6 * 7)"]

    def test_a_file_that_is_there_is_not_taken_for_a_record(self, shell: Shell, path: Path) -> None:
        (shell.folder / "data.csv").write_text("a,b\n")
        with FakeService(SCRIPT) as service:
            done = shell.asking(service).run(*ASK, "--record", "data.csv")
        assert done.code == 2
        assert (shell.folder / "data.csv").read_text() == "a,b\n"
        assert self.ids(path) == []

    def test_an_export_as_a_record_holds_the_run(self, shell: Shell, path: Path) -> None:
        with FakeService(SCRIPT) as service:
            assert shell.asking(service).run(*ASK).code == 0
        done = shell.run("export", "last", "--to", "record", "-o", "mine.sqlite", "--json")
        assert done.code == 0, done.err
        assert self.ids(shell.folder / "mine.sqlite") == self.ids(path) == [done.document["id"]]


@pytest.mark.kernel
class TestMagics:
    def test_the_footer_the_list_and_an_export_say_what_is_not_on_disk(
        self, tmp_path: Path
    ) -> None:
        with FakeService() as service:
            kernel = LiveKernel(service, tmp_path)
            try:
                kernel.run("%load_ext cellwright\n%agent runs")
                path = kernel.home / "runs.sqlite"
                with locked(path):
                    shown = kernel.run("run = %agent --mode auto What is it?", SCRIPT)
                    run_id = kernel.value("run.id").strip("'")
                    listed = "\n".join(kernel.run("%agent runs").results)
                    file = tmp_path / "mine.sqlite"
                    said = kernel.run(f"%agent export last --to record -o {file}").results
                footer = [data["text/plain"] for data in shown.displays][-1]
                assert "not on disk" in footer
                assert f"%agent export {run_id} --to record" in shown.markdown.replace("\\", "")
                assert f"{run_id}  completed, not on disk" in listed
                assert str(file) in said[0]
                assert "not on disk" in said[0]
                assert on_disk(file, run_id) > 5
                wait_until(lambda: on_disk(path, run_id) == on_disk(file, run_id))
                listed = "\n".join(kernel.run("%agent runs").results)
                assert f"{run_id}  completed  " in listed
            finally:
                kernel.close()
