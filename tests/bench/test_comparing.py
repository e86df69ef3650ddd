"""Comparing values as data, as an analyst would."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench import comparing
from cellwright.bench.value_data import ValueWriter, evaluate, fingerprints


def difference(actual: Any, expected: Any, options: dict[str, Any]) -> str:
    """In what two values differ, each told as a kernel tells it."""
    told = [json.loads(json.dumps(ValueWriter().write(value))) for value in (actual, expected)]
    return comparing.difference(*told, options)


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
