import json
from pathlib import Path

import pytest
from command_line import Shell, keep, sources
from fake_service import MODEL, FakeService, Script, error, text, tool_call
from recorded_runs import started

from cellwright.record.events import RunFinished, StateCaptured

pytestmark = pytest.mark.kernel


def recorded(shell: Shell, script: Script, *arguments: str) -> str:
    """The id of a run with these answers."""
    with FakeService(script) as service:
        done = shell.asking(service).run("run", "Go", "--mode", "auto", "--json", *arguments)
    assert done.code == 0, done.err
    return str(done.document["id"])


def test_a_replay_needs_no_model_and_finds_no_difference(shell: Shell) -> None:
    script = [
        tool_call("run_cell", {"code": "object()"}),
        tool_call("run_cell", {"code": "1/0"}),
        tool_call("run_cell", {"code": "print('fine')"}),
        text("Done."),
    ]
    run_id = recorded(shell, script)
    done = shell.run("replay", run_id, "-o", "again.ipynb")
    assert (done.code, done.out) == (0, "3 cells, no differences.\n")
    assert sources(shell.folder / "again.ipynb") == ["object()", "1/0", "print('fine')"]
    (replayed,) = shell.run("runs", "1", "--json").document["runs"]
    assert (replayed["lane"], replayed["source_run"]) == ("replay", run_id)
    assert shell.run("runs", "1").out.splitlines()[-1].endswith("(replay) Go")
    assert shell.run("show", "last", "--json").document["run_id"] == run_id


def test_a_replay_tells_what_differs(shell: Shell) -> None:
    (shell.folder / "in.txt").write_text("one")
    code = "print(open('in.txt').read())"
    recorded(shell, [tool_call("run_cell", {"code": code}), text("Done.")], "--files", "in.txt")
    (shell.folder / "in.txt").write_text("two")
    done = shell.run("replay", "last", "--json")
    assert done.code == 1
    assert "in.txt has changed since that run." in done.err
    document = done.document
    assert (document["exit_code"], document["status"]) == (1, "completed")
    assert document["differences"] == [
        {"cell_number": 1, "what": "output", "recorded": "one", "replayed": "two"}
    ]
    shown = shell.run("replay", document["source_run"])
    assert (shown.code, shown.out.splitlines()) == (
        1,
        [
            "1 difference in 1 cell:",
            "cell 1: output",
            "  recorded: one",
            "  replayed: two",
        ],
    )


def test_a_replay_can_run_in_another_folder(shell: Shell, tmp_path: Path) -> None:
    recorded(shell, [tool_call("run_cell", {"code": "1"}), text("Done.")])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert shell.run("replay", "last", "--cwd", str(elsewhere)).code == 0
    gone = shell.run("replay", "last", "--cwd", str(tmp_path / "gone"))
    assert gone.code == 2
    assert "is not there. Name another one with its files: --cwd DIR." in gone.err


def test_what_the_notebook_had_run_is_run_again_first(shell: Shell, make_notebook) -> None:
    make_notebook("start = 40")
    script = [tool_call("run_cell", {"code": "print(start + 2)"}), text("42.")]
    recorded(shell, script, "--notebook", "nb.ipynb", "--run-notebook")
    assert shell.run("replay", "last").out == "1 cell, no differences.\n"


def test_a_rerun_asks_the_same_of_another_model(shell: Shell) -> None:
    first = recorded(shell, [text("First.")])
    with FakeService([text("Second.")]) as service:
        done = shell.asking(service).run("rerun", first, "-m", "other-model", "--json")
        assert service.requests[0].body["model"] == "other-model"
        assert service.requests[0].last_text.startswith("Go")
    assert done.code == 0, done.err
    document = done.document
    assert (document["answer"], document["source_run"]) == ("Second.", first)
    assert document["model"] == "other-model"


def test_auto_chooses_the_model_of_a_rerun_as_that_of_a_run(shell: Shell) -> None:
    long = "word " * 21_000
    (shell.folder / "long.txt").write_text(long)
    with FakeService([text("First."), text("Short.")]) as service:
        asking = shell.asking(service)
        assert asking.run("run", long, "--mode", "auto").code == 0
        asking = Shell(shell.folder, {**asking.environ, "CELLWRIGHT_LONG_MODEL": "long-model"})
        done = asking.run("rerun", "last", "-m", "auto", "--json")
        assert done.code == 0, done.err
        assert service.requests[-1].body["model"] == "long-model"
    assert "long-model answers: the conversation is long." in done.err
    first = recorded(shell, [text("First.")])
    with FakeService([text("Second.")]) as service:
        done = shell.asking(service).run("rerun", first, "-m", "auto", "--json")
        assert done.code == 0, done.err
        assert service.requests[0].body["model"] == MODEL


def test_a_rerun_that_the_service_fails_has_its_code(shell: Shell) -> None:
    first = recorded(shell, [text("First.")])
    with FakeService([error(401, "Bad key.")]) as service:
        assert shell.asking(service).run("rerun", first).code == 3


def test_a_rerun_in_mode_ask_needs_a_terminal(shell: Shell) -> None:
    first = recorded(shell, [text("First.")])
    with FakeService([]) as service:
        done = shell.asking(service).run("rerun", first, "--mode", "ask")
    assert done.code == 2
    assert "Use --mode auto" in done.err


def test_a_run_without_answers_cannot_be_replayed(shell: Shell) -> None:
    run_id = keep(
        shell, [started(), StateCaptured(cwd=str(shell.folder)), RunFinished("cancelled")]
    )
    done = shell.run("replay", run_id, "--json")
    assert done.code == 2
    assert "has no recorded answers" in json.loads(done.out)["error"]["message"]
