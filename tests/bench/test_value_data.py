"""Values come out of a kernel as data, and back again where an author's tests need them."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import sys
import types
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench.comparing import difference
from cellwright.bench.value_data import (
    DEEPEST,
    LARGEST_COUNT,
    ValueTooLargeError,
    ValueWriter,
    fingerprints,
    restore,
    retell,
)

HOUR = datetime.timedelta(hours=1)
NAMED = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["letter", "number"])
VALUES: dict[str, Any] = {
    "nothing": None,
    "large number": 2**70,
    "complex": 1 + 2j,
    "bytes": b"\x00\xff",
    "decimal": decimal.Decimal("1.10"),
    "fraction": fractions.Fraction(1, 3),
    "day": datetime.date(2026, 11, 23),
    "time": datetime.time(12, 30),
    "plain instant": datetime.datetime(2026, 11, 23, 12),
    "plain instant with a zone": datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC),
    "length": HOUR,
    "instant": pd.Timestamp("2026-11-23 12:00:00.000000001"),
    "instant in a zone": pd.Timestamp("2026-11-23", tz="Europe/Berlin"),
    "length of pandas": pd.Timedelta(1, "ns"),
    "missing": pd.NA,
    "no instant": pd.NaT,
    "month": pd.Period("2026-11", "M"),
    "span": pd.Interval(0.0, 1.0, closed="left"),
    "list": [1, [2.5, "x"]],
    "tuple": (1, (2,)),
    "set": {1, 2},
    "frozen set": frozenset("ab"),
    "dict": {"a": 1, 2: {"b": None}},
    "array": np.arange(6).reshape(2, 3),
    "objects in an array": np.array([1, "x", None], dtype=object),
    "objects in a table of them": np.array([[1, "x"], [None, 2.5]], dtype=object),
    "one object": np.array("x", dtype=object),
    "masked": np.ma.array([1, 2], mask=[False, True]),
    "records": np.array([(1, 2.5, "x")], dtype=[("n", "i4"), ("x", "f8"), ("t", "U1")]),
    "records by name": np.rec.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")]),
    "slice": slice(1, None, 2),
    "number of numpy": np.float32(1.5),
    "day of numpy": np.datetime64("2026-11-23"),
    "length of numpy": np.timedelta64(90, "s"),
    "column": pd.Series([1, 2], name="n", index=["x", "y"]),
    "categories": pd.Series(pd.Categorical(["a", "b"], categories=["b", "a"], ordered=True)),
    "values of a column": pd.array([1, None], dtype="Int64"),
    "index": pd.Index([3, 4], name="i"),
    "index of two": NAMED,
    "table": pd.DataFrame({"a": [1, None], "b": ["x", "y"]}, index=NAMED),
}


def told(value: Any) -> Any:
    return json.loads(json.dumps(ValueWriter().write(value)))


def test_an_instant_is_told_where_python_has_no_utc_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noon = datetime.datetime(2026, 11, 23, 12, tzinfo=datetime.UTC)
    monkeypatch.delattr(datetime, "UTC")  # new in Python 3.11
    assert restore(told(noon), lambda data: data.get("value")) == noon


@pytest.mark.parametrize("name", VALUES)
def test_a_value_comes_back_as_it_was(name: str) -> None:
    value = VALUES[name]
    back = restore(told(value), lambda data: data.get("value"))
    assert difference(told(back), told(value), {}) == ""


DAYS = pd.date_range("2026-11-23", periods=2, freq="D")
EXACT: dict[str, Any] = {
    "days that follow each other": pd.Series([1, 2], index=DAYS),
    "a count": pd.Series([1, 2], index=pd.RangeIndex(4, 0, -2, name="i")),
    "numbers as objects": pd.Series([1, 2], index=pd.Index([1, 2], dtype=object)),
    "pairs in one level": pd.Series([1], index=pd.Index([("a", 1)], tupleize_cols=False)),
    "no rows of two levels": pd.Series([1], index=NAMED[:1]).iloc[:0],
    "months": pd.Series([1], index=pd.PeriodIndex(["2026-11-23/2026-11-29"], freq="W")),
    "spans of days": pd.Series(pd.IntervalIndex.from_breaks(DAYS)),
    "lists": pd.Series([[1, 2], [3]]),
    "dtypes": pd.DataFrame({"a": [1], "b": pd.Categorical(["x"])}).dtypes,
}


@pytest.mark.parametrize("name", EXACT)
def test_a_column_comes_back_with_all_that_pandas_looks_at(name: str) -> None:
    value = EXACT[name]
    back = restore(told(value), lambda _: None)
    pd.testing.assert_series_equal(back, value, check_index_type=True, check_freq=True)
    assert type(back.index) is type(value.index)


def test_arrays_come_back_with_what_is_in_them() -> None:
    ragged = np.empty(2, dtype=object)
    ragged[:] = [np.array([1, 2]), [3]]
    back = restore(told(ragged), lambda _: None)
    assert (back.shape, list(back[0]), back[1]) == ((2,), [1, 2], [3])
    assert type(restore(told(np.zeros((1, 2)).view(np.matrix)), lambda _: None)) is np.matrix
    days = np.array(["2026-11-23", "NaT"], dtype="datetime64[ns]")
    for moments in (days, days - days[0], days[:0], days.astype("datetime64[D]")):
        back = restore(told(moments), lambda _: None)
        assert back.dtype == moments.dtype
        np.testing.assert_array_equal(back, moments)


def test_what_is_expected_is_told_and_made_again_like_what_is_found() -> None:
    table = pd.DataFrame({"a": [1, 2]})
    table["b"] = np.ma.array([3, 4])
    pd.testing.assert_frame_equal(retell(table), restore(told(table), lambda _: None))
    own, large = [types], np.zeros(LARGEST_COUNT + 1)
    assert retell([print]) == [print]
    assert (retell(own), retell(large) is large) == (own, True)


def test_many_numbers_are_packed_and_come_back_as_they_were() -> None:
    values = np.arange(60_000.0).reshape(200, 300)
    table = pd.DataFrame({"a": np.arange(30_000), "b": np.arange(30_000) % 7 == 0})
    assert len(json.dumps(told(values))) < 200_000
    np.testing.assert_array_equal(restore(told(values), lambda _: None), values)
    pd.testing.assert_frame_equal(restore(told(table), lambda _: None), table)
    assert difference(told(values), told(values.tolist()), {}) == ""
    assert "item 199" in difference(told(values), told([*values[:-1].tolist(), [0.0] * 300]), {})
    others = values.astype(">f8")
    np.testing.assert_array_equal(restore(told(others), lambda _: None), others)


class csr_matrix:  # noqa: N801  # as scipy calls it
    """What is asked of a sparse matrix; it is its own list of what is set."""

    def __init__(self, parts: Any, shape: Any, dtype: Any = float) -> None:
        self.data, (self.row, self.col) = np.asarray(parts[0], dtype), map(np.asarray, parts[1])
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)

    def tocoo(self) -> csr_matrix:
        return self


csr_matrix.__module__ = "scipy.sparse._csr"


def test_a_sparse_matrix_comes_back_with_its_zeros_and_is_compared_as_an_array(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    library: Any = types.ModuleType("scipy.sparse")
    library.coo_matrix, library.csr_matrix = csr_matrix, lambda parts: parts
    monkeypatch.setitem(sys.modules, "scipy", types.ModuleType("scipy"))
    monkeypatch.setitem(sys.modules, "scipy.sparse", library)
    value = csr_matrix(([1.0, 0.0], ([0, 1], [2, 0])), shape=(2, 3))
    back = restore(told(value), lambda _: None)
    assert (list(back.data), back.shape, back.dtype) == ([1.0, 0.0], (2, 3), np.dtype(float))
    assert difference(told(value), told(np.array([[0, 0, 1.0], [0, 0, 0]])), {}) == ""
    assert "not" in difference(told(value), told(np.zeros((2, 3))), {})
    large = csr_matrix(([], ([], [])), shape=(LARGEST_COUNT, 2))
    assert f"of {LARGEST_COUNT} x 2" in difference(told(large), told([1]), {})
    forged = {**told(value), "name": "dtype"}
    assert restore(forged, lambda data: data["type"]) == "dtype"


def test_a_column_of_a_kind_that_is_not_known_here_is_one_of_objects() -> None:
    data = told(pd.Series([1, 2]))
    data["data"]["dtype"] = "somebody's own"
    assert list(restore(data, lambda _: None)) == [1, 2]


def test_what_is_no_data_stays_where_it_is_and_is_named() -> None:
    writer = ValueWriter()
    data = [writer.write(types), writer.write(told), writer.write(object())]
    assert [each["kind"] for each in data] == ["module", "object", "object"]
    assert writer.kept[0] is told
    assert restore(data, lambda each: each) == data
    made = [restore(each, lambda told: told["name"]) for each in data]
    assert made == ["types", "told", "object"]


def test_what_holds_too_much_or_itself_is_refused() -> None:
    own: list[Any] = []
    own.append(own)
    with pytest.raises(ValueTooLargeError, match=f"{DEEPEST} deep"):
        told(own)
    with pytest.raises(ValueTooLargeError, match=str(LARGEST_COUNT)):
        told(np.zeros(LARGEST_COUNT + 1))


class Point:
    """A class of somebody's."""

    def __init__(self, x: Any) -> None:
        self.x = x


