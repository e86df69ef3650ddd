"""Holds the branch coverage of all but the edges to a percentage, and says what is missing."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage
from source_tree import PROJECT, source_files

SHOWN = 30
EDGES = (
    *("cellwright/__init__.py", "cellwright/cli.py", "cellwright/commands/", "cellwright/server/"),
    *("cellwright/api/", "cellwright_magics/"),
)
"""Tested from outside, by processes whose lines are not measured."""
SENT = (
    *("cellwright/bench/author_tests.py", "cellwright/exports/grading.py"),
    *(
        f"cellwright/kernels/{name}.py"
        for name in (
            *("awakening", "carried_pickles", "carrying", "kept_files", "object_states"),
            *("obstacles", "sandbox", "snapshots"),
        )
    ),
)
"""Their source runs in kernels or stands in notebooks; ``tests/bench/test_cheats.py``,
``tests/journeys/test_evaluated_notebooks.py``, ``tests/kernels/test_snapshots*.py`` and
``test_kept_files.py`` there run it there."""


@dataclass(frozen=True)
class FileCoverage:
    """How many branches of one file the tests took."""

    file: str
    taken: int
    branches: int
    missing: list[tuple[int, int]]
    """From which line to which the tests never went; a negative line is the function's end."""

    @property
    def percent(self) -> float:
        return 100 * self.taken / self.branches if self.branches else 100.0


def measured() -> list[FileCoverage]:
    """Read the coverage data of all files but the edges."""
    coverage = Coverage(config_file=str(PROJECT / "pyproject.toml"))
    coverage.load()
    # a file that no test imports counts too
    coverage.get_data().touch_files([str(path) for path in source_files().values()])
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        coverage.json_report(outfile=str(report))
        files = json.loads(report.read_text("utf-8"))["files"]
    by_path = {(PROJECT / path).resolve(): values for path, values in files.items()}
    return [
        FileCoverage(
            name,
            values["summary"]["covered_branches"],
            values["summary"]["num_branches"],
            values["missing_branches"],
        )
        for name, path in source_files().items()
        if not name.startswith((*EDGES, *SENT))
        if (values := by_path.get(path.resolve()))
    ]


def main() -> int:
    """Print the files below the percentage and the total; fail when the total is below it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--branches", type=float, required=True, metavar="PERCENT")
    options = parser.parse_args()
    files = measured()
    for entry in sorted(files, key=lambda entry: entry.percent):
        if entry.percent < options.branches:
            missing = " ".join(f"{line}>{target}" for line, target in entry.missing[:SHOWN])
            print(f"{entry.percent:5.1f} %  {entry.file}  {missing}")
    taken, branches = sum(f.taken for f in files), sum(f.branches for f in files)
    total = 100 * taken / max(branches, 1)
    print(f"{total:5.1f} %  of {branches} branches in {len(files)} files below the edges; ", end="")
    print(f"{options.branches} % are asked for")
    return int(not files or total < options.branches)


if __name__ == "__main__":
    sys.exit(main())
