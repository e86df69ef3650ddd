"""The page about faults names tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "reference" / "faults.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|js)/[\w/.]+)::([^`]+)`", PAGE)))
ROWS = [line.split("|") for line in PAGE.splitlines() if re.match(r"\| [A-Z]?\d* \| ", line)]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda part: part)
def test_every_test_that_is_named_is_there(path: str, name: str) -> None:
    file = ROOT / path
    source = file.read_text(encoding="utf-8") if file.exists() else ""
    assert f"def {name}(" in source or f"'{name}'" in source


def test_every_row_names_a_test_or_says_that_there_is_none() -> None:
    assert len(ROWS) > 60
    assert [row[1] for row in ROWS if "::" not in row[4] and "*no test*" not in row[4]] == []


def test_every_row_of_the_lists_is_there_once() -> None:
    there = [row[1].strip() for row in ROWS if row[1].strip()]
    assert sorted(there) == sorted(set(there))
    expected = [f"S{n}" for n in range(1, 31)] + [f"A{n}" for n in range(1, 14)] + ["A21"]
    expected += [f"K{n}" for n in range(1, 21)]
    assert [row for row in expected if row not in there] == []
