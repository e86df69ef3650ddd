"""When two values are equal by DSEval's rules, strictly and loosely."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench.dseval_matching import comparison

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})
SERIES = pd.Series([3.0, 1.0, 2.0], name="n")


class Odd:
    """A value that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]


EQUAL: list[tuple[Any, Any, Any]] = [
    (1, 1.0, None),
    (1.0, 1.0 + 1e-9, None),
    (np.int64(2), 2, None),
    (np.bool_(True), True, None),
    ("x", "x", None),
    ([1, "a"], (1.0, "a"), None),
    ({"k": [1]}, {"k": (1,)}, None),
    ({1, 2}, {2, 1}, None),
    (np.array([1.0, np.nan]), np.array([1.0, np.nan]), None),
    (np.array([1.0]), np.array([1.0], dtype="float32"), None),
    (np.array(["a"]), np.array(["a"]), None),
    (FRAME, FRAME.copy(), None),
    (pd.Index([1, 2]), pd.Index([1, 2]), None),
    ([1, 2, 3], [3, 1, 2], {"ignore_order": True}),
    (FRAME, FRAME.iloc[::-1], {"ignore_order": True}),
    (FRAME, FRAME.set_axis([7, 8, 9]), {"ignore_index": True}),
    (SERIES, SERIES.sort_values(), {"ignore_order": True}),
    (SERIES, SERIES.set_axis([7, 8, 9]), {"ignore_index": True}),
    ({"a": 1}, {"b": 1}, {"ignore_index": True}),
    (FRAME, FRAME.rename(columns={"a": "c"}), {"ignore_names": True}),
    (FRAME, FRAME[["b", "a"]], {"ignore_names": True}),
    (SERIES, SERIES.rename("m"), {"ignore_names": True}),
    (SERIES, SERIES.astype("float32"), {"ignore_dtypes": True}),
    (FRAME, FRAME.astype({"a": "int8"}), {"ignore_dtypes": True}),
    ([[1], [2]], np.array([1, 2]), {"value_only": True}),
    (5, pd.DataFrame({"a": [5]}), {"value_only": True}),
    (pd.Series([1, 2]), pd.Index([1, 2]), {"value_only": True}),
    (FRAME, pd.DataFrame(), {"type_only": True}),
    (0.8, 0.75, {"metrictol": 0.9}),
    (1.0, 1.1, {"atol": 0.2}),
    (3, 4, "def compare_fn(ref, sub):\n    return {'match': type(ref) == type(sub), 'reason': ''}"),
    (3, 4, "def compare_fn(ref, sub):\n    return {'match': ref < sub, 'reason': ''}"),
]
UNEQUAL: list[tuple[Any, Any, Any, str]] = [
    (1, True, None, "Wrong type: int vs. bool"),
    (1, "1", None, "Wrong type: int vs. str"),
    (1, 2, None, "Wrong value: 1 vs. 2"),
    (float("nan"), float("nan"), None, "Wrong value"),
    ("x", "y", None, "Wrong value: 'x' vs. 'y'"),
    (None, Odd(), None, "cannot be compared"),
    ([1], [1, 2], None, "Length mismatch"),
    ([1, 2], [1, 3], None, "Element 1 is not equal"),
    ({"a": 1}, {"b": 1}, None, "Keys mismatch"),
    ({"a": 1}, {}, {"ignore_index": True}, "Length mismatch"),
    ({"a": 1}, {"a": 2}, None, "Element 'a'"),
    ({1}, {2}, None, "Wrong value"),
    ([1], {1}, None, "Mismatched type: list vs. set"),
    ([1], np.array([1]), None, "Wrong type"),
    (np.array([1]), np.array([1, 2]), None, "shape mismatch"),
    (np.array([1]), np.array([2]), None, "the arrays are not equal"),
    (np.array([1.0]), np.array([np.inf]), None, "the arrays are not equal"),
    (np.array([1]), np.array([1.0]), {"strict_type": True}, '"dtype" are different'),
    (FRAME, FRAME.iloc[::-1], None, "different"),
    (FRAME, SERIES, None, "Mismatched type: DataFrame vs. Series"),
    (FRAME, FRAME.assign(c=1), {"ignore_order": True}, "columns are different"),
    (SERIES, SERIES.astype("float32"), None, '"dtype" are different'),
    (FRAME, SERIES, {"type_only": True}, "Wrong type"),
    (0.8, 0.5, {"metrictol": 0.9}, "too low"),
    (0.8, float("nan"), {"metrictol": 0.9}, "too low"),
    (3, 2, "def compare_fn(ref, sub):\n    return {'match': ref < sub, 'reason': 'less'}", "less"),
]
PARTS: list[tuple[Any, Any, str]] = [
    (FRAME, FRAME.assign(c=1), "the columns ['a', 'b']"),
    (pd.Series([1, 2, 3]), FRAME, "the column 'a'"),
    ([1, 2, 3], FRAME, "the column 'a'"),
    (["p", "q", "r"], FRAME.set_axis(["p", "q", "r"]), "the index"),
    ([3.0, 1.0, 2.0], SERIES, "the values"),
    (["p", "q"], pd.Series([1, 2], index=["p", "q"]), "the index"),
    (pd.DataFrame({"n": [3.0, 1.0, 2.0]}), SERIES, "as a table"),
]


@pytest.mark.parametrize(("expected", "found", "rules"), EQUAL)
def test_equal_by_the_rules(expected: Any, found: Any, rules: Any) -> None:
    assert comparison(rules)(expected, found).equal


@pytest.mark.parametrize(("expected", "found", "rules", "why"), UNEQUAL)
def test_not_equal_says_why(expected: Any, found: Any, rules: Any, why: str) -> None:
    matched = comparison(rules)(expected, found)
    assert not matched.equal
    assert why in matched.note


@pytest.mark.parametrize(("expected", "found", "where"), PARTS)
def test_loosely_a_part_of_more_is_enough(expected: Any, found: Any, where: str) -> None:
    assert not comparison(None)(expected, found).equal
    matched = comparison(None, is_loose=True)(expected, found)
    assert matched.equal
    assert where in matched.note


def test_loosely_what_is_not_there_is_still_wrong() -> None:
    loosely = comparison(None, is_loose=True)
    assert not loosely([9], FRAME).equal
    assert not loosely(FRAME, 3).equal
    assert not loosely(FRAME, pd.Series([9])).equal
    assert loosely(3, 3).equal


def test_the_agents_table_keeps_its_names() -> None:
    found = FRAME.rename(columns={"a": "c"})
    comparison(None, is_loose=True)(FRAME, found)
    assert list(found.columns) == ["c", "b"]


def test_what_cannot_be_sorted_is_compared_as_it_is() -> None:
    mixed = pd.Series([1, "a"])
    assert comparison({"ignore_order": True})(mixed, mixed.copy()).equal


def test_a_rule_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="'ignore_all' is no rule"):
        comparison({"ignore_all": True})
