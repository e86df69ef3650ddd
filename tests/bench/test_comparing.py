"""Comparing values as data, as an analyst would."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench import comparing
from cellwright.bench.value_data import ValueWriter, evaluate, fingerprints


def difference(actual: Any, expected: Any, options: dict[str, Any]) -> str:
    """In what two values differ, each told as a kernel tells it."""
    found, wanted = (
        json.loads(json.dumps(ValueWriter().write(value))) for value in (actual, expected)
    )
    return comparing.difference(found, wanted, options)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (1, 1.0),
        (np.float64(0.1) + 0.2, 0.3),
        (math.nan, math.nan),
        ("a", "a"),
        ([1, (2, 3)], [1.0, [2, 3]]),
        (np.array([1, 2]), [1, 2]),
        ([1, 2], np.array([1, 2])),
        (pd.Series([1, 2]), [1, 2]),
        (pd.Index(["a"]), ["a"]),
        ({"a": 1}, {"a": 1.0}),
        (True, True),
        (np.True_, np.True_),
        (None, None),
        (pd.Series([1.0, 2.0]), pd.Series([1, 2])),
    ],
)
def test_equal_values_have_no_difference(actual: Any, expected: Any) -> None:
    assert difference(actual, expected, {}) == ""


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (1, 2, "it is 1, not 2"),
        (1, True, "it is 1, not True"),
        ("a", "b", "it is 'a'"),
        ("1", 1, "it is '1'"),
        ([1], [1, 2], "1 items, not 2"),
        ([1, 3], [1, 2], "item 1: it is 3, not 2"),
        ({"a": 1}, {"b": 1}, "its keys are 'a'"),
        ({"a": 1}, {"a": 2}, "key 'a': it is 1, not 2"),
        (1, pd.DataFrame({"a": [1]}), "it is a int, not a DataFrame"),
        ([1], pd.Series([1]), "it is a list, not a Series"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]}), "column 'a': row 0: it is 1, not 2"),
        (pd.DataFrame({"a": [1]}), 0.875, "it is a DataFrame, not 0.875"),
        ("x" * 500, "y", "…"),
    ],
)
def test_a_difference_is_told_in_words(actual: Any, expected: Any, words: str) -> None:
    assert words in difference(actual, expected, {})


def test_an_expression_sees_pandas_and_numpy_and_nothing_of_the_run() -> None:
    found = evaluate({"expression": "np.arange(3).sum()"}, {})
    assert found == {"kind": "numpy", "dtype": "int64", "value": 3}
    assert evaluate({"expression": "pd.DataFrame({'a': [1]})"}, {})["kind"] == "frame"
    with pytest.raises(NameError):
        evaluate({"expression": "df"}, {"df": 1})


def test_fingerprints_tell_changed_values_from_equal_ones() -> None:
    def space() -> dict[str, Any]:
        return {
            "df": pd.DataFrame({"a": [1, 2]}),
            "array": np.arange(3),
            "text": "a",
            "f": lambda x: x + 1,
            "m": math,
            "lock": iter([]).__class__,
            "generator": (character for character in ""),
            "_hidden": 1,
            "In": [],
        }

    before, after = space(), space()
    assert fingerprints({}, before) == fingerprints({}, after)
    assert "_hidden" not in fingerprints({}, before)
    after["df"].loc[0, "a"] = 9
    after["array"][0] = 9
    after["f"] = lambda x: x + x
    changed = {n for n, v in fingerprints({}, before).items() if fingerprints({}, after)[n] != v}
    assert changed == {"df", "array", "f"}


DAY = datetime.date(2026, 3, 1)
FRAME = pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([5, 6], name="id"))
KINDS = pd.Series(pd.Categorical(["lo", "hi"], categories=["lo", "hi"], ordered=True))


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (1e-12, 1e-12 * (1 + 1e-12), {}),
        (10**17, 10**17, {}),
        (1.1, 1, {"tolerance": 0.1}),
        (102, 100, {"absolute_tolerance": 2}),
        (102, 100, {"relative_tolerance": 0.02}),
        (Decimal("1.10"), Decimal("1.1"), {}),
        (Decimal("1.10"), 1.1, {}),
        (Decimal(3), 3, {}),
        (Fraction(1, 2), 0.5, {}),
        (pd.NaT, pd.NA, {}),
        (math.nan, pd.NaT, {}),
        (np.datetime64("NaT"), pd.NaT, {}),
        (pd.Series([1.0, None]), pd.Series([1, pd.NA], dtype="Int64"), {}),
        (pd.Series(["a", None]), pd.Series(["a", np.nan], dtype=object), {}),
        (DAY, pd.Timestamp(2026, 3, 1), {}),
        (np.datetime64("2026-03-01"), DAY, {}),
        (pd.Series([DAY]), pd.Series(pd.to_datetime(["2026-03-01"])), {}),
        (
            pd.Timestamp("2026-03-01 12:00", tz="Europe/Berlin"),
            pd.Timestamp("2026-03-01 11:00", tz="UTC"),
            {},
        ),
        (datetime.timedelta(days=1), pd.Timedelta(hours=24), {}),
        (KINDS, pd.Series(["lo", "hi"]), {}),
        (KINDS, KINDS.copy(), {"check_categories": True, "check_dtype": True}),
        (FRAME, FRAME.astype({"a": float}), {}),
        (FRAME, FRAME.rename_axis("other"), {"ignore_names": True}),
        (FRAME, FRAME.reset_index(drop=True), {"ignore_index": True}),
        (FRAME.iloc[::-1], FRAME, {"ignore_row_order": True}),
        (
            pd.DataFrame({"n": [2, 10]}),
            pd.DataFrame({"n": [10.0, 2.0]}),
            {"ignore_row_order": True},
        ),
        (
            pd.DataFrame({"x": [0.3, 0.1 + 0.2], "n": [2, 1]}),
            pd.DataFrame({"x": [0.3, 0.3], "n": [1.0, 2.0]}),
            {"ignore_row_order": True},
        ),
        (
            pd.DataFrame({"n": [10**17 + 1, 10**17]}),
            pd.DataFrame({"n": [10**17, 10**17 + 1]}),
            {"ignore_row_order": True},
        ),
        (
            pd.DataFrame({"n": [4, 3]}).sort_values("n"),
            pd.DataFrame({"n": [4, 3]}),
            {"ignore_row_order": True},
        ),
        (
            pd.Series({"y": 3.0, "x": 3.0}),
            pd.Series({"x": 3, "y": 3}),
            {"ignore_row_order": True},
        ),
        (
            pd.Series({"x": 4, "y": 3}),
            pd.Series({"a": 3, "b": 4}),
            {"ignore_row_order": True, "ignore_index": True},
        ),
        (FRAME[["b", "a"]], FRAME, {"ignore_column_order": True}),
        ({1, 2.0}, {2, 1}, {}),
        ({0.1 + 0.2, "a"}, {"a", 0.3}, {}),
        ({np.float64(0.1) + 0.2, 5}, {5, 0.3}, {}),
        ({1, 2}, {2, 3}, {"tolerance": 1}),
        ({("b", 0.1 + 0.2), ("a", 2)}, {("a", 2), ("b", 0.3)}, {}),
        ({"a": {1: None}}, {"a": {1.0: None}}, {}),
        (pd.Interval(0, 1), pd.Interval(0.0, 1.0), {}),
        (np.ma.array([1, 2], mask=[False, True]), [1, math.nan], {}),
    ],
)
def test_an_analyst_calls_these_equal(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    assert difference(actual, expected, options) == ""


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (0.0, 1e-12, {}),
        (1e-12, 2e-12, {}),
        (5e-17, 0.0, {}),
        (10**17 + 1, 10**17, {}),
        (1001, 1000, {}),
        (1000, 1000 + 1e-5, {}),
        (1.2, 1, {"tolerance": 0.1}),
        (103, 100, {"relative_tolerance": 0.02}),
        (Decimal("1.11"), Decimal("1.1"), {}),
        (True, 1, {}),
        (None, math.nan, {}),
        (pd.NaT, DAY, {}),
        ("2026-03-01", DAY, {}),
        (DAY, pd.Timestamp("2026-03-01 00:00:01"), {}),
        (pd.Timestamp("2026-03-01"), pd.Timestamp("2026-03-01", tz="UTC"), {}),
        (DAY, pd.Timestamp(2026, 3, 1), {"check_dtype": True}),
        (KINDS, pd.Series(["lo", "hi"]), {"check_categories": True}),
        (KINDS, KINDS.cat.reorder_categories(["hi", "lo"]), {"check_categories": True}),
        (FRAME, FRAME.astype({"a": float}), {"check_dtype": True}),
        (FRAME, FRAME.rename_axis("other"), {}),
        (FRAME, FRAME.reset_index(drop=True), {}),
        (FRAME, FRAME.rename(columns={"a": "A"}), {}),
        (FRAME.iloc[::-1], FRAME, {}),
        (FRAME[["b", "a"]], FRAME, {}),
        (pd.Series({"x": 4, "y": 3}), pd.Series({"x": 3, "y": 4}), {"ignore_row_order": True}),
        (pd.Series([3, 4, 5]), pd.Series([3, 4, 5], index=[2, 0, 1]), {"ignore_row_order": True}),
        (
            pd.DataFrame({"n": [4, 3]}, index=["p", "q"]),
            pd.DataFrame({"n": [3, 4]}, index=["x", "y"]),
            {"ignore_row_order": True},
        ),
        (FRAME.reset_index(drop=True), FRAME, {"ignore_row_order": True}),
        (["007"], [7], {}),
        ({1, 2}, {1, 3}, {}),
        ({1.0, 1.1}, {1}, {"tolerance": 0.5}),
        ({1, 5.0}, {1, 1.5}, {"tolerance": 1}),
        (b"a", "a", {}),
        (object(), object(), {}),
        (np.array([1, 2]), np.array([1, 3]), {}),
        (np.float32(1), 1.0, {"check_dtype": True}),
    ],
)
def test_an_analyst_tells_these_apart(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    assert difference(actual, expected, options) != ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"tolerance": 1, "relative_tolerance": 1}, "one or the other"),
        ({"tolerances": 1}, "did you mean 'tolerance'"),
        ({"tolerance": "a"}, "not a number"),
        ({"relative_tolerance": -1}, "not a number from 0 on"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        comparing.check_options(options)


STATES: dict[str, tuple[str, str]] = {
    "constant": ("def f(): return 1", "def f(): return 2"),
    "default": ("def f(a=1): return a", "def f(a=2): return a"),
    "method": ("class f:\n  def g(s): return 1", "class f:\n  def g(s): return 2"),
    "attribute": ("class f:\n  a = 1", "class f:\n  a = 2"),
    "index name": ("f = pd.Series([1])", "f = pd.Series([1]).rename_axis('a')"),
    "generator": ("f = (n for n in [1, 2])", "f = (n for n in [1, 2]); next(f)"),
    "rows": (
        "import sqlite3; f = sqlite3.connect(':memory:'); f.execute('create table t (a)')",
        "import sqlite3; f = sqlite3.connect(':memory:'); f.execute('create table t (a)');"
        "f.execute('insert into t values (1)')",
    ),
    "closure": ("f = (lambda a: lambda: a)(1)", "f = (lambda a: lambda: a)(2)"),
    "instance": (
        "class A: pass\nf = A(); f.a = 1",
        "class A: pass\nf = A(); f.a = 2",
    ),
}


@pytest.mark.parametrize("what", STATES)
def test_the_state_of_a_variable_is_seen(what: str) -> None:
    def found(code: str) -> str:
        space: dict[str, Any] = {"pd": pd, "__name__": "__main__"}
        exec(code, space)
        return fingerprints({}, space)["f"]

    before, after = STATES[what]
    assert found(before) == found(before)
    assert found(before) != found(after)
