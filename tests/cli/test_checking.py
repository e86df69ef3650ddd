import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command_line import Shell, keep
from fake_service import FakeService, text, tool_call
from recorded_runs import analysis_run


def test_with_nothing_set_the_demo_model_is_found_well(shell: Shell) -> None:
    done = shell.run("doctor")
    assert done.code == 0, done.out
    assert "! key: No key is set: the demo model answers." in done.out
    assert "✓ tool calling: cellwright-demo calls tools." in done.out
    assert "✓ record: " in done.out


def test_nothing_is_sent_without_being_asked(shell: Shell) -> None:
    with FakeService([]) as service:
        done = shell.asking(service).run("doctor", "--json")
        assert service.requests == []
    assert done.code == 0
    checks = {check["name"]: check for check in done.document["checks"]}
    assert checks["tool calling"]["status"] == "skipped"
    assert done.document["ok"] is True


@pytest.mark.parametrize(
    ("answer", "mark"), [(tool_call("ping", {"word": "hello"}), "✓"), (text("hello"), "!")]
)
def test_tool_calling_is_tried_when_asked_for(shell: Shell, answer, mark: str) -> None:
    with FakeService([answer]) as service:
        done = shell.asking(service).run("doctor", "--send")
    assert f"{mark} tool calling:" in done.out


def test_a_failed_check_names_the_next_action(shell: Shell, free_port: int) -> None:
    nowhere = Shell(
        shell.folder,
        {
            **shell.environ,
            "CELLWRIGHT_BASE_URL": f"http://127.0.0.1:{free_port}",
            "CELLWRIGHT_MODEL": "m",
        },
    )
    done = nowhere.run("doctor")
    assert done.code == 1
    assert f"✗ endpoint: 127.0.0.1:{free_port} does not answer" in done.out
    assert "Check CELLWRIGHT_BASE_URL" in done.out
    assert nowhere.run("doctor", "--json").document["ok"] is False


def test_the_command_is_named_and_not_the_magic(shell: Shell) -> None:
    with FakeService([]) as service:
        done = shell.asking(service).run("doctor")
    assert "Try it with: cellwright doctor --send" in done.out


def test_a_damaged_record_is_read_back_and_kept(shell: Shell) -> None:
    ids = [keep(shell, analysis_run()) for _ in range(20)]
    home = Path(shell.environ["CELLWRIGHT_HOME"])
    data = bytearray((home / "runs.sqlite").read_bytes())
    data[:4096] = bytes(4096)  # nothing opens this as a database
    (home / "runs.sqlite").write_bytes(data)
    told = shell.run("runs")
    assert "doctor --repair" in told.err
    assert "No runs yet" in told.out
    assert "doctor --repair" in shell.run("doctor").out

    done = shell.run("doctor", "--repair", "--json")
    assert done.code == 0, done.err
    (check,) = done.document["checks"]
    assert "20 of 20 runs" in check["text"]
    (kept,) = home.glob("runs.sqlite.repaired-*")
    assert str(kept) in check["action"]
    assert kept.read_bytes() == data
    listed = shell.run("runs", "--json").document
    assert {run["run_id"] for run in listed["runs"]} == set(ids)
    assert listed["counts"] == {"completed": 20}
    assert "sound" in shell.run("doctor", "--repair").out
    assert "doctor --repair" not in shell.run("doctor").out


def test_runs_that_a_damaged_page_hides_are_not_called_absent(shell: Shell) -> None:
    run_id = keep(shell, analysis_run())
    path = Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'events'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size : page * size] = bytes(size)
    path.write_bytes(data)
    shown = shell.run("show", run_id)
    assert shown.code != 0
    assert "The record is damaged" in shown.err
    assert "doctor --repair" in shown.err
    assert "is damaged" in shell.run("doctor").out
    assert shell.run("doctor", "--repair").code == 0
    assert shell.run("show", run_id).code == 0


def test_a_file_that_holds_no_run_is_not_called_whole(shell: Shell) -> None:
    home = Path(shell.environ["CELLWRIGHT_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    (home / "runs.sqlite").write_bytes(b"hello world\n" * 1_000)
    shell.run("runs")
    done = shell.run("doctor", "--repair")
    assert "! repair: No run can be read" in done.out
    assert "The damaged file is kept" in done.out


def test_a_record_of_one_run_is_put_into_the_usual_one(shell: Shell) -> None:
    run_id = keep(shell, analysis_run())
    assert shell.run("export", "last", "--to", "record", "-o", "one.sqlite").code == 0
    elsewhere = Shell(shell.folder, {**shell.environ, "CELLWRIGHT_HOME": f"{shell.folder}/new"})
    done = elsewhere.run("doctor", "--repair", "one.sqlite")
    assert done.code == 0, done.err
    assert "1 of 1 runs" in done.out
    assert elsewhere.run("show", run_id, "--json").document["run_id"] == run_id
    assert (shell.folder / "one.sqlite").exists()


def test_a_file_that_is_not_there_cannot_be_read_back(shell: Shell) -> None:
    done = shell.run("doctor", "--repair", "nowhere.sqlite")
    assert done.code == 1
    assert "nowhere.sqlite" in done.out
