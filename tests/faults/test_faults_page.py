"""The page about faults names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "faults.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|js)/[\w/.]+)::([^`]+)`", PAGE)))
ROWS = [line.split("|") for line in PAGE.splitlines() if re.match(r"\| [A-Z]?\d* \| ", line)]


def test_every_test_that_is_named_is_there() -> None:
    sources = {
        path: file.read_text(encoding="utf-8")
        for path in {path for path, _ in NAMED}
        if (file := ROOT / path).exists()
    }
    assert [
        f"{path}::{name}"
        for path, name in NAMED
        if not any(form in sources.get(path, "") for form in (f"def {name}(", f"'{name}'"))
    ] == []


def test_every_row_names_a_test_or_says_that_there_is_none() -> None:
    assert len(ROWS) > 60
    assert [row[1] for row in ROWS if "::" not in row[4] and "*no test*" not in row[4]] == []


def test_every_row_of_the_lists_is_there_once() -> None:
    there = [row[1].strip() for row in ROWS if row[1].strip()]
    assert sorted(there) == sorted(set(there))
    expected = [f"S{n}" for n in range(1, 31)] + [f"A{n}" for n in range(1, 14)] + ["A21"]
    expected += [f"K{n}" for n in range(1, 21)]
    assert [row for row in expected if row not in there] == []
