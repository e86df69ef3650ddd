"""``cellwright score``: a person's word and a person's checks, kept with the run."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell, keep
from recorded_runs import analysis_run

from cellwright.cli import main
from cellwright.exports.notebook import sample_of_notebook
from cellwright.record.events import StateCaptured


@pytest.fixture
def run_id(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(shell.folder)
    monkeypatch.setenv("CELLWRIGHT_HOME", shell.environ["CELLWRIGHT_HOME"])
    return keep(shell, analysis_run())


def scores_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["score", *words, "--json"]) == 0
    return {each["name"]: each for each in json.loads(capsys.readouterr().out)["scores"]}


def test_thumbs_numbers_and_comments_are_kept_and_shown(
    run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert scores_of(capsys) == {}
    assert scores_of(capsys, "down", "--comment", "wrong")["thumb"]["value"] == 0
    assert scores_of(capsys, run_id, "up")["thumb"]["value"] == 1
    found = scores_of(capsys, "7", "--points", "10", "--name", "style")
    assert found["style"]["value"] == 0.7
    assert found["style"]["points"] == 10
    assert scores_of(capsys, "--comment", "for the report")["comment"]["value"] is None
    assert main(["show", run_id]) == 0
    shown = capsys.readouterr().out
    assert "Score: 8 of 11 points (73%)" in shown
    assert "style: passed, 7 of 10" in shown
    assert "comment: comment: for the report" in shown
    assert set(scores_of(capsys, "--remove", "--name", "style")) == {"thumb", "comment"}
    assert scores_of(capsys, "--remove") == {}


def test_a_key_in_what_is_said_of_a_run_is_not_kept(
    run_id: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    here = StateCaptured(cwd=str(shell.folder))
    keep(shell, [here if isinstance(e, StateCaptured) else e for e in analysis_run()])
    (shell.folder / "sales.csv").write_text("region,revenue\nnorth,7\nsouth,1\nnorth,3\n")
    key = "sk-proj-Abcdefghij0123456789Klmnop"
    said = scores_of(capsys, "up", "--name", key)
    said |= scores_of(capsys, "--check", f"'{key}' != ''", "--comment", f"with {key}")
    assert len(said) == 2
    assert key not in json.dumps(said)


def test_more_points_than_there_are_is_refused(
    run_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", "7"]) == 2
    assert "--points 10" in capsys.readouterr().err
    assert main(["score", "12.5", "--points", "5"]) == 2
    assert "score 12.5 --points 13" in capsys.readouterr().err
    assert main(["score", "last", "--check", "a b"]) == 2
    assert "no Python" in capsys.readouterr().err


@pytest.mark.kernel
def test_checks_run_the_cells_again_and_go_into_the_notebook(
    run_id: str, shell: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    here = StateCaptured(cwd=str(shell.folder), executed=("x = 1", "%agent what is x?", "1 / 0"))
    run_id = keep(shell, [here if isinstance(e, StateCaptured) else e for e in analysis_run()])
    (shell.folder / "sales.csv").write_text("region,revenue\nnorth,7\nsouth,1\nnorth,3\n")
    found = scores_of(capsys, "--check", "best['north'] == 10", "--check", "best.sum() == 12")
    assert found["best['north'] == 10"]["passed"]
    assert not found["best.sum() == 12"]["passed"]
    assert main(["export", "last", run_id, "--to", "notebooks", "-o", "out", "--gradebook"]) == 0
    folder = shell.folder / "out"
    sample = sample_of_notebook(json.loads((folder / f"{run_id}.ipynb").read_text("utf-8")))
    assert [score.passed for score in sample.scores] == [True, False]
    assert "best.sum()" in sample.scores[1].code
    with (folder / "gradebook.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert (row["score"], row["max_score"]) == ("1", "2")
    assert Path(folder / "index.html").exists()
