"""When DSEval calls two values equal: its rules, which its verdicts depend on, and not ours.

This source is sent to the kernel that the agent never touched: pandas and numpy are there.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, NamedTuple  # noqa: UP035  # kernels may have Python 3.8

RULES: dict[str, Any] = {
    "ignore_order": False,
    "ignore_index": False,
    "ignore_names": False,
    "ignore_dtypes": False,
    "match_partial": False,
    "value_only": False,
    "type_only": False,
    "strict_type": False,
    "atol": 1e-8,
    "rtol": 1e-5,
    "metrictol": None,
}
LOOSE = {"ignore_order": True, "ignore_names": True, "ignore_dtypes": True, "match_partial": True}


class Match(NamedTuple):
    """Whether two values are equal, and what there is to say of it."""

    equal: bool
    note: str = ""


Comparison = Callable[[Any, Any], Match]


def _pandas() -> Any:
    return __import__("pandas")


def _numpy() -> Any:
    return __import__("numpy")


def run_code(code: str, name: str) -> Any:
    """What a piece of code in a DSEAL file defines under ``name``; empty: the value it has."""
    space = {"pd": _pandas(), "np": _numpy(), "random": __import__("random"), "type": _type_of}
    if not name:
        return eval(code, space)
    exec(code, space)
    return space[name]


def _type_of(value: Any) -> Any:
    """``type``; of an object of the agent's, which is in another kernel, that of its library."""
    return value.__class__


def comparison(given: Any, is_loose: bool = False) -> Comparison:
    """How two values are compared.

    Args:
        given: Rules, code that defines ``compare_fn``, or None.
        is_loose: What is told apart is forgiven: order, names, types, more than was asked for.

    Raises:
        ValueError: A rule is not known.
    """
    if isinstance(given, str):
        own = run_code(given, "compare_fn")
        return lambda expected, found: _told(own(expected, found))
    rules = {**RULES, **(given or {}), **(LOOSE if is_loose else {})}
    unknown = sorted(set(rules) - set(RULES))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no rule of a comparison")
    return lambda expected, found: compare(expected, found, rules)


def _told(found: Any) -> Match:
    return Match(bool(found["match"]), str(found["reason"]))


