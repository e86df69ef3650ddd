"""What is read from tool results, whatever stands around it."""

from __future__ import annotations

import pytest

from cellwright.demo.transcript import (
    CellFailure,
    facts,
    failure,
    labelled,
    listed,
    overview_lines,
    row_count,
    table,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ValueError: bad value\nCell In[1], line 2\n> 2 x",
            CellFailure("ValueError", "bad value"),
        ),
        ("out\n\nerror: KeyError: 'x'", CellFailure("KeyError", "'x'")),
        ("pandas.errors.ParserError: no", CellFailure("ParserError", "no")),
        ("KeyboardInterrupt", CellFailure("KeyboardInterrupt", "")),
        ("Error: A: 1\nTypeError: first\nValueError: last", CellFailure("ValueError", "last")),
        ("    except ValueError:\n        pass", None),
        ("the word ValueError: in a sentence", None),
        ("", None),
    ],
)
def test_the_error_is_found(text: str, expected: CellFailure | None) -> None:
    assert failure(text) == expected


def test_a_table_is_read_from_between_other_text() -> None:
    text = 'stdout:\nname,n\n"a, b",1\nc,2\nchanged: x int, y int\n'
    assert table(text, ["name", "n"]) == [["a, b", "1"], ["c", "2"]]
    assert table("result: name,n\nx,1", ["name", "n"]) == [["x", "1"]]
    assert table("other,n\nx,1", ["name", "n"]) == []
    assert table("name,n", ["name", "n"]) == []


def test_a_table_ends_where_it_was_cut() -> None:
    text = "name,n\na,1\n[… 12 lines cut …]\nz,9"
    assert table(text, ["name", "n"]) == [["a", "1"]]


def test_overview_lines_survive_cuts_and_foreign_lines() -> None:
    text = (
        '12 rows\n{"column":"a","dtype":"int64"}\n{"column": broken\n[1]\n{"else": 1}\n'
        '  {"column":"b","dtype":"str"}\n{'
    )
    assert [line["column"] for line in overview_lines(text)] == ["a", "b"]
    assert row_count(text) == 12
    assert row_count("nothing") == 0


def test_facts_are_put_together() -> None:
    assert facts('{"a": 1}\ntext\n{"b": [2]}\n{3}') == {"a": 1, "b": [2]}


def test_labels_and_lists_are_read() -> None:
    text = "noise\nprice not read: ['x', 'y']\nmean of a: 2.5\nbad: [1,\nnumber: 3"
    assert listed(text, "price not read") == ["x", "y"]
    assert listed(text, "bad") == []
    assert listed(text, "number") == []
    assert listed(text, "absent") == []
    assert labelled(text, "mean of a") == "2.5"
