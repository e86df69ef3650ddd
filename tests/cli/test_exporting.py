import json
from pathlib import Path

import nbformat
import pytest
from command_line import Shell, keep
from recorded_runs import analysis_run

from cellwright.cli import main


@pytest.fixture
def run_id(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(shell.folder)
    monkeypatch.setenv("CELLWRIGHT_HOME", shell.environ["CELLWRIGHT_HOME"])
    return keep(shell, analysis_run())


@pytest.mark.parametrize(
    ("name", "ending"),
    [
        ("ipynb", ".ipynb"),
        ("html", ".html"),
        ("agentbench", ".agentbench.json"),
        ("atif", ".trajectory.json"),
        ("otel", ".otlp.jsonl"),
        ("csv", ".csv"),
    ],
)
def test_a_run_is_written_under_its_id(
    run_id: str, name: str, ending: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "last", "--to", name]) == 0
    assert capsys.readouterr().out == f"{run_id}{ending}\n"
    assert "North sold" in (shell.folder / f"{run_id}{ending}").read_text(encoding="utf-8")


def test_the_file_can_be_chosen(
    run_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "run.ipynb"
    assert main(["export", run_id, "--to", "ipynb", "-o", str(target), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"id": run_id, "format": "ipynb", "path": str(target)}
    nbformat.validate(nbformat.read(target, as_version=4))


def test_the_end_of_the_file_says_the_format(
    run_id: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    for file, name, word in (
        ("report.html", "html", "<html"),
        ("run.agentbench.json", "agentbench", "North sold"),
        ("run.ipynb", "ipynb", "nbformat"),
    ):
        assert main(["export", run_id, "-o", file, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["format"] == name
        assert word in (shell.folder / file).read_text(encoding="utf-8")
    assert main(["export", run_id, "-o", "report.docx"]) == 2
    assert "its end says none" in capsys.readouterr().err
    assert not (shell.folder / "report.docx").exists()


def test_a_dash_is_stdout(run_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", run_id, "--to", "agentbench", "-o", "-"]) == 0
    text = capsys.readouterr().out
    assert json.loads(text)
    assert main(["export", run_id, "--to", "agentbench", "-o", "-", "--json"]) == 0
    assert json.loads(json.loads(capsys.readouterr().out)["text"]) == json.loads(text)


def test_a_format_of_two_files_names_both_and_cannot_be_printed(
    run_id: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", run_id, "--to", "openai", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["path"], found["more"]) == (f"{run_id}.jsonl", [f"{run_id}.rest.jsonl"])
    assert main(["export", run_id, "--to", "openai", "-o", "-"]) == 2
    assert "cannot be printed" in capsys.readouterr().err
    assert main(["export", run_id, "--to", "inspect", "-o", "-"]) == 2
    assert "cannot be printed" in capsys.readouterr().err
    assert main(["export", run_id, "--to", "inspect"]) == 0
    assert (shell.folder / f"{run_id}.eval").exists()


def test_a_folder_that_is_not_there_is_named(
    run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", run_id, "--to", "html", "-o", "nowhere/x.html"]) == 2
    assert "There is no folder" in capsys.readouterr().err