def test_a_fingerprint_tells_a_changed_value_from_the_same() -> None:
    def generated() -> Any:
        yield from range(3)

    deep: Any = "end"
    for _ in range(8):
        deep = Point(deep)
    values = {"point": Point(1), "set": {3, 1}, "lambda": lambda x: x, "deep": deep}
    values |= {"generator": generated(), "dict": {"b": 1, "a": 2}, "In": [], "_": 1}
    before = fingerprints({}, values)
    assert sorted(before) == ["deep", "dict", "generator", "lambda", "point", "set"]
    assert fingerprints({}, values) == before
    values["point"].x = 2
    next(values["generator"])
    after = fingerprints({}, values)
    assert {name for name in before if after[name] != before[name]} == {"generator", "point"}


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (np.float32(1), np.float64(1), {"check_dtype": True}),
        (np.float32(1), np.float32(2), {"check_dtype": True}),
        (float("inf"), 1, {}),
        (1, {1, 2}, {}),
        (1, {"a": 1}, {}),
        ([1], 1, {}),
        (1, [1], {}),
        (math, math, {}),
        (pd.Interval(0, 1), pd.Interval(0, 2), {}),
        (pd.Interval(pd.Timestamp(1), pd.Timestamp(2)), pd.Interval(0, 2), {}),
        ({(1, 2)}, {(1, 3)}, {}),
        ({datetime.date(2026, 1, 1)}, {None}, {}),
        (np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]]), [[1, 2], [3, 4]], {}),
        (np.float32(1), "x", {}),
        (float("nan"), 1, {}),
        ({1, 2}, [1, 2], {}),
        ({1, 2}, {1, 3}, {}),
        ({"a": 1}, {"b": 1}, {}),
        ([1], [1, 2], {}),
        (pd.Series([1]), pd.DataFrame({"a": [1]}), {}),
        (datetime.date(2026, 1, 1), datetime.date(2026, 1, 2), {}),
        (np.ma.array([1, 2], mask=[False, True]), [1, 2], {}),
        (decimal.Decimal("1.1"), decimal.Decimal("1.2"), {}),
        (2, 1, {"tolerance": 0.5}),
        (2.0, 1.0, {"relative_tolerance": 0.1}),
    ],
)
def test_what_differs_is_told(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    assert difference(told(actual), told(expected), options) != ""
