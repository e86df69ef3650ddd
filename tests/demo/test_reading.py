"""What tool results say, read from text that may be cut or have other text around it."""

from __future__ import annotations

import pytest

from cellwright.demo.transcript import (
    failure,
    frame_rows,
    labelled,
    listed,
    named_literals,
    scalars,
    series,
    table_info,
)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("ValueError: bad", "ValueError", "bad"),
        ("pandas.errors.ParserError: x", "ParserError", "x"),
        ("Error: KeyError: 'a'", "KeyError", "'a'"),
        ("KeyError: 'a'\nNameError: b", "NameError", "b"),
    ],
)
def test_an_error_is_read_from_its_last_line(text: str, name: str, message: str) -> None:
    found = failure(text)
    assert found is not None
    assert (found.name, found.message) == (name, message)


def test_no_error_is_seen_where_there_is_none() -> None:
    assert failure("the error was small\n12 rows") is None


LOOK = """\
<class 'pandas.DataFrame'>
RangeIndex: 3 entries, 0 to 2
Data columns (total 3 columns):
 #   Column       Non-Null Count  Dtype
---  ------       --------------  -----
 0   it's a name  3 non-null      int64
 1   7            2 non-null      str
 2   when         3 non-null      datetime64[us, UTC]
dtypes: datetime64[us, UTC](1), int64(1), str(1)
memory usage: 1.0 KB
{"it's a name": {1: 2, 2: 1},
 7: {'a, b: c': 1,
     'd': 1},
 'odd': {datetime.date(2026, 1, 2): 1},
 'when': {'a, b
"""


def test_a_look_is_read_line_by_line_and_what_was_cut_is_left_out() -> None:
    rows, count, columns = table_info(LOOK)
    assert (rows, count) == (3, 3)
    assert columns == [
        ("it's a name", "int64", 0),
        ("7", "str", 1),
        ("when", "datetime64[us, UTC]", 0),
    ]
    assert named_literals(LOOK) == {"it's a name": {1: 2, 2: 1}, "7": {"a, b: c": 1, "d": 1}}
    assert table_info("nothing") == (0, 0, [])


def test_values_that_were_looked_for_are_read() -> None:
    assert named_literals("{'City': ['Rome', 'Oslo'], 'x': [], 'odd': [") == {
        "City": ["Rome", "Oslo"],
        "x": [],
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("np.float64(3.5)", ["3.5"]),
        ("12\n-0.25", ["12", "-0.25"]),
        ("1.5e+08\nchanged: x float 3", ["1.5e+08"]),
        ("nan", ["nan"]),
        ("version 3", []),
    ],
)
def test_numbers_on_lines_of_their_own_are_read(text: str, found: list[str]) -> None:
    assert scalars(text) == found


def test_a_shown_frame_is_read_up_to_where_it_ends() -> None:
    text = (
        "        region sum of x\n0        North        1\n"
        "10  Far   East        2\nchanged: a int 3"
    )
    assert frame_rows(text, ["region", "sum of x"]) == [["North", "1"], ["Far   East", "2"]]
    assert frame_rows(text, ["other"]) == []


def test_a_printed_series_is_read_by_name() -> None:
    text = "units     12\nunit price    3.5 of all\nrevenue not read: []"
    assert series(text, ["unit price", "units", "revenue"]) == {
        "units": "12",
        "unit price": "3.5 of all",
    }


def test_labels_and_lists_are_read() -> None:
    assert labelled("mean of x: 3.5\nother: 1", "mean of x") == "3.5"
    assert labelled("nothing", "mean") == ""
    assert listed("files: ['a.csv']", "files") == ["a.csv"]
    assert listed("files: [broken", "files") == []