def compare(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    """Whether ``found`` is ``expected``, by these rules."""
    if rules["type_only"]:
        return _match(expected, found, rules)
    if rules["value_only"]:
        expected, found = _stripped(expected), _stripped(found)
    if rules["ignore_names"] and not _have_same_columns(expected, found):
        # The names are given before the parts are looked through as well.
        found = _renamed(expected, found)
    whole = _match(expected, found, rules)
    if whole.equal or not rules["match_partial"]:
        return whole
    part = _partly(expected, found, rules)
    return part if part.equal else whole


def _stripped(value: Any) -> Any:
    """Plain lists; of one item, the item."""
    pandas, numpy = _pandas(), _numpy()
    if isinstance(value, pandas.DataFrame):
        value = value.to_numpy().tolist()
    elif isinstance(value, (numpy.ndarray, pandas.Series, pandas.Index)):
        value = value.tolist()
    if isinstance(value, (list, tuple, set)):
        value = [_stripped(item) for item in value]
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _match(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    if rules["type_only"]:
        same = expected.__class__ is found.__class__  # of the agent's objects, that of a library
        return Match(same, "" if same else _types("Wrong type", expected, found))
    for kinds, matcher in _matchers():
        if isinstance(expected, kinds) or isinstance(found, kinds):
            if isinstance(expected, kinds) and isinstance(found, kinds):
                matched: Match = matcher(expected, found, rules)
                return matched
            return Match(False, _types("Wrong type", expected, found))
    try:
        same = bool(expected == found)
    except Exception:  # whatever the values' own comparison raises
        return Match(False, "The two cannot be compared.")
    return Match(same, "" if same else f"Wrong value: {expected!r:.300} vs. {found!r:.300}")


def _matchers() -> list[tuple[Any, Any]]:
    """Kinds of values in the order in which they are tried, each with what compares it."""
    pandas, numpy = _pandas(), _numpy()
    sparse = getattr(sys.modules.get("scipy.sparse"), "csr_matrix", ())
    return [
        ((bool, numpy.bool_), _same_value),
        ((float, int, numpy.number), _numbers),
        (numpy.ndarray, _arrays),
        (sparse, _sparse),
        ((pandas.DataFrame, pandas.Series, pandas.Index), _tables),
        ((list, tuple, dict, set), _containers),
    ]


def _types(what: str, expected: Any, found: Any) -> str:
    return f"{what}: {type(expected).__name__} vs. {type(found).__name__}"


def _same_value(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    same = bool(expected == found)
    return Match(same, "" if same else f"Wrong value: {expected} vs. {found}")


def _numbers(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    share = rules["metrictol"]
    if share is not None:
        enough = bool(found >= expected * share)
        return Match(enough, f"Metric {'high enough' if enough else 'too low'}: {found}")
    same = bool(_numpy().isclose(found, expected, rtol=rules["rtol"], atol=rules["atol"]))
    return Match(same, "" if same else f"Wrong value: {expected} vs. {found}")


def _arrays(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    numpy = _numpy()
    if rules["strict_type"] and expected.dtype != found.dtype:
        return Match(False, f'Attribute "dtype" are different: {expected.dtype}, {found.dtype}')
    if expected.shape != found.shape:
        return Match(False, f"shape mismatch: {expected.shape} vs. {found.shape}")
    if all(numpy.issubdtype(array.dtype, numpy.floating) for array in (expected, found)):
        tolerances = {"rtol": rules["rtol"], "atol": rules["atol"]}
        same = bool(numpy.allclose(found, expected, equal_nan=True, **tolerances))
    else:
        same = bool(numpy.array_equal(expected, found))
    return Match(same, "" if same else "Wrong value: the arrays are not equal")


def _sparse(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    numpy = _numpy()
    if expected.shape != found.shape or len(expected.indices) != len(found.indices):
        return Match(False, f"shape mismatch: {expected.shape} vs. {found.shape}")
    same = (
        numpy.allclose(expected.data, found.data, rtol=rules["rtol"], atol=rules["atol"])
        and numpy.array_equal(expected.indices, found.indices)
        and numpy.array_equal(expected.indptr, found.indptr)
    )
    return Match(bool(same), "" if same else "Wrong value: the sparse matrices are not equal")


def _tables(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    pandas = _pandas()
    kinds = [k for k in (pandas.DataFrame, pandas.Series, pandas.Index) if isinstance(expected, k)]
    if not isinstance(found, kinds[0]):
        return Match(False, _types("Mismatched type", expected, found))
    if rules["ignore_names"]:
        found = _renamed(expected, found)
    if rules["ignore_order"] or rules["ignore_index"]:
        if kinds[0] is pandas.DataFrame and not _have_same_columns(expected, found):
            return Match(False, "columns are different")
        expected, found = _in_order(expected, found, rules)
    if rules["ignore_dtypes"]:
        found = _cast(expected, found)
    return _tested(expected, found, kinds[0].__name__)


def _have_same_columns(expected: Any, found: Any) -> bool:
    frame = _pandas().DataFrame
    if not (isinstance(expected, frame) and isinstance(found, frame)):
        return False
    return set(expected.columns.tolist()) == set(found.columns.tolist())


def _renamed(expected: Any, found: Any) -> Any:
    """``found`` with the names of ``expected``, where there are as many."""
    pandas = _pandas()
    frames = isinstance(expected, pandas.DataFrame) and isinstance(found, pandas.DataFrame)
    if not frames and not (
        isinstance(expected, pandas.Series) and isinstance(found, pandas.Series)
    ):
        return found
    if _have_same_columns(expected, found):
        found = found[expected.columns.tolist()]
    with contextlib.suppress(Exception):
        if found.index.shape == expected.index.shape:
            found = found.rename_axis(expected.index.names)
    with contextlib.suppress(Exception):
        if not frames:
            found = found.rename(expected.name)
        elif len(found.columns) == len(expected.columns):
            pairs = zip(found.columns.tolist(), expected.columns.tolist())  # noqa: B905
            found = found.rename(columns=dict(pairs))
    return found


def _in_order(expected: Any, found: Any, rules: dict[str, Any]) -> tuple[Any, Any]:
    pandas = _pandas()
    if isinstance(expected, pandas.DataFrame):
        columns = expected.columns.tolist()
        pair = [expected.reset_index(drop=True), found[columns].reset_index(drop=True)]
        if rules["ignore_order"]:
            pair = [table.sort_values(by=columns).reset_index(drop=True) for table in pair]
        return pair[0], pair[1]
    if isinstance(expected, pandas.Series):
        expected, found = expected.reset_index(drop=True), found.reset_index(drop=True)
        if rules["ignore_order"]:
            with contextlib.suppress(Exception):
                expected = expected.sort_values().reset_index(drop=True)
                found = found.sort_values().reset_index(drop=True)
    return expected, found


def _cast(expected: Any, found: Any) -> Any:
    pandas = _pandas()
    with contextlib.suppress(Exception):
        if isinstance(expected, pandas.DataFrame):
            return found.astype(expected.dtypes.to_dict())
        if isinstance(expected, pandas.Series):
            return found.astype(expected.dtype)
    return found


def _tested(expected: Any, found: Any, kind: str) -> Match:
    test = getattr(_pandas().testing, f"assert_{kind.replace('DataFrame', 'Frame').lower()}_equal")
    try:
        test(expected, found)
    except AssertionError as error:
        return Match(False, str(error)[:2_000])
    except Exception as error:  # the test itself cannot tell
        same = bool(expected.equals(found))
        return Match(same, "" if same else f"The {kind}s are not equal: {error!r:.300}")
    return Match(True)


def _containers(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        return _sequences(expected, found, rules)
    if isinstance(expected, dict) and isinstance(found, dict):
        return _mappings(expected, found, rules)
    if isinstance(expected, set) and isinstance(found, set):
        return _same_value(expected, found, rules)
    return Match(False, _types("Mismatched type", expected, found))


def _sequences(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    if len(expected) != len(found):
        return Match(False, f"Length mismatch: {len(expected)} vs. {len(found)}")
    if rules["ignore_order"]:
        expected, found = (
            sorted(items, key=lambda item: (str(type(item)), item)) for items in (expected, found)
        )
    return _each(range(len(expected)), expected, found, rules)


def _mappings(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    if rules["ignore_index"]:
        if len(expected) != len(found):
            return Match(False, f"Length mismatch: {len(expected)} vs. {len(found)}")
        return _each(expected, expected.values(), found.values(), rules)
    if sorted(expected) != sorted(found):
        return Match(False, f"Keys mismatch: {list(expected)!r:.300} vs. {list(found)!r:.300}")
    return _each(expected, expected.values(), [found[key] for key in expected], rules)


def _each(places: Any, expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    for place, one, other in zip(places, expected, found):  # noqa: B905  # Python 3.8 as well
        matched = _match(one, other, rules)
        if not matched.equal:
            return Match(False, f"Element {place!r} is not equal: {matched.note}")
    return Match(True)


def _partly(expected: Any, found: Any, rules: dict[str, Any]) -> Match:
    """Whether what is expected is somewhere in a table that holds more."""
    for place, part in _parts(expected, found):
        wanted = _pandas().Series(expected) if isinstance(expected, list) else expected
        if _match(wanted, part, rules).equal:
            return Match(True, f"It is in {place}.")
    return Match(False)


def _parts(expected: Any, found: Any) -> Any:
    """Parts of a table, each with where it is from."""
    pandas = _pandas()
    is_table = isinstance(expected, pandas.DataFrame)
    is_column = isinstance(expected, (pandas.Series, list))
    if isinstance(found, pandas.DataFrame):
        with contextlib.suppress(Exception):
            found = found.reset_index() if is_table else found
        names = found.columns.tolist()
        if is_table:
            wanted = expected.columns.tolist()
            if names != wanted and all(name in names for name in wanted):
                yield f"the columns {wanted!r}", found[expected.columns]
        elif is_column:
            for name in names:
                yield f"the column {name!r}", found[name]
            yield "the index", pandas.Series(found.index)
    elif isinstance(found, pandas.Series) and is_column:
        yield "the index", pandas.Series(found.index)
        yield "the values", pandas.Series(found.values)
    elif isinstance(found, pandas.Series) and is_table:
        yield "the series as a table", found.to_frame()
