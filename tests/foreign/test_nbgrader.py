"""nbgrader reads our notebooks: its own validator takes them, and it counts the points we count."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from foreign.servers import BIN
from recorded_runs import analysis_run, record_of

from cellwright.exports.notebook import assertion_cell, sample_notebook
from cellwright.exports.sample import Score
from cellwright.exports.sampling import sample_of

READ = """
import json, sys
from nbgrader.nbgraderformat import read
from nbgrader.utils import determine_grade
cells = [cell for cell in read(sys.argv[1], 4).cells if "nbgrader" in cell.metadata]
print(json.dumps([determine_grade(cell) for cell in cells]))
"""


def test_nbgrader_validates_a_notebook_and_counts_its_points(tmp_path: Path) -> None:
    if not (BIN / "nbgrader").exists():
        pytest.skip("make test-foreign installs nbgrader")
    scores = (
        assertion_cell(Score("best == 3", 1.0, passed=True, points=2.0), "assert best == 3"),
        assertion_cell(Score("no / slash", 0.0, False, "it is 4"), "assert best == 4"),
        Score("style", 0.5, passed=True, points=10.0),
        Score("comment", None, passed=True, explanation="for the report", points=0.0),
    )
    sample = replace(sample_of(record_of(analysis_run()), "s", whole=True), scores=scores)
    book = tmp_path / "s.ipynb"
    book.write_text(json.dumps(sample_notebook(sample)), "utf-8")
    ran = subprocess.run(
        [str(BIN / "python"), "-c", READ, str(book)], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout) == [[2.0, 2.0], [0, 1.0], [5.0, 10.0]]
