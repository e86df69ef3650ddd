import json

import pytest
from command_line import Shell, keep
from event_strategies import EVENT_CLASSES
from recorded_runs import WRONG_ERROR, analysis_run, started

from cellwright.cli import main
from cellwright.record.events import RunFinished


@pytest.fixture
def recorded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A record of three runs: two completed, one cancelled."""
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    keep(shell, analysis_run())
    keep(shell, [started("Clean it"), RunFinished("completed", "Clean.")])
    keep(shell, [started("清理数据"), RunFinished("cancelled", reason="Run stopped.")])
    return shell


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--json"]) == 0
    streams = capsys.readouterr()
    assert streams.err == ""
    found: dict[str, object] = json.loads(streams.out)
    return found


def test_an_empty_record_says_how_to_begin(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CELLWRIGHT_HOME", shell.environ["CELLWRIGHT_HOME"])
    assert main(["runs"]) == 0
    assert capsys.readouterr().out == "No runs yet. Ask something: cellwright run PROMPT\n"


def test_runs_are_counted_and_listed(recorded: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "3 runs: completed 2 (67%), cancelled 1 (33%)"
    assert lines[2].split() == [
        "ID",
        "STATUS",
        "STARTED",
        "MODEL",
        "SECONDS",
        "TOKENS",
        "COST",
        "PROMPT",
    ]
    assert len(lines) == 6
    assert any("1,040" in line and line.endswith("Which region sold most?") for line in lines)


def test_the_limit_shortens_the_list_and_not_the_count(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    found = document(capsys, "runs", "--limit", "1")
    assert found["total"] == 3
    assert found["counts"] == {"completed": 2, "cancelled": 1}
    assert len(found["runs"]) == 1  # type: ignore[arg-type]


def test_runs_are_found_by_their_words(recorded: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "runs", "--search", "清理")
    assert [run["prompt"] for run in found["runs"]] == ["清理数据"]  # type: ignore[attr-defined]


def test_a_run_is_shown_with_code_outputs_and_answer(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = keep(recorded, analysis_run())
    assert main(["show", run_id]) == 0
    text = capsys.readouterr().out
    for expected in (
        f"Run {run_id}  ✓ completed",
        "model     demo-analyst at http://127.0.0.1:8000/v1",
        "files     sales.csv",
        "> Which region sold most?",
        "[2] cell cell-2 of the agent: error, 0.2 s",
        f"  ✗ KeyError: {WRONG_ERROR.evalue}",
        "    best = df.groupby('region')['revenue'].sum()",
        "North sold **most**.",
    ):
        assert expected in text


def test_a_run_that_ended_early_says_why(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = keep(recorded, [started(), RunFinished("cancelled", reason="Run stopped.")])
    assert main(["show", run_id]) == 0
    assert capsys.readouterr().out.endswith("\n\nRun stopped.\n")


def test_the_whole_record_is_a_document(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    run_id = keep(recorded, analysis_run())
    found = document(capsys, "show", run_id)
    assert found["run_id"] == run_id
    assert found["schema"] == "cellwright.run/1"
    assert len(found["executions"]) == 3  # type: ignore[arg-type]


def test_a_run_that_does_not_exist_is_named(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "nowhere"]) == 2
    assert "There is no run 'nowhere'." in capsys.readouterr().err


def test_the_schema_knows_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {kind.__name__ for kind in EVENT_CLASSES} <= set(schema["$defs"])
    assert document(capsys, "schema") == schema
