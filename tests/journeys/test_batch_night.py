"""A night of batches over one home, while the record meets a lock, a full disk and a deletion.

Whatever goes wrong, what is announced in the morning is what is on disk.
"""

from __future__ import annotations

import json
import re
import resource
import shutil
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
import papermill
import pytest
from command_line import Done, Shell
from fake_answers import Request, Wire
from fake_service import FakeService, text, tool_call
from locked_records import locked
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from cellwright.store.database import open_database

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.filterwarnings("ignore:.*TCP without encryption"),
    pytest.mark.timeout(400),
]
EXAMPLES = Path(__file__).parents[2] / "examples" / "bench"
RUN = re.compile(r"run (\d{8}-\d{6}-[0-9a-f]{6})")
LOAD = "%load_ext cellwright"
ASK = "%%agent --mode auto\nWhat is six times seven?"
CELL, ANSWER = tool_call("run_cell", {"code": "print(6 * 7)"}), text("It is **42**.")
COMMAND = ("run", "What is six times seven?", "--mode", "auto", "--json")


class Night:
    """One home, and what was announced about it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        shutil.copytree(EXAMPLES, self.folder / "tasks")
        self.home = folder / "home"
        self.shell = Shell(
            self.folder, {"CELLWRIGHT_HOME": str(self.home), "CELLWRIGHT_OLLAMA": "off"}
        )
        self.recorded: set[str] = set()
        """Runs that are announced as recorded."""
        self.lost: set[str] = set()
        """Runs that are announced as lost."""

    @property
    def record(self) -> Path:
        return self.home / "runs.sqlite"

    def on_disk(self) -> dict[str, int]:
        """The runs that another program finds, with how many events each has."""
        with sqlite3.connect(self.record) as other:
            rows = other.execute("SELECT run_id, COUNT(*) FROM events GROUP BY run_id").fetchall()
        other.close()
        return dict(rows)

    def agrees(self) -> bool:
        there = self.on_disk()
        listed = {run["run_id"] for run in self.shell.run("runs", "--json").document["runs"]}
        return self.recorded <= set(there) == listed and not self.lost & set(there)


def run_notebook(*sources: str) -> Sequence[str]:
    """What each cell shows in the end, by nbclient."""
    made = new_notebook(cells=[new_code_cell(source) for source in sources])
    NotebookClient(made, timeout=60, kernel_name="python3").execute()
    return [shown(cell) for cell in made.cells]


def run_by_papermill(folder: Path, *sources: str) -> Sequence[str]:
    made = new_notebook(cells=[new_code_cell(source) for source in sources])
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "", "language": "python"}
    nbformat.write(made, folder / "in.ipynb")
    done = papermill.execute_notebook(
        str(folder / "in.ipynb"), str(folder / "out.ipynb"), progress_bar=False, log_output=False
    )
    return [shown(cell) for cell in done.cells]


def shown(cell: nbformat.NotebookNode) -> str:
    texts = [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "\n".join([*texts, *(output.get("text", "") for output in cell.outputs)])


def footer(shown: str) -> tuple[str, bool]:
    """The run that a cell's last line names, and whether it says that it is not on disk."""
    (line,) = [line for line in shown.splitlines() if "✓ completed" in line]
    return RUN.findall(line)[-1], "not on disk" in line


