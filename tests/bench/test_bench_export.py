"""``cellwright bench export``: a folder of results in another format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import analysis_run, record_of

from cellwright.bench.results import ResultFiles
from cellwright.cli import main
from cellwright.exports.agentbench import sample_of_line
from cellwright.exports.sample import SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.exports.tables import read_csv

SAMPLE = replace(sample_of(record_of(analysis_run()), "t:1:1"), suite="t", agent="a")
RIGHT = replace(SAMPLE, scores=(Score("best", 1.0, passed=True),), task=SampleTask("t", 1))
WRONG = replace(
    RIGHT, id="t:2:1", scores=(Score("best", 0.0, passed=False),), task=SampleTask("t", 2)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Results of two agents, in the folder we are in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    for agent in ("a", "b"):
        for sample in (RIGHT, WRONG):
            ResultFiles(tmp_path / "out", agent, "t").add(replace(sample, agent=agent))
    return tmp_path / "out"


def test_all_results_of_a_folder_are_written_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "export", "out", "--to", "agentbench", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    names = [Path(name).relative_to(folder.parent).as_posix() for name in found["files"]]
    assert names == ["out-agentbench/a/t.agentbench.json", "out-agentbench/b/t.agentbench.json"]
    lines = (folder.parent / names[0]).read_text().splitlines()
    assert [sample_of_line(json.loads(line)) for line in lines] == [RIGHT, WRONG]
    history = json.loads(lines[0])["output"]["history"]
    assert history[0]["content"].startswith("You work in a notebook.")


def test_notebooks_have_the_name_that_a_single_run_gives_them_as_well(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "export", "out/a", "--to", "ipynb", "-o", "nbs", "--json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert sum(name.endswith(".ipynb") for name in files) == 2


def test_what_passed_can_be_had_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "export", "out/a", "--to", "csv", "--passed", "-o", "good"]) == 0
    assert capsys.readouterr().out == "good.csv\n"
    assert list(read_csv(Path("good.csv"))) == [RIGHT]
    assert main(["bench", "export", "out/a/t", "--to", "notebooks", "-o", "books"]) == 0
    assert sorted(path.as_posix() for path in Path("books").rglob("*.ipynb")) == [
        "books/a/t/t-1.ipynb",
        "books/a/t/t-2.ipynb",
    ]


def test_several_benchmarks_do_not_mix(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ResultFiles(folder.parent / "more", "a", "t").add(replace(RIGHT, result="other"))
    assert main(["bench", "export", ".", "--to", "otel", "-o", "traces"]) == 0
    names = capsys.readouterr().out.split()
    assert names == [f"traces/{place}.otlp.jsonl" for place in ("more/a/t", "out/a/t", "out/b/t")]


def test_a_folder_without_results_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder.parent / "empty").mkdir()
    assert main(["bench", "export", "empty", "--to", "otel"]) == 2
    assert "There are no results in 'empty'" in capsys.readouterr().err
