"""Holds the lines that were changed since a commit to a percentage of coverage (000-50).

``python tests/changed_lines.py --since main --lines 90`` after a run of the tests with coverage.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from coverage import Coverage
from coverage.exceptions import NoSource
from source_tree import PROJECT, ROOTS

__all__ = ["Changed", "changed_lines", "report"]

SHOWN = 30
FILE = re.compile(r"^\+\+\+ (?:b/)?(.+)$")
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True)
class Changed:
    """What the tests ran of the changed lines of one file."""

    file: str
    statements: frozenset[int] = field(default_factory=frozenset)
    """Changed lines that hold code."""
    missing: frozenset[int] = field(default_factory=frozenset)
    """Those of them that no test ran."""


def changed_lines(difference: str) -> dict[str, set[int]]:
    """The added and changed lines of each file, of what ``git diff --unified=0`` says."""
    found: dict[str, set[int]] = {}
    name = ""
    for line in difference.splitlines():
        if match := FILE.match(line):
            name = match[1]
        elif (match := HUNK.match(line)) and name.endswith(".py"):
            first, count = int(match[1]), int(match[2] or 1)
            found.setdefault(name, set()).update(range(first, first + count))
    return found


def report(found: Iterable[Changed], wanted: float) -> tuple[str, bool]:
    """The lines that are missing, the percentage, and whether it is enough."""
    kept = [item for item in found if item.statements]
    total = sum(len(item.statements) for item in kept)
    missing = sum(len(item.missing) for item in kept)
    percent = 100 * (total - missing) / total if total else 100.0
    rows = [f"{item.file}: {sorted(item.missing)}" for item in kept if item.missing]
    told = [*rows[:SHOWN], f"{percent:.1f} % of {total} changed lines were run; {wanted:g} wanted."]
    return "\n".join(told), percent >= wanted


def measured(lines: Mapping[str, set[int]]) -> list[Changed]:
    """What coverage has seen of the changed lines of our own files."""
    coverage = Coverage(config_file=str(PROJECT / "pyproject.toml"))
    coverage.load()
    found = []
    for name, changed in lines.items():
        path = PROJECT / name
        if not name.startswith(tuple(f"{folder}/" for folder in ROOTS.values())):
            continue
        if not Path(path).exists():
            continue
        try:
            _, statements, _, missing, _ = coverage.analysis2(str(path))
        except NoSource:
            continue
        found.append(Changed(name, frozenset(statements) & changed, frozenset(missing) & changed))
    return found


def main() -> int:
    """Print what is missing; fail when too little was run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--since", required=True, metavar="COMMIT")
    parser.add_argument("--lines", type=float, required=True, metavar="PERCENT")
    options = parser.parse_args()
    command = ["git", "diff", "--unified=0", "--no-color", options.since, "--", *ROOTS.values()]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    text, enough = report(measured(changed_lines(done.stdout)), options.lines)
    print(text)
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
