"""What checks do inside a kernel: compare a value, and tell one state of variables from another.

The source of this module is sent to the kernel, which may have another Python and no cellwright:
nothing of ours is imported, and pandas and numpy only where the kernel has loaded them itself.
"""

from __future__ import annotations

import hashlib
import math
import numbers
import pickle
import sys
import types
from typing import Any

HIDDEN = ("In", "Out", "get_ipython", "exit", "quit", "open")


def difference(actual: Any, expected: Any, options: dict[str, Any]) -> str:
    """In what the two differ, in words; empty: they are equal.

    Args:
        actual: What there is.
        expected: What there should be.
        options: ``tolerance``; for tables also ``check_dtype``, ``ignore_row_order``,
            ``ignore_column_order`` and ``ignore_index``.
    """
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and isinstance(expected, pandas.Series):
        if not isinstance(actual, pandas.Series):
            return f"it is a {type(actual).__name__}, not a Series"
        actual, expected = actual.to_frame("value"), expected.to_frame("value")
    if pandas is not None and isinstance(expected, pandas.DataFrame):
        return _frame_difference(pandas, actual, expected, options)
    if numpy is not None and isinstance(actual, numpy.ndarray):
        actual = actual.tolist()
    if numpy is not None and isinstance(expected, numpy.ndarray):
        expected = expected.tolist()
    if pandas is not None and isinstance(actual, (pandas.Series, pandas.Index)):
        actual = actual.tolist()
    if numpy is not None and isinstance(actual, numpy.generic):
        actual = actual.item()
    if numpy is not None and isinstance(expected, numpy.generic):
        expected = expected.item()
    return _plain_difference(actual, expected, options)


def _plain_difference(actual: Any, expected: Any, options: dict[str, Any]) -> str:
    if isinstance(expected, bool) or isinstance(actual, bool):
        return "" if actual is expected else f"it is {_short(actual)}, not {_short(expected)}"
    if isinstance(expected, numbers.Real) and isinstance(actual, numbers.Real):
        return _number_difference(float(actual), float(expected), options)
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(actual) != len(expected):
            return f"it has {len(actual)} items, not {len(expected)}"
        pairs: Any = zip(range(len(expected)), actual, expected)  # noqa: B905  # Python 3.9 too
        return _first(((f"item {n}", a, e) for n, a, e in pairs), options)
    if isinstance(expected, dict) and isinstance(actual, dict):
        if set(actual) != set(expected):
            return f"its keys are {_short(sorted(map(str, actual)))}"
        return _first(((f"key {k!r}", actual[k], expected[k]) for k in expected), options)
    try:
        is_equal = bool(actual == expected)
    except Exception:  # a table is not equal to a number, and says neither yes nor no
        return f"it is a {type(actual).__name__}, not {_short(expected)}"
    return "" if is_equal else f"it is {_short(actual)}, not {_short(expected)}"


def _number_difference(actual: float, expected: float, options: dict[str, Any]) -> str:
    tolerance = float(options.get("tolerance", 1e-9))
    if math.isnan(actual) and math.isnan(expected):
        return ""
    if math.isclose(actual, expected, rel_tol=tolerance, abs_tol=tolerance):
        return ""
    return f"it is {actual!r}, not {expected!r} (tolerance {tolerance:g})"


def _first(items: Any, options: dict[str, Any]) -> str:
    for where, actual, expected in items:
        found = difference(actual, expected, options)
        if found:
            return f"{where}: {found}"
    return ""


def _frame_difference(pandas: Any, actual: Any, expected: Any, options: dict[str, Any]) -> str:
    if not isinstance(actual, pandas.DataFrame):
        return f"it is a {type(actual).__name__}, not a DataFrame"
    actual, expected = _ordered(actual, options), _ordered(expected, options)
    tolerance = float(options.get("tolerance", 1e-9))
    dtype = bool(options.get("check_dtype", False))
    try:
        pandas.testing.assert_frame_equal(
            actual,
            expected,
            check_dtype=dtype,
            check_index_type="equiv" if dtype else False,
            check_column_type="equiv" if dtype else False,
            check_names=not options.get("ignore_index", False),
            rtol=tolerance,
            atol=tolerance,
        )
    except AssertionError as error:
        return " ".join(str(error).split())[:500]
    return ""


def _ordered(frame: Any, options: dict[str, Any]) -> Any:
    if options.get("ignore_column_order"):
        frame = frame[sorted(frame.columns, key=str)]
    if options.get("ignore_row_order"):
        keys = frame.astype(str).agg("|".join, axis=1)
        frame = frame.loc[keys.sort_values(kind="stable").index]
    if options.get("ignore_index") or options.get("ignore_row_order"):
        frame = frame.reset_index(drop=True)
    return frame


def evaluate(expression: str) -> Any:
    """The value of an expression that may say ``pd`` and ``np``; the run's variables are not seen.

    A model could have given them other values.
    """
    space: dict[str, Any] = {}
    for name, module in (("pd", "pandas"), ("np", "numpy")):
        if name + "." in expression:
            space[name] = __import__(module)
    return eval(expression, space)


def fingerprints(variables: dict[str, Any]) -> dict[str, str]:
    """For each variable of a person a short text that is another one when its value is."""
    names = [name for name in variables if not name.startswith("_") and name not in HIDDEN]
    return {name: _fingerprint(variables[name]) for name in sorted(names)}


def _fingerprint(value: Any) -> str:
    pandas = sys.modules.get("pandas")
    if isinstance(value, types.ModuleType):
        return "module " + value.__name__
    if isinstance(value, types.FunctionType):
        code = value.__code__
        return "function " + _digest(repr((code.co_code, code.co_names, code.co_varnames)).encode())
    if pandas is not None and isinstance(value, (pandas.DataFrame, pandas.Series)):
        hashed = pandas.util.hash_pandas_object(value).values.tobytes()
        head = repr((list(getattr(value, "columns", [])), str(getattr(value, "dtypes", ""))))
        return type(value).__name__ + " " + _digest(head.encode() + hashed)
    try:
        return type(value).__name__ + " " + _digest(pickle.dumps(value, protocol=4))
    except Exception:  # whatever cannot be pickled is told by its type alone
        return type(value).__name__


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"
