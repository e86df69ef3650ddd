import html
import json
import os
import re
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import nbformat
import pytest
from command_line import Done, Shell
from recorded_runs import analysis_run, record_of

from cellwright.commands.demonstration import repaired_errors
from cellwright.record.run_record import RunRecord
from cellwright.record.values import from_dict

MAIN = "Which month had the best revenue, by region?"


KEY = "-".join(("sk", "demo", "Zk3" * 12))


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Done, Path]:
    """The demo's result and its folder, made once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "demo-once"
    result = folder / "result.json"
    try:
        folder.mkdir()
    except FileExistsError:
        while not result.exists():  # ends with the test's own time limit
            time.sleep(0.2)
        return Done(**json.loads(result.read_text())), folder / "made"
    done = run_demo(folder)
    (folder / "new.json").write_text(json.dumps(asdict(done)))
    (folder / "new.json").rename(result)
    return done, folder / "made"


def run_demo(folder: Path) -> Done:
    # A key that is not to be found anywhere in what the demo makes.
    environ = {
        "CELLWRIGHT_HOME": str(folder / "own-record"),
        "CELLWRIGHT_API_KEY": KEY,
        "CELLWRIGHT_BASE_URL": "http://127.0.0.1:9/v1",
        "CELLWRIGHT_OLLAMA": "off",
    }
    return Shell(folder, environ).run_process("demo", "--out", "made", "--json", seconds=110)


def notebook_cells(path: Path) -> list[dict[str, Any]]:
    nbformat.validate(nbformat.read(path, as_version=4))
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def bundles(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]


@pytest.mark.kernel
class TestDemo:
    def test_everything_it_is_to_show_happened(self, demo: tuple[Done, Path]) -> None:
        done, _ = demo
        assert done.code == 0, done.err
        assert (done.document["ok"], done.document["missing"]) == (True, [])
        assert [run["status"] for run in done.document["runs"]] == ["completed"] * 4

    def test_the_notebook_is_executed_in_a_real_kernel(self, demo: tuple[Done, Path]) -> None:
        cells = notebook_cells(demo[1] / "demo.ipynb")
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert [cell["execution_count"] for cell in code] == [1, 2, 3, 4, 5]
        assert any("image/png" in bundle for bundle in bundles(cells))
        assert "demo model" in "".join(cells[0]["source"])

    def test_its_last_cell_uses_what_the_model_left_behind(self, demo: tuple[Done, Path]) -> None:
        last = notebook_cells(demo[1] / "demo.ipynb")[-1]
        assert "".join(last["source"]) == "best.head()"
        assert "North" in "".join(bundles([last])[0]["text/plain"])

    def test_each_question_is_answered_and_none_is_refused(self, demo: tuple[Done, Path]) -> None:
        shown = json.dumps(bundles(notebook_cells(demo[1] / "demo.ipynb")))
        assert "I cannot answer this" not in shown
        record: RunRecord = from_dict(RunRecord, json.loads((demo[1] / "run.json").read_text()))
        for words in ("North", "2025-11", "14,560.15", "`best`"):
            assert words in record.answer

    def test_a_real_error_came_up_and_was_repaired(self, demo: tuple[Done, Path]) -> None:
        runs = demo[0].document["runs"]
        # What the first question mended, later ones find in order: the file is read once.
        assert runs[0]["repaired"] >= 1
        main = next(run for run in runs if run["prompt"].startswith(MAIN))
        record: RunRecord = from_dict(RunRecord, json.loads((demo[1] / "run.json").read_text()))
        assert record.run_id == demo[0].document["main_run"]
        assert repaired_errors(record) == main["repaired"]

    def test_the_replay_needed_no_model_and_does_not_differ(self, demo: tuple[Done, Path]) -> None:
        replay = json.loads((demo[1] / "replay.json").read_text())
        assert replay["differences"] == []
        assert replay["source_run"] == demo[0].document["main_run"]
        assert replay["usage"]["prompt_tokens"] == 0
        assert notebook_cells(demo[1] / "replayed.ipynb")

    def test_the_run_is_a_notebook_and_a_report(self, demo: tuple[Done, Path]) -> None:
        assert any("image/png" in b for b in bundles(notebook_cells(demo[1] / "run.ipynb")))
        report = (demo[1] / "report.html").read_text(encoding="utf-8")
        assert MAIN in html.unescape(report)
        assert "data:image/png;base64," in report
        assert not re.search(r"<script|(src|href)=[\"']?https?:", report)

    def test_no_key_and_no_folder_of_this_machine_is_in_what_it_makes(
        self, demo: tuple[Done, Path]
    ) -> None:
        for name in ("run.json", "run.ipynb", "report.html", "replayed.ipynb", "replay.json"):
            text = (demo[1] / name).read_text(encoding="utf-8")
            for secret in (KEY, str(demo[1]), sys.prefix + "/"):
                assert secret not in text, f"{secret} in {name}"
        assert KEY not in (demo[1] / "demo.ipynb").read_text(encoding="utf-8")

    def test_the_persons_own_record_is_not_touched(self, demo: tuple[Done, Path]) -> None:
        assert not (demo[1].parent / "own-record").exists()
        assert (demo[1] / "record" / "runs.sqlite").is_file()

    def test_every_path_it_names_is_there_and_relative(self, demo: tuple[Done, Path]) -> None:
        for path in demo[0].document["paths"].values():
            assert path.startswith("made")
            assert (demo[1].parent / path).exists()

    def test_it_tells_what_it_does_meanwhile(self, demo: tuple[Done, Path]) -> None:
        for words in ("running it in a real kernel", "cell 4 of 6", "Replaying", "reports"):
            assert words in demo[0].err


def test_a_folder_that_is_in_use_is_left_alone(shell: Shell) -> None:
    (shell.folder / "mine.txt").write_text("keep")
    done = shell.run("demo", "--out", ".")
    assert done.code == 2
    assert "The folder '.' is not empty." in done.err
    (shell.folder / "file").touch()
    assert "cannot be made" in shell.run("demo", "--out", "file/x").err


@pytest.mark.kernel
def test_a_notebook_that_does_not_get_far_ends_with_its_reason(
    shell: Shell, free_port: int
) -> None:
    nowhere = {**shell.environ, "CELLWRIGHT_BASE_URL": f"http://127.0.0.1:{free_port}/v1"}
    done = Shell(shell.folder, nowhere).run_process(
        "demo", "--out", "d", "-m", "no-model", "--json"
    )
    assert done.code == 1
    assert done.document["ok"] is False
    assert "did not get to its main question" in done.err
    assert (shell.folder / "d" / "demo.ipynb").exists()


def test_an_error_counts_as_repaired_when_a_later_cell_goes_well() -> None:
    assert repaired_errors(record_of(analysis_run())) == 1
    assert repaired_errors(record_of(analysis_run()[:-14])) == 0
