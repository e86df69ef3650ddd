"""A live run becomes a sample of a suite, and the suite runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from shutil import copyfile

import pytest
from command_line import Shell, keep
from recorded_runs import SYSTEM, called, cell_run, record_of, replied, started, user

import cellwright.demo
from cellwright.bench.saving import save_sample
from cellwright.bench.suites.folder import read_item
from cellwright.cli import main
from cellwright.errors import SetupError
from cellwright.exports.inspect_log import read as read_log
from cellwright.record.events import (
    CellAdded,
    CellFinished,
    CellStarted,
    Event,
    ModelAsked,
    RunFinished,
    StateCaptured,
)
from cellwright.record.messages import AssistantMessage
from cellwright.record.outputs import Execution, FileChange
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor

CODE = "best = sales.groupby('region').sum()\nprint(open('notes.txt').read())"
DATA = Path(cellwright.demo.__file__).parent / "data"
CHECK = "best.shape == (2, 1)"
CSV = "region,revenue\nnorth,10\nsouth,4\n"


def events(folder: Path, prompt: str = "Which region sold most?") -> list[Event]:
    """A run over a file that is named, and one that code alone names."""
    (folder / "sales.csv").write_text(CSV)
    (folder / "notes.txt").write_text("by region\n")
    (folder / "made.txt").write_text("by the run")
    digest = hashlib.sha256(CSV.encode()).hexdigest()
    made = Execution("ok", 0.1, files=(FileChange("made.txt", "created"),))
    return [
        started(prompt),
        StateCaptured(
            executed=("import pandas as pd", "sales = pd.read_csv('sales.csv')"),
            files={"sales.csv": digest},
            cwd=str(folder),
        ),
        ModelAsked(1, (SYSTEM, user(prompt))),
        replied(called("c1")),
        *cell_run("c1", "a", "1 / 0", status="error"),
        *cell_run("c2", "a", CODE, edits=True),
        CellAdded("b", "open('made.txt', 'w').write('by the run')"),
        CellStarted("b"),
        CellFinished("b", made),
        replied(AssistantMessage("North.")),
        RunFinished("completed", "North.\nBy far.", duration_seconds=2.0),
    ]


def saved(record: RunRecord, folder: Path, *checks: str, name: str = "") -> Path:
    return save_sample(record, folder, checks, Redactor({}), name).path


@pytest.fixture
def record(tmp_path: Path) -> RunRecord:
    """The record of such a run."""
    return record_of(events(tmp_path))


def test_a_sample_holds_what_the_run_began_with_and_did(record: RunRecord, tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    item = read_item(saved(record, folder, CHECK, "x = 1\nassert x", name="best region"))
    assert (item.index, item.prompt) == ("best_region", "Which region sold most?")
    assert item.setup == ("import pandas as pd", "sales = pd.read_csv('sales.csv')")
    assert item.reference == (CODE, "open('made.txt', 'w').write('by the run')")
    assert item.reference_answer == "North.\nBy far."
    assert sorted(item.files) == ["notes.txt", "sales.csv"]
    assert (folder / "sales.csv").read_text() == CSV
    assert not (folder / "made.txt").exists()
    assert [getattr(check, "code", "") for check in item.checks] == [
        f"assert {CHECK}",
        "x = 1\nassert x",
    ]


def test_variables_that_the_model_was_told_of_are_told_again(tmp_path: Path) -> None:
    prompt = "Plot @sales; write to me@example.org or @nobody."
    told = user(prompt + "\n\n<variables>\n@sales: DataFrame 2 rows\n</variables>")
    given = [
        replace(event, messages=(SYSTEM, told)) if isinstance(event, ModelAsked) else event
        for event in events(tmp_path, prompt)
    ]
    assert read_item(saved(record_of(given), tmp_path / "s", CHECK)).mentions == ("sales",)


def test_what_cannot_be_saved_is_told(record: RunRecord, tmp_path: Path) -> None:
    folder = tmp_path / "suite"

    def refused(match: str, changed: RunRecord = record, checks: Iterable[str] = (CHECK,)) -> None:
        with pytest.raises(SetupError, match=match):
            save_sample(changed, folder, checks, Redactor({}))
        assert not folder.exists() or list(folder.glob("*.yaml")) == []

    refused("needs a check", checks=())
    refused("is no Python", checks=("is it right",))
    refused("has changed since the run", replace(record, files={"sales.csv": "0" * 64}))
    refused("cannot be read", replace(record, files={"gone.csv": ""}))
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(100_000_001)
    refused("larger than 100 MB", replace(record, files={"huge.csv": ""}))
    refused("is outside", replace(record, files={"../else.csv": ""}))
    refused("no prompt", replace(record, prompt=" "))
    for name in ("../evil", "a/b", "..", "a\\b"):
        with pytest.raises(SetupError, match="is a path, and no sample's id"):
            save_sample(record, folder, (CHECK,), Redactor({}), name)
    assert not list(tmp_path.rglob("*evil*"))
    folder.mkdir(exist_ok=True)
    (folder / "sales.csv").write_text("other")
    refused("holds another 'sales.csv'")
    (folder / "sales.csv").unlink()
    saved(record, folder, CHECK)
    with pytest.raises(SetupError, match="is there already"):
        saved(record, folder, CHECK)


def test_a_file_with_a_key_in_it_is_not_handed_on(record: RunRecord, tmp_path: Path) -> None:
    redactor = Redactor({"PASSWORD": "by region"})
    with pytest.raises(SetupError, match="looks like a password or a key"):
        save_sample(record, tmp_path / "suite", (CHECK,), redactor)
    told = replace(record, start_executed=("%matplotlib inline", "x = 'by region'"))
    (tmp_path / "notes.txt").unlink()
    path = save_sample(told, tmp_path / "suite", (CHECK,), redactor).path
    assert "by region" not in path.read_text()


def test_files_are_named_by_short_texts_of_code_alone(record: RunRecord, tmp_path: Path) -> None:
    code = "a = ''\nb = 'no/such.csv'\nc = 'two\\nlines'\nd = 3"
    told = replace(record, start_executed=(code,), files={})
    assert save_sample(told, tmp_path / "suite", (CHECK,), Redactor({})).files == ("notes.txt",)


@pytest.mark.kernel
def test_a_saved_sample_runs_and_its_oracle_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    keep(Shell(work, {"CELLWRIGHT_HOME": str(tmp_path / "home")}), events(work))
    assert main(["save-sample", "last", "--check", CHECK, "--to", "tasks", "--name", "one"]) == 0
    assert "cellwright bench run tasks --agent oracle" in capsys.readouterr().out

    assert main(["bench", "run", "tasks", "--agent", "oracle", "-o", "out", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["total"]) == (1, 1), found

    assert main(["bench", "export", "out", "--to", "inspect", "-o", "logs", "--json"]) == 0
    (name,) = json.loads(capsys.readouterr().out)["files"]
    (sample,) = read_log(Path(name))
    assert (sample.passed, sample.agent) == (True, "oracle")
    assert all(cell.cpu_seconds is not None for cell in sample.cells)
    assert all((cell.rss_bytes or 0) > 1_000_000 for cell in sample.cells)
    assert sample.files["sales.csv"] == hashlib.sha256(CSV.encode()).hexdigest()
    assert main(["bench", "export", "out", "--to", "csv", "--passed"]) == 0
    assert Path("out-csv.csv").exists()
    assert main(["bench", "export", "tasks", "--to", "csv"]) == 2
    assert "There are no results" in capsys.readouterr().err


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("check", "why"),
    [("1 + 1 == 2", "passes when nothing is done"), ("best.shape == (9, 9)", "does not hold")],
)
def test_a_check_that_says_nothing_or_is_false_is_refused(
    check: str,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    keep(Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home")}), events(tmp_path))
    assert main(["save-sample", "last", "--check", check, "--to", "tasks", "--name", "one"]) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "tasks" / "one.yaml").exists()


@pytest.mark.kernel
def test_a_trivial_sample_is_stored_in_three_kilobytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    folder = tmp_path / "tasks"
    folder.mkdir()
    sample = {"prompt": "Set x to 1.", "checks": [{"assert": "assert x == 1"}], "reference": "x=1"}
    (folder / "one.yaml").write_text(json.dumps(sample))
    command = ["bench", "run", "tasks", "--agent", "oracle", "--epochs", "2", "-o", "out", "-q"]
    assert main(command) == 0
    lines = (tmp_path / "out" / "oracle" / "tasks" / "runs.jsonl").read_bytes().splitlines()
    assert [len(line) <= 3_000 for line in lines] == [True, True], [len(line) for line in lines]


@pytest.mark.kernel
def test_the_run_of_the_tutorial_becomes_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of its cells fail behind a line whose effect the later ones need."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CELLWRIGHT_MODEL", "demo")
    copyfile(DATA / "sales.csv", "sales.csv")
    prompt = "Which month had the best revenue, by region? Leave the table in best"
    assert main(["run", prompt, "--files", "sales.csv", "--mode", "auto", "-q"]) == 0
    check = "best.shape == (4, 3) and sales['order_date'].dt.year.max() == 2025"
    assert main(["save-sample", "last", "--check", check, "--to", "tasks"]) == 0
    told = capsys.readouterr().out
    assert "does not hold" not in told
    assert "cellwright bench run tasks --agent oracle" in told
