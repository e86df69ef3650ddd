"""Rows in the order of a column."""

from __future__ import annotations

import pytest

from cellwright.server.record_pages import natural, ordered

ROWS = [("b", 2), ("a", None), ("c", 10), ("d", 2)]
COLUMNS = {"name": lambda row: row[0], "size": lambda row: row[1]}


@pytest.mark.parametrize(
    ("sort", "names"),
    [
        ("", "bacd"),
        ("name", "abcd"),
        ("-name", "dcba"),
        ("size", "bdca"),
        ("-size", "cbda"),
        ("other", "bacd"),
    ],
)
def test_what_is_not_known_comes_last_and_equals_stay(sort: str, names: str) -> None:
    assert "".join(name for name, _ in ordered(ROWS, sort, COLUMNS)) == names


def test_numbers_in_texts_count_as_numbers() -> None:
    names = ["10", "b2", "2", "", "b10", "9" * 5_000]
    assert sorted(names, key=natural) == ["", "2", "10", "9" * 5_000, "b2", "b10"]
