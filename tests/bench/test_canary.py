"""Whatever is written of samples carries the canary, and a person finds what carries it."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell, notebook
from recorded_runs import analysis_run, record_of

from cellwright.bench.results import ResultFiles
from cellwright.bench.saving import save_sample
from cellwright.exports.formats import FORMAT_TABLE
from cellwright.exports.sample import CANARY, SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.record.events import StateCaptured
from cellwright.text.redaction import Redactor

SAMPLE = replace(
    sample_of(record_of(analysis_run()), "t:1:1"),
    suite="t",
    agent="a",
    task=SampleTask("t", 1),
    scores=(Score("best", 1.0, passed=True),),
)
WITHOUT = {".png", "gradebook.csv", "t.jsonl"}
"""Pictures; names and points alone; and fine-tuning data, which holds what a service takes."""
CODE: dict[str, Any] = {"id": "b", "cell_type": "code", "execution_count": None, "outputs": []}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home")})


def read(path: Path) -> str:
    """What a file says, whatever it is packed in."""
    if path.suffix == ".parquet":
        import pandas as pd

        return str(pd.read_parquet(path).to_dict("list"))
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return "".join(packed.read(name).decode() for name in packed.namelist())
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["notebooks", *sorted({*FORMAT_TABLE} - {"ipynb"})])
def test_every_file_of_an_export_carries_the_canary(shell: Shell, name: str) -> None:
    ResultFiles(shell.folder / "out", "a", "t").add(SAMPLE)
    words = ["--gradebook"] if name == "notebooks" else []
    done = shell.run("bench", "export", "out", "--to", name, "-o", "there", "--json", *words)
    assert done.code == 0, done.err
    files = [shell.folder / file for file in done.document["files"]]
    marked = [file for file in files if {file.suffix, file.name}.isdisjoint(WITHOUT)]
    assert marked
    assert [file for file in marked if CANARY not in read(file)] == []


def test_results_and_the_leaderboard_carry_it(shell: Shell) -> None:
    files = ResultFiles(shell.folder / "out", "a", "t")
    files.add(SAMPLE)
    files.add_attempt(SAMPLE)
    files.sum_up({"not_passed": ["1: it is 41, not 42"]})
    for path in (files.runs, files.attempts, files.overall):
        assert CANARY in path.read_text("utf-8")
    assert shell.run("bench", "leaderboard", "out", "-o", "board.html").code == 0
    assert CANARY in (shell.folder / "board.html").read_text("utf-8")


@pytest.mark.kernel
def test_samples_that_we_write_carry_it_and_are_found_where_an_agent_may_look(
    shell: Shell,
) -> None:
    folder = shell.folder
    (folder / "sales.csv").write_text("region\nnorth\n")
    run = record_of(
        replace(event, cwd=str(folder), files={}) if isinstance(event, StateCaptured) else event
        for event in analysis_run()
    )
    save_sample(run, folder / "suite", ["True"], Redactor({}), "saved")
    (folder / "course").mkdir()
    asked = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "Set `total`."}
    solved = {**CODE, "metadata": {}, "source": "total = 6 * 7"}
    tagged = [
        {**CODE, "id": tag, "metadata": {"tags": [tag]}, "source": source}
        for tag, source in (("reference", "total = 42"), ("check", "assert total == 42"))
    ]
    (folder / "course/one.ipynb").write_text(json.dumps(notebook(asked, solved)))
    (folder / "course/two.ipynb").write_text(json.dumps(notebook(asked, *tagged)))
    done = shell.run("bench", "new", "course", "-o", "made", "--json")
    assert sorted(done.document["samples"]) == ["one-1.yaml", "two.ipynb"], done.err
    written = [folder / "suite/saved.yaml", folder / "made/one-1.yaml", folder / "made/two.ipynb"]
    assert [path for path in written if CANARY not in path.read_text("utf-8")] == []
    assert CANARY not in (folder / "course/two.ipynb").read_text("utf-8")
    # Copied into an agent's documents, under other names and in other words, it is still found.
    (folder / "library").mkdir()
    (folder / "library/notes.md").write_text(f"Quite other words.\n\n> {CANARY}\n")
    (folder / "library/plain.md").write_text("Nothing of it.\n")
    words = ("bench", "near-copies", "made", "--in", "library")
    found = shell.run(*words, "--json").document
    assert [Path(path).name for path in found["carry_canary"]] == ["notes.md"]
    assert "notes.md" not in {Path(copy["other"]).name for copy in found["near_copies"]}
    assert "carry the canary" in shell.run(*words).out
