"""Comparing values, as it is done inside a kernel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench.comparing import difference, evaluate, fingerprints


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
        (1, 2, "it is 1.0, not 2.0"),
        (1, True, "it is 1, not True"),
        ("a", "b", "it is 'a'"),
        ("1", 1, "it is '1'"),
        ([1], [1, 2], "1 items, not 2"),
        ([1, 3], [1, 2], "item 1: it is 3.0"),
        ({"a": 1}, {"b": 1}, "its keys are ['a']"),
        ({"a": 1}, {"a": 2}, "key 'a': it is 1.0"),
        (1, pd.DataFrame({"a": [1]}), "it is a int, not a DataFrame"),
        ([1], pd.Series([1]), "it is a list, not a Series"),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]}), "DataFrame.iloc"),
        (pd.DataFrame({"a": [1]}), 0.875, "it is a DataFrame, not 0.875"),
        ("x" * 500, "y", "…"),
    ],
)
def test_a_difference_is_told_in_words(actual: Any, expected: Any, words: str) -> None:
    assert words in difference(actual, expected, {})


def test_an_expression_sees_pandas_and_numpy_and_nothing_of_the_run() -> None:
    assert evaluate("np.arange(3).sum()") == 3
    assert len(evaluate("pd.DataFrame({'a': [1]})")) == 1
    with pytest.raises(NameError):
        evaluate("df")


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
    assert fingerprints(before) == fingerprints(after)
    assert "_hidden" not in fingerprints(before)
    after["df"].loc[0, "a"] = 9
    after["array"][0] = 9
    after["f"] = lambda x: x + x
    changed = {n for n, v in fingerprints(before).items() if fingerprints(after)[n] != v}
    assert changed == {"df", "array", "f"}