def test_a_batch_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = Night(tmp_path)
    open_database(night.record).close()

    # 22:00, nbclient: a backup locks the record and lets it go while the second question is asked.
    with locked(night.record) as free:

        def free_the_record(request: Request) -> Wire:
            free()
            return ANSWER(request)

        with FakeService([CELL, ANSWER, CELL, free_the_record]) as service:
            for name, value in night.shell.asking(service).environ.items():
                monkeypatch.setenv(name, value)
            cells = run_notebook(LOAD, ASK, ASK, "import time; time.sleep(3)", "%agent runs")
    first, second = footer(cells[1]), footer(cells[2])
    assert first[1], "while it is locked the run is not said to be kept"
    night.recorded |= {first[0], second[0]}  # the list that comes last no longer says otherwise
    assert "not on disk" not in cells[4]
    assert night.agrees()

    # 23:00, papermill: the lock outlives the kernel.
    with locked(night.record):
        with FakeService([CELL, ANSWER]) as service:
            for name, value in night.shell.asking(service).environ.items():
                monkeypatch.setenv(name, value)
            _, asked = run_by_papermill(night.folder, LOAD, ASK)
        name, is_lost = footer(asked)
        assert is_lost
        night.lost.add(name)
    assert night.agrees()

    # 0:00, the command line: a lock that outlives it, and a file for the run.
    with locked(night.record), FakeService([CELL, ANSWER]) as service:
        done = night.shell.asking(service).run_process(*COMMAND, "--record", "kept.sqlite")
    assert (done.code, done.document["recorded"]) == (0, False), done.err
    assert night.agrees()
    assert night.shell.run("doctor", "--repair", "kept.sqlite").code == 0
    night.recorded.add(done.document["id"])
    assert night.agrees()

    # 1:00, the command line: the disk is full when the model answers.
    done = run_on_a_full_disk(night)
    assert (done.code, done.document["recorded"]) == (4, False), done.err
    there = night.on_disk()[done.document["id"]]
    assert done.document["events_on_disk"] == there > 0
    assert done.document["events_lost"] > 0

    # 2:00, the command line: somebody tidies up.
    def tidy_up(request: Request) -> Wire:
        shutil.rmtree(night.home)
        return ANSWER(request)

    with FakeService([CELL, tidy_up]) as service:
        done = night.shell.asking(service).run_process(*COMMAND)
    assert (done.code, done.document["recorded"]) == (0, True), done.err
    assert "4 earlier runs are not in it" in done.err
    night.recorded = {done.document["id"]}
    assert night.agrees()
    assert night.on_disk()[done.document["id"]] == done.document["events_on_disk"]

    # 3:00, a benchmark: the disk is full after some samples, then there is room again.
    runs = night.folder / "out" / "oracle" / "tasks" / "runs.jsonl"
    running = night.shell.start(*bench("out", "5"))
    wait_for_lines(runs, 2)
    resource.prlimit(running.pid, resource.RLIMIT_FSIZE, (runs.stat().st_size + 9_000,) * 2)
    _, err = running.communicate(timeout=120)
    assert running.returncode != 0
    (said,) = re.findall(r"(\d+) are on disk", err)
    lines = [json.loads(line) for line in runs.read_text().splitlines()]
    assert len(lines) == int(said) < 15
    resumed = night.shell.run("bench", "resume", "out", "--json")
    assert f"{15 - len(lines)} of 15 samples to run" in resumed.err
    assert resumed.document["total"] == 15

    # 4:00, a benchmark: somebody tidies up again.
    runs = night.folder / "out2" / "oracle" / "tasks" / "runs.jsonl"
    running = night.shell.start(*bench("out2", "4"))
    wait_for_lines(runs, 2)
    shutil.rmtree(night.folder / "out2")
    out, err = running.communicate(timeout=120)
    (lost,) = re.findall(r"(\d+) of 12 samples that ended are not in", err)
    kept = [json.loads(line) for line in runs.read_text().splitlines()]
    assert json.loads(out)["total"] == len(kept) == 12 - int(lost)
    assert running.returncode == 1
    resumed = night.shell.run("bench", "resume", "out2", "--json")
    assert (resumed.document["total"], resumed.document["passed"]) == (12, 12), resumed.err
    assert night.agrees(), "a benchmark writes no run into the record"


def bench(out: str, epochs: str) -> Sequence[str]:
    options = ("--epochs", epochs, "-j", "1", "-o", out, "--json")
    return ("bench", "run", "tasks", "--agent", "oracle", *options)


def wait_for_lines(path: Path, count: int) -> None:
    until = time.monotonic() + 60
    while not (path.exists() and path.read_text().count("\n") >= count):
        assert time.monotonic() < until
        time.sleep(0.05)


def run_on_a_full_disk(night: Night) -> Done:
    def fill(request: Request) -> Wire:
        # From now on no file of the command grows, as on a disk that is full.
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20_000, 20_000))
        return ANSWER(request)

    with FakeService([CELL, fill]) as service:
        process = night.shell.asking(service).start(*COMMAND)
        out, err = process.communicate(timeout=120)
    return Done(process.returncode, out, err)
