"""Hold what there is against what there should be, both as data (see ``value_data``).

Nothing of a kernel takes part: the data is compared here, where no code of an agent has run.

How an analyst compares: whole numbers, texts, ids and days are equal or not; where one of two
numbers has decimals, they may differ by a billionth of what is expected, so a small p-value is not
zero.
A missing value is a missing value, whichever library calls it so. A day is midnight of that day.
How a value is stored (dtype, categories) counts where it is asked for.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from cellwright.bench.value_data import LARGEST_COUNT, unpack

USUAL_TOLERANCE = 1e-9
ABSOLUTE, RELATIVE = ("tolerance", "absolute_tolerance"), ("relative_tolerance",)
TOLERANCES = (*ABSOLUTE, *RELATIVE)
FLAGS = (
    "check_dtype",
    "check_categories",
    "ignore_row_order",
    "ignore_column_order",
    "ignore_index",
    "ignore_names",
)
VALUE_OPTIONS = (*TOLERANCES, *FLAGS)
SEQUENCES = ("list", "tuple", "array", "column", "index")
TABLES = ("frame", "series")
NAMES = {
    **{"frame": "DataFrame", "series": "Series", "index": "Index", "array": "array"},
    **{"numpy": "number", "missing": "missing value", "decimal": "Decimal"},
}
SHORT = 200
HUGE = re.compile(r"[eE][+-]?\d{5}")
"""``Decimal("1e999999999")`` is written in a moment, and as a fraction fills the memory."""

Options = Mapping[str, Any]


def check_options(options: Options, known: Iterable[str] = VALUE_OPTIONS) -> None:
    """Refuse options that mean nothing, or two things.

    Raises:
        ValueError: One is not known, is no number, or there are two tolerances.
    """
    for name in options:
        if name not in known:
            raise ValueError(unknown_name(name, known))
    given = [name for name in TOLERANCES if options.get(name) is not None]
    if len(given) > 1:
        raise ValueError(f"it has {given[0]} and {given[1]}: a difference is one or the other")
    for name in given:
        value = options[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
            raise ValueError(f"{name} is {value!r}, not a number from 0 on")


def unknown_name(name: Any, known: Iterable[str], noun: str = "key") -> str:
    """What to say of a name that is not known, with the one that may be meant."""
    names = sorted(known)
    near = difflib.get_close_matches(str(name), names, 1)
    meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
    return f"{name!r} is no {noun}; {meant}"


def difference(actual: Any, expected: Any, options: Options) -> str:
    """In what the two differ, in words; empty: they are equal.

    Args:
        actual: What there is, as data.
        expected: What there should be, as data.
        options: Some of ``VALUE_OPTIONS``; ``default_tolerance`` is relative.
    """
    return _difference(unpack(actual), unpack(expected), options)


def _difference(actual: Any, expected: Any, options: Options) -> str:
    actual, expected = _unboxed(actual, options), _unboxed(expected, options)
    kind = _kind(expected)
    if kind in TABLES:
        return _table_difference(actual, expected, options)
    if kind in SEQUENCES:
        return _sequence_difference(actual, expected, options)
    if kind in ("set", "frozenset"):
        return _set_difference(actual, expected, options)
    if kind == "dict":
        return _dict_difference(actual, expected, options)
    return _scalar_difference(actual, expected, options)


def _kind(data: Any) -> str:
    return str(data["kind"]) if isinstance(data, dict) else type(data).__name__


def _unboxed(data: Any, options: Options) -> Any:
    """The number in a number of numpy, where its dtype does not count; a sparse matrix in full."""
    if _kind(data) == "numpy" and not options.get("check_dtype"):
        return data["value"]
    return _in_full(data) if _kind(data) == "sparse" else data


def _in_full(data: Any) -> Any:
    """A sparse matrix as the array that it stands for; one that is too large is no data."""
    rows, columns = data["shape"]
    if rows * columns > LARGEST_COUNT:
        return {"kind": "object", "role": "", "type": f"{data['name']} of {rows} x {columns}"}
    items: list[list[Any]] = [[0] * columns for _ in range(rows)]
    places = zip(*(place["items"] for place in data["places"]), strict=True)
    for (row, column), item in zip(places, data["items"]["items"], strict=True):
        items[row][column] = item
    return {"kind": "array", "dtype": data["dtype"], "shape": data["shape"], "items": items}


# Single values.


def _scalar_difference(actual: Any, expected: Any, options: Options) -> str:
    if is_missing(expected) or is_missing(actual):
        return "" if _are_both_missing(actual, expected) else _not(actual, expected)
    if _kind(expected) == "numpy" or _kind(actual) == "numpy":
        return _numpy_difference(actual, expected, options)
    found, wanted = _number(actual), _number(expected)
    if found is not None and wanted is not None:
        return "" if _is_near(found, wanted, options) else _not(actual, expected, options)
    if _kind(expected) in ("date", "datetime") and _kind(actual) in ("date", "datetime"):
        is_same = _instant(actual) == _instant(expected)
        is_same = is_same and (not options.get("check_dtype") or _kind(actual) == _kind(expected))
        return "" if is_same else _not(actual, expected)
    if _kind(expected) in ("object", "module"):
        return f"it should be {_short(expected)}, which is no data: nothing can be held against it"
    is_same = _kind(actual) == _kind(expected) and _worth(actual) == _worth(expected)
    return "" if is_same else _not(actual, expected)


def _numpy_difference(actual: Any, expected: Any, options: Options) -> str:
    """Where dtypes count."""
    kinds = [
        data["dtype"] if _kind(data) == "numpy" else _kind(data) for data in (actual, expected)
    ]
    if kinds[0] != kinds[1]:
        return f"it is a {kinds[0]}, not a {kinds[1]}"
    return _scalar_difference(actual["value"], expected["value"], options)


def is_missing(data: Any) -> bool:
    """Whether it stands for a value that is not there."""
    is_nan = isinstance(data, float) and math.isnan(data)
    return data is None or is_nan or _kind(data) == "missing"


def _are_both_missing(actual: Any, expected: Any) -> bool:
    """NaN, NaT and NA are one; None is another thing, but in tables."""
    if not (is_missing(actual) and is_missing(expected)):
        return False
    return (actual is None) == (expected is None)


def _number(data: Any) -> Fraction | float | None:
    """An exact number, or one with decimals; None: it is no number."""
    if isinstance(data, bool):
        return None
    if isinstance(data, (int, float)):
        return Fraction(data) if isinstance(data, int) else data
    if _kind(data) in ("int", "decimal", "fraction"):
        if HUGE.search(data["value"]):
            return None
        try:
            return Fraction(data["value"])
        except ValueError:  # Decimal has infinities and NaN
            return float(data["value"])
    return None


def _is_near(found: Fraction | float, wanted: Fraction | float, options: Options) -> bool:
    absolute = next((options[n] for n in ABSOLUTE if options.get(n) is not None), None)
    relative = next((options[n] for n in RELATIVE if options.get(n) is not None), None)
    is_exact = isinstance(found, Fraction) and isinstance(wanted, Fraction)
    if found == wanted:
        return True
    if is_exact and absolute is None and relative is None:
        return False
    one, other = float(found), float(wanted)
    if math.isnan(one) and math.isnan(other):
        return True
    if not (math.isfinite(one) and math.isfinite(other)):
        return False
    if absolute is not None:
        allowed = float(absolute)
    else:
        usual = options.get("default_tolerance", USUAL_TOLERANCE)
        allowed = float(usual if relative is None else relative) * abs(other)
    # A tolerance of 0.1 allows 1.1 for 1, whose difference is a little more in binary.
    return abs(one - other) <= allowed * (1 + 1e-9)


def _instant(data: Any) -> tuple[str, str, str, bool]:
    """Day, time and its decimals, and whether it is an instant of the world."""
    day, _, time = str(data["value"]).replace(" ", "T").partition("T")
    whole, _, part = (time or "00:00:00").partition(".")
    day += "-01" * (2 - day.count("-")) if not day.startswith("-") else ""
    whole += ":00" * (2 - whole.count(":"))
    return day, whole, part.rstrip("0"), bool(data.get("zone"))


def _worth(data: Any) -> Any:
    """What of it counts, as text."""
    if not isinstance(data, dict):
        return data
    if data["kind"] == "interval":
        text = data["value"]
        ends = [_end(part) for part in text[1:-1].split(",")]
        return [text[0], *ends, text[-1]]
    if data["kind"] in ("object", "module"):
        return object()  # equal to nothing
    left_out = ("is_plain", "zone")
    return {key: value for key, value in data.items() if key not in left_out}


def _end(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text.strip()


def key_of(data: Any) -> str:
    """A text that is the same for equal values: for sets, keys, and order."""
    data = data["value"] if _kind(data) == "numpy" else data
    if is_missing(data):
        return "missing"
    number = _number(data)
    if number is not None:
        is_whole = isinstance(number, Fraction) or (math.isfinite(number) and number == int(number))
        return f"number {Fraction(number) if is_whole else number!r}"
    if _kind(data) in ("date", "datetime"):
        return f"time {_instant(data)}"
    if _kind(data) in SEQUENCES:
        return f"items {[key_of(item) for item in _list(data)]}"
    return json.dumps(data, sort_keys=True)


# Several values.


def _list(data: Any) -> list[Any]:
    """The items of a sequence, whatever it is called."""
    if _kind(data) == "index" or _kind(data) == "series":
        return _list(data["data"])
    items: Any = data["items"]
    if "mask" in data:
        return [_masked(item, mask) for item, mask in _pairs(items, data["mask"])]
    if not isinstance(items, list):
        return [items]
    return [_nested(item) for item in items]


def _nested(item: Any) -> Any:
    """A row of an array is a list."""
    return {"kind": "list", "items": item} if isinstance(item, list) else item


def _masked(item: Any, mask: Any) -> Any:
    if isinstance(item, list):
        return {"kind": "array", "dtype": "", "items": item, "mask": mask}
    return {"kind": "missing", "which": "masked"} if mask else item


def _pairs(items: Any, mask: Any) -> Iterator[tuple[Any, Any]]:
    masks = mask if isinstance(mask, list) else [mask] * len(items)
    return zip(items, masks, strict=True)


def _sequence_difference(actual: Any, expected: Any, options: Options) -> str:
    if _kind(actual) not in (*SEQUENCES, "series"):
        return _not(actual, expected)
    if options.get("check_dtype") and _dtype(actual) != _dtype(expected):
        return f"its dtype is {_dtype(actual)}, not {_dtype(expected)}"
    found, wanted = _list(actual), _list(expected)
    if len(found) != len(wanted):
        return f"it has {len(found)} items, not {len(wanted)}"
    is_table = _kind(expected) in ("array", "column", "index")
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        told = (
            _cell_difference(one, other, options) if is_table else _difference(one, other, options)
        )
        if told:
            return f"item {number}: {told}"
    return ""


def _dtype(data: Any) -> str:
    found = data.get("data", data) if isinstance(data, dict) else {}
    return str(found.get("dtype", _kind(data)))


def _cell_difference(actual: Any, expected: Any, options: Options) -> str:
    """Of two values of a table, in which None is a missing value, too."""
    if is_missing(actual) and is_missing(expected):
        return ""
    return _difference(actual, expected, options)


def _set_difference(actual: Any, expected: Any, options: Options) -> str:
    if _kind(actual) not in ("set", "frozenset"):
        return _not(actual, expected)
    found, wanted = _in_order(actual), _in_order(expected)
    more: list[str] = []
    less: list[str] = []
    while found and wanted:
        one, other = found[-1], wanted[-1]
        if key_of(one) == key_of(other) or not _difference(one, other, options):
            found.pop()
            wanted.pop()
        elif _order(_parts(one)) > _order(_parts(other)):
            more.append(_short(found.pop()))
        else:
            less.append(_short(wanted.pop()))
    more += map(_short, found)
    less += map(_short, wanted)
    parts = [f"it has {', '.join(sorted(more)[:5])} besides"] if more else []
    parts += [f"it has no {', '.join(sorted(less)[:5])}"] if less else []
    return "; ".join(parts)


def _in_order(data: Any) -> list[Any]:
    """The items of a set, in an order that has numbers that are near in the same place."""
    items = {key_of(item): item for item in data["items"]}.values()
    return sorted(items, key=lambda item: _order(_parts(item)))


def _parts(item: Any) -> list[Any]:
    return _list(item) if _kind(item) in SEQUENCES else [item]


def _dict_difference(actual: Any, expected: Any, options: Options) -> str:
    if _kind(actual) != "dict":
        return _not(actual, expected)
    found, wanted = ({key_of(k): (k, v) for k, v in data["items"]} for data in (actual, expected))
    if set(found) != set(wanted):
        return f"its keys are {_cut(', '.join(sorted(_text(key) for key, _ in found.values())))}"
    for key, (name, value) in wanted.items():
        told = _difference(found[key][1], value, options)
        if told:
            return f"key {_short(name)}: {told}"
    return ""


# Tables.


def _table_difference(actual: Any, expected: Any, options: Options) -> str:
    if _kind(actual) != _kind(expected):
        return f"it is a {_name(actual)}, not a {_name(expected)}"
    if _kind(expected) == "series":
        actual, expected = _framed(actual), _framed(expected)
    has_labels = _has_labels(actual, expected, options)
    found, wanted = (_ordered(table, options, has_labels) for table in (actual, expected))
    for tell in (_shapes, _heads, *([_indexes] if has_labels else []), _cells):
        told = tell(found, wanted, options)
        if told:
            return _cut(told, 500)
    return ""


def _framed(series: Any) -> Any:
    """A table of one column; what the column is called does not count."""
    head = {"kind": "index", "names": [None], "data": {"dtype": "object", "items": ["value"]}}
    return {"kind": "frame", "columns": head, "index": series["index"], "data": [series["data"]]}


def _has_labels(found: Any, wanted: Any, options: Options) -> bool:
    """Whether the index counts: where rows may come in any order, 0, 1, 2 … is only their order."""
    if options.get("ignore_index"):
        return False
    index = wanted["index"]
    is_default = index.get("range") == [0, _rows(wanted), 1] and index["names"] == [None]
    if not options.get("ignore_row_order") or not is_default:
        return True
    keys = [sorted(map(key_of, table["index"]["data"]["items"])) for table in (found, wanted)]
    return keys[0] != keys[1]


def _rows(frame: Any) -> int:
    return len(frame["index"]["data"]["items"])


def _labels(frame: Any) -> list[Any]:
    items: list[Any] = frame["columns"]["data"]["items"]
    return items


def _shapes(found: Any, wanted: Any, options: Options) -> str:
    sizes = [(_rows(frame), len(frame["data"])) for frame in (found, wanted)]
    if sizes[0] == sizes[1]:
        return ""
    columns = [", ".join(_text(label) for label in _labels(frame)) for frame in (found, wanted)]
    told = f"its shape is {sizes[0]}, not {sizes[1]}"
    return told if columns[0] == columns[1] else f"{told}; its columns are {columns[0]}"


def _heads(found: Any, wanted: Any, options: Options) -> str:
    if list(map(key_of, _labels(found))) != list(map(key_of, _labels(wanted))):
        names = [", ".join(_text(label) for label in _labels(frame)) for frame in (found, wanted)]
        return f"its columns are {names[0]}, not {names[1]}"
    return _names(found["columns"], wanted["columns"], "its columns are", options)


def _names(found: Any, wanted: Any, what: str, options: Options) -> str:
    if options.get("ignore_names") or options.get("ignore_index"):
        return ""
    if list(map(key_of, found["names"])) == list(map(key_of, wanted["names"])):
        return ""
    names = [", ".join(_text(name) for name in index["names"]) for index in (found, wanted)]
    return f"{what} named {names[0]}, not {names[1]}"


def _indexes(found: Any, wanted: Any, options: Options) -> str:
    told = _names(found["index"], wanted["index"], "its index is", options)
    if told:
        return told
    told = _column_difference(found["index"]["data"], wanted["index"]["data"], options)
    return f"its index: {told}" if told else ""


def _cells(found: Any, wanted: Any, options: Options) -> str:
    for label, one, other in zip(_labels(wanted), found["data"], wanted["data"], strict=True):
        told = _column_difference(one, other, options)
        if told:
            return f"column {_short(label)}: {told}"
    return ""


def _column_difference(found: Any, wanted: Any, options: Options) -> str:
    if options.get("check_dtype") and found["dtype"] != wanted["dtype"]:
        return f"its dtype is {found['dtype']}, not {wanted['dtype']}"
    if options.get("check_categories") and _categories(found) != _categories(wanted):
        return f"its categories are {_categories(found)}, not {_categories(wanted)}"
    for number, pair in enumerate(zip(found["items"], wanted["items"], strict=True)):
        told = _cell_difference(*pair, options)
        if told:
            return f"row {number}: {told}"
    return ""


def _categories(column: Any) -> Any:
    if "categories" not in column:
        return None
    names = [_text(item) for item in column["categories"]]
    return names if column["ordered"] else sorted(names)


def _ordered(frame: Any, options: Options, has_labels: bool) -> Any:
    """The table with rows and columns in an order of ours, where theirs does not count."""
    places = list(range(len(frame["data"])))
    if options.get("ignore_column_order"):
        places.sort(key=lambda place: key_of(_labels(frame)[place]))
    data = [frame["data"][place] for place in places]
    head = _taken(frame["columns"]["data"], places)
    index = frame["index"]
    if options.get("ignore_row_order"):
        columns = [index["data"], *data] if has_labels else data
        rows = sorted(
            range(_rows(frame)),
            key=lambda row: _order([column["items"][row] for column in columns]),
        )
        data = [_taken(column, rows) for column in data]
        index = {**index, "data": _taken(index["data"], rows)}
    return {**frame, "columns": {**frame["columns"], "data": head}, "index": index, "data": data}


def _taken(column: Any, places: list[int]) -> Any:
    return {**column, "items": [column["items"][place] for place in places]}


def _order(cells: list[Any]) -> Any:
    """Numbers come last and by their size, those that are near by what stands beside them."""
    cells = [cell["value"] if _kind(cell) == "numpy" else cell for cell in cells]
    numbers = [None if is_missing(cell) else _number(cell) for cell in cells]
    others = [key_of(cell) for cell, number in zip(cells, numbers, strict=True) if number is None]
    known = [number for number in numbers if number is not None]
    exact = [number for number in known if isinstance(number, Fraction)]
    return others, [_rounded(number) for number in known], exact, known


def _rounded(number: Fraction | float) -> float:
    try:
        return float(f"{float(number):.8e}")
    except OverflowError:
        return math.inf if number > 0 else -math.inf


# Words.


def _not(actual: Any, expected: Any, options: Options | None = None) -> str:
    near = ""
    for name in TOLERANCES:
        if options and options.get(name) is not None:
            near = f" ({name} {options[name]:g})"
    shown = _short(actual) if not isinstance(actual, dict) or "value" in actual else _a(actual)
    return f"it is {shown}, not {_short(expected)}{near}"


def _name(data: Any) -> str:
    if _kind(data) == "object":
        return str(data["type"])
    return NAMES.get(_kind(data), _kind(data))


def _a(data: Any) -> str:
    told = _text(data)
    return told if _kind(data) in ("list", "tuple", "dict", "set", "missing") else f"a {told}"


def _text(data: Any) -> str:
    """A value as a person would write it."""
    if not isinstance(data, dict):
        return repr(data)
    kind = data["kind"]
    if kind == "object":
        return f"{data['type']} (no data)"
    if kind == "missing":
        return str(data["which"])
    if kind in ("int", "date", "time", "fraction", "interval", "period"):
        return str(data["value"])
    if "value" in data and kind != "numpy":
        zone = f" {data['zone']}" if data.get("zone") else ""
        return f"{kind} {data['value']}{zone}"
    if kind == "numpy":
        return f"{data['dtype']} {_text(data['value'])}"
    if kind in TABLES:
        return _name(data)
    if kind == "dict":
        return "{" + ", ".join(f"{_text(k)}: {_text(v)}" for k, v in data["items"][:20]) + "}"
    items = ", ".join(_text(item) for item in _list(data)[:50]) if "items" in data else ""
    return f"({items})" if kind == "tuple" else f"[{items}]" if kind == "list" else _name(data)


def _short(data: Any) -> str:
    return _cut(_text(data))


def _cut(text: str, size: int = SHORT) -> str:
    return text if len(text) <= size else text[:size] + "…"
