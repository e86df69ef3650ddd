"""Evaluated notebooks in the hands of people who have no cellwright: a teacher and a reviewer."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bare_python import BARE_PACKAGES, last_line, make_bare_python, read_notebook, run_notebook

from cellwright.cli import main

pytestmark = [pytest.mark.kernel, pytest.mark.timeout(400)]
EXAMPLES = Path(__file__).parents[2] / "examples" / "bench"


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with ipykernel, nbclient, pandas and what they need."""
    return make_bare_python(tmp_path_factory.mktemp("bare") / "venv", *BARE_PACKAGES)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the person works, with a record of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    return tmp_path


def cells_of(book: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [c for c in book["cells"] if c["metadata"].get("cellwright", {}).get("role") == role]


def change(path: Path, old: str, new: str) -> None:
    """Change what a cell says, as a reader would who doubts it."""
    book = read_notebook(path)
    changed = [cell for cell in book["cells"] if old in cell["source"]]
    assert changed
    for cell in changed:
        cell["source"] = cell["source"].replace(old, new)
    nbformat.write(book, path)


def test_a_reviewer_runs_the_notebook_of_a_paper_again_and_doubts_its_answer(
    folder: Path, bare_python: Path
) -> None:
    shutil.copytree(EXAMPLES, folder / "tasks")
    assert main(["bench", "run", "tasks", "--agent", "oracle", "-o", "out", "--quiet"]) == 0
    assert main(["bench", "export", "out", "--to", "notebooks", "-o", "paper"]) == 0
    shutil.rmtree("tasks")  # the reviewer has the notebooks alone
    names = [path.name for path in sorted(Path("paper").rglob("*.ipynb"))]
    assert names == ["best_region.ipynb", "cleaned_file.ipynb", "growth.ipynb"]
    path = folder / "paper" / "oracle" / "tasks" / "best_region.ipynb"
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    head = "\n".join(cell.source for cell in book.cells[:4])
    assert "4 of 4 points" in book.cells[0].source.replace("&#40;", "(")
    assert "Which region has the highest total revenue" in head
    assert "north" in book.cells[1].source

    again = run_notebook(bare_python, path, folder / "reviewer")
    assert last_line(again) == "Grade: 4 of 4 points (100%)"
    checks = cells_of(again, "check")
    assert len(checks) == 4
    assert "found:    'north'" in checks[0]["outputs"][0]["text"]
    assert not list(path.parent.glob("*.csv"))  # nothing is left beside the notebook

    change(path, 'iloc[0]["region"]', 'iloc[1]["region"]')
    assert last_line(run_notebook(bare_python, path, folder / "reviewer")) == (
        "Grade: 2 of 4 points (50%)"
    )
    change(path, "@region[north]", "@region[south]")
    wrong = run_notebook(bare_python, path, folder / "reviewer")
    assert last_line(wrong) == "Grade: 1 of 4 points (25%)"
    assert (
        "because:  it is 'south', not 'north'" in cells_of(wrong, "check")[0]["outputs"][0]["text"]
    )


def test_what_was_printed_written_and_left_alone_is_graded_again(
    folder: Path, bare_python: Path
) -> None:
    shutil.copytree(EXAMPLES, folder / "tasks")
    assert main(["bench", "run", "tasks", "--agent", "oracle", "-o", "out", "--quiet"]) == 0
    assert main(["bench", "export", "out", "--to", "notebooks", "-o", "books"]) == 0
    place = folder / "books" / "oracle" / "tasks"
    for name, full in (("growth", "3 of 3"), ("cleaned_file", "2 of 2")):
        book = run_notebook(bare_python, place / f"{name}.ipynb", folder / "reader")
        assert last_line(book) == f"Grade: {full} points (100%)"
    change(place / "growth.ipynb", "print(growth)", "sales = None")
    book = run_notebook(bare_python, place / "growth.ipynb", folder / "reader")
    assert last_line(book) == "Grade: 1 of 3 points (33%)"


def test_a_teacher_grades_ten_students_and_reads_a_page_and_a_table(
    folder: Path, bare_python: Path
) -> None:
    (folder / "homework").mkdir()
    shutil.copy(EXAMPLES / "sales.csv", folder / "homework")
    shutil.copy(EXAMPLES / "best_region.yaml", folder / "homework")
    good = (
        "import pandas as pd\nsales = pd.read_csv('sales.csv')\n"
        "totals = sales.groupby('region', as_index=False)['revenue'].sum()\n"
        "totals = totals.sort_values('revenue', ascending=False)\n"
        "best_region = totals.iloc[0]['region']"
    )
    codes = [good, good.replace("iloc[0]", "iloc[2]"), "best_region = 'north'", "1 / 0"]
    agents = []
    for number in range(10):
        student = f"student{number}.jsonl"
        line = {"index": "best_region", "code": codes[number % 4]}
        Path(student).write_text(json.dumps(line) + "\n")
        agents += ["--agent", f"answers:{student}"]
    assert main(["bench", "run", "homework", *agents, "-o", "out", "--quiet"]) == 0
    command = ["bench", "export", "out", "--to", "notebooks", "-o", "graded", "--gradebook"]
    assert main(command) == 0

    with Path("graded/gradebook.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert {row["max_score"] for row in rows} == {"4"}
    by_student = {row["student_id"]: row for row in rows}
    scores = [float(by_student[f"answers_student{number}.jsonl"]["score"]) for number in range(10)]
    assert scores[:4] == [2, 1, 1, 0]  # nobody said @region[…], which fails the whole, too
    assert scores[4:8] == scores[:4]
    page = Path("graded/index.html").read_text("utf-8")
    assert page.count("<a href=") == 10
    assert "<script" not in page
    assert "src=" not in page
    for path in sorted(Path("graded").rglob("*.ipynb"))[:2]:
        recorded = last_line(read_notebook(path))
        again = run_notebook(bare_python, folder / path, folder / "teacher")
        assert last_line(again) == recorded, path


def test_a_live_run_is_scored_and_graded_again_by_someone_who_has_its_notebook_alone(
    folder: Path, bare_python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_OLLAMA", "off")
    lines = ["month,region,revenue", "2026-01,north,10", "2026-02,north,30", "2026-01,south,20"]
    Path("sales.csv").write_text("\n".join(lines) + "\n")
    ask = "Which month had the best revenue, by region? Plot it and leave the table in best."
    assert main(["run", ask, "--mode", "auto", "--files", "sales.csv", "--quiet"]) == 0
    assert main(["score", "up", "--comment", "a clear plot"]) == 0
    checks = ["--check", "len(best) == 2", "--check", "best['revenue'].sum() == 50"]
    assert main(["score", "last", *checks, "--points", "2"]) == 0
    assert main(["export", "last", "--to", "notebooks", "-o", "handed"]) == 0
    Path("sales.csv").unlink()
    (path,) = (folder / "handed").glob("*.ipynb")
    nbformat.validate(nbformat.read(path, as_version=4))
    assert last_line(read_notebook(path)) == "Grade: 5 of 5 points (100%)"
    # The plot has no matplotlib there: that cell fails, and nothing that is checked needs it.
    book = run_notebook(bare_python, path, folder / "stranger")
    assert last_line(book) == "Grade: 5 of 5 points (100%)"
    graded = {c["metadata"]["nbgrader"]["grade_id"] for c in cells_of(book, "check")}
    assert len(graded) == 3
    (cell,) = [c for c in cells_of(book, "step") if c["source"].startswith("best = ")]
    change(path, cell["source"], cell["source"] + "\nbest = best.head(1)")
    book = run_notebook(bare_python, path, folder / "stranger")
    assert last_line(book) == "Grade: 1 of 5 points (20%)"
