"""Short texts for live objects: what a model needs of a table, an array or a model.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later. Its source is
sent to kernels that do not have cellwright. Nothing here copies a large object, and no code of
the object's own can break it: what raises is left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

__all__ = ["describe", "headline", "safe_repr"]

SCAN_LIMIT_CELLS = 400_000
"""Tables with more cells than this are sampled."""
SCAN_SECONDS = 0.2
COLUMN_LIMIT = 60
ROOMY_COLUMNS = 8
"""Tables this narrow get more about each column."""
NAME_LIMIT = 24
REPR_LIMIT = 1_000
SHALLOW_LIMIT = 20
"""With so little room left a container inside a container is only counted."""


def safe_repr(value: Any, limit: int = REPR_LIMIT) -> str:
    """The ``repr``, cut to ``limit`` characters; of what raises, the reason."""
    try:
        if _is_environment(value):
            # Its values are the person's keys and passwords.
            text = f"environ of {len(value)} names: {', '.join(map(str, sorted(value)))}"
        elif isinstance(value, (str, bytes)) and len(value) > limit:
            text = repr(value[:limit]) + "…"
        else:
            text = _container_repr(value, limit) or repr(value)
    except Exception as error:
        return f"<{type(value).__name__} object; its repr raises {type(error).__name__}>"
    return cut(text, limit)


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and a mark."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def headline(value: Any) -> str:
    """Shape, length or a short value, in one line."""
    try:
        return _headline(value)
    except Exception as error:
        return f"(cannot be looked at: {type(error).__name__})"


def describe(value: Any) -> str:
    """A compact text: for a table its columns, for an array its range, else the ``repr``."""
    try:
        return "\n".join(_describe(value))
    except Exception:
        return f"{type(value).__name__}: {safe_repr(value)}"


def kind(value: Any) -> str:
    """What sort of thing it is, without importing the library it is from."""
    cls = type(value)
    origin, name = cls.__module__.partition(".")[0], cls.__name__
    if name in ("DataFrame", "Series") and origin in ("pandas", "polars", "geopandas"):
        return ("polars " if origin == "polars" else "") + name
    if name == "GeoDataFrame" or _is_frame(cls):
        return "DataFrame"
    if name == "ndarray" and origin in ("numpy", "cupy"):
        return "ndarray"
    if name == "Figure" and origin == "matplotlib":
        return "Figure"
    if origin == "torch" and hasattr(value, "shape"):
        return "tensor"
    return ""


def _is_environment(value: Any) -> bool:
    cls = type(value)
    return (cls.__module__, cls.__name__) == ("os", "_Environ")


def _is_frame(cls: type) -> bool:
    parents = [(parent.__module__.partition(".")[0], parent.__name__) for parent in cls.__mro__]
    return ("pandas", "DataFrame") in parents


def _container_repr(value: Any, limit: int) -> str:
    """Of a built-in container the first items: its own ``repr`` could take minutes."""
    if type(value) not in (list, tuple, set, frozenset, dict):
        return ""
    first = list(itertools.islice(value.items() if isinstance(value, dict) else value, 12))
    if len(value) <= 12 and all(_is_plain(item) for item in first):
        return ""
    if limit <= SHALLOW_LIMIT:
        return f"{type(value).__name__} of {len(value)}"
    share = max(SHALLOW_LIMIT, limit // 12)
    shown = [_item(item, share, pair=isinstance(value, dict)) for item in first]
    more = ", …" if len(value) > len(shown) else ""
    return f"{type(value).__name__} of {len(value)}: {', '.join(shown)}{more}"


def _is_plain(item: Any) -> bool:
    if isinstance(item, tuple):
        return all(_is_plain(part) for part in item)
    return item is None or (isinstance(item, (int, float, str, bytes)) and len(str(item)) < 200)


def _item(item: Any, share: int, *, pair: bool) -> str:
    if pair:
        return f"{safe_repr(item[0], share)}: {_item(item[1], share, pair=False)}"
    if kind(item):
        return f"<{type(item).__name__} {headline(item)}>"
    return safe_repr(item, share)


def _headline(value: Any) -> str:
    what = kind(value)
    if what.endswith("DataFrame"):
        return f"{value.shape[0]} rows x {value.shape[1]} columns"
    if what.endswith("Series"):
        return f"{len(value)} values, {value.dtype}"
    if what in ("ndarray", "tensor"):
        return f"shape {tuple(value.shape)}, {value.dtype}"
    if isinstance(value, (list, tuple, set, frozenset, dict)) and len(value) > 6:
        return f"{len(value)} items"
    if callable(value) and hasattr(value, "__name__"):
        return _signature(value)
    return cut(" ".join(safe_repr(value, 200).split()), 80)


def _signature(function: Any) -> str:
    import inspect

    try:
        return cut(f"{function.__name__}{inspect.signature(function)}", 80)
    except (TypeError, ValueError):
        return str(function.__name__)


def _describe(value: Any) -> Iterator[str]:
    what = kind(value)
    if what == "DataFrame":
        yield from _pandas_frame(value)
    elif what == "polars DataFrame":
        yield from _polars_frame(value)
    elif what.endswith("Series"):
        yield f"Series {_headline(value)}{_named(value)}"
        yield _column_text(value, _deadline(), roomy=True)
    elif what == "ndarray":
        yield from _array(value)
    elif what == "Figure":
        yield from _figure(value)
    elif isinstance(value, dict):
        yield from _mapping(value)
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield from _sequence(value)
    else:
        yield from _anything(value)


def _anything(value: Any) -> Iterator[str]:
    size = f" of {len(value)} characters" if isinstance(value, (str, bytes)) else ""
    yield f"{type(value).__name__}{size}: {safe_repr(value)}"
    if callable(value) and hasattr(value, "__name__"):
        yield _signature(value)
        documentation = getattr(value, "__doc__", None)
        if isinstance(documentation, str) and documentation.strip():
            yield cut(documentation.strip().splitlines()[0], 160)


def _deadline() -> float:
    return time.monotonic() + SCAN_SECONDS


def _named(series: Any) -> str:
    return f", name {safe_repr(series.name, 60)}" if series.name is not None else ""


def _pandas_frame(frame: Any) -> Iterator[str]:
    rows, columns = frame.shape
    index = type(frame.index).__name__
    labelled = "" if index == "RangeIndex" else f", index {_index_text(frame.index)}"
    step = max(1, rows * min(columns, COLUMN_LIMIT) // SCAN_LIMIT_CELLS)
    sampled = f" (ranges from every {step}th row)" if step > 1 else ""
    yield f"{type(frame).__name__} {rows} rows x {columns} columns{labelled}{sampled}"
    roomy = columns <= ROOMY_COLUMNS
    if rows:
        numbers = "numbers: min/median/max; text: unique values" if roomy else "min..max; unique"
        yield f"({numbers}: most frequent)"
    until = _deadline()
    for place in range(min(columns, COLUMN_LIMIT)):
        column = frame.iloc[:, place]
        name = cut(str(frame.columns[place]), NAME_LIMIT)
        text = _column_text(column.iloc[::step], until, roomy=roomy)
        yield f"{name} {text}"
    if columns > COLUMN_LIMIT:
        rest = ", ".join(str(name) for name in frame.columns[COLUMN_LIMIT : COLUMN_LIMIT + 60])
        yield f"{columns - COLUMN_LIMIT} more columns: {cut(rest, 600)}"


def _polars_frame(frame: Any) -> Iterator[str]:
    yield f"polars DataFrame {frame.shape[0]} rows x {frame.shape[1]} columns"
    step = max(1, frame.shape[0] * min(frame.shape[1], COLUMN_LIMIT) // SCAN_LIMIT_CELLS)
    until = _deadline()
    for name in frame.columns[:COLUMN_LIMIT]:
        column = frame.get_column(name).gather_every(step)
        text = _column_text(column, until, roomy=frame.shape[1] <= ROOMY_COLUMNS)
        yield f"{cut(name, NAME_LIMIT)} {text}"


def _index_text(index: Any) -> str:
    if not len(index):
        return str(type(index).__name__)
    name = f"{index.name} " if getattr(index, "name", None) is not None else ""
    return f"{name}{_scalar(index[0])}..{_scalar(index[-1])}"


def _column_text(column: Any, until: float, *, roomy: bool) -> str:
    """Type, missing values and range of one column, in a few words."""
    kind_of_values = _short_type(str(column.dtype))
    if time.monotonic() > until:
        return kind_of_values
    try:
        return " ".join([kind_of_values, *_column_facts(column, kind_of_values, roomy)])
    except Exception:
        return kind_of_values


def _column_facts(column: Any, kind_of_values: str, roomy: bool) -> Iterator[str]:
    is_polars = hasattr(column, "null_count")
    missing = int(column.null_count() if is_polars else column.isna().sum())
    if missing:
        yield f"NA={missing}"
    if missing == len(column):
        return
    if kind_of_values.startswith(("int", "uint", "float", "f8", "i8", "complex", "Int", "Float")):
        yield _number_range(column, roomy)
    elif kind_of_values.startswith(("date", "timedelta", "Date", "time")):
        yield _time_range(column)
    else:
        yield from _frequent(column, is_polars, roomy)


def _number_range(column: Any, roomy: bool) -> str:
    if not roomy:
        return f"{_scalar(column.min(), 3)}..{_scalar(column.max(), 3)}"
    return "/".join(_scalar(x) for x in (column.min(), column.median(), column.max()))


def _time_range(column: Any) -> str:
    first, last = (_scalar(value) for value in (column.min(), column.max()))
    days = [text.partition(" ")[0] for text in (first, last)]
    if all(len(day) == len("2024-01-31") for day in days) and days[0] != days[1]:
        first, last = days  # the time of day says little of a range of days
    return f"{first}..{last}"


def _frequent(column: Any, is_polars: bool, roomy: bool) -> Iterator[str]:
    values = column.to_list() if is_polars else column.tolist()
    counts: dict[Any, int] = {}
    for value in values:
        if isinstance(value, (list, dict, set)):
            yield safe_repr(value, 40)
            return
        counts[value] = counts.get(value, 0) + 1
    top = sorted(counts.items(), key=lambda pair: -pair[1])
    shown = 4 if roomy else 2
    width = 20 if roomy else 10
    if top and top[0][1] == 1 and len(top) > shown:
        yield f"all different: {cut(str(top[0][0]), width)}, …"
        return
    known = ", ".join(cut(str(value), width) for value, _ in top[:shown])
    yield f"{len(top)}: {known}{', …' if len(top) > shown else ''}"


def _short_type(name: str) -> str:
    short = {"string": "str", "String": "str", "float64": "float", "int64": "int"}
    if name.startswith("datetime64"):
        return "date"
    return short.get(name, name.partition("[")[0].partition("(")[0])


def _scalar(value: Any, places: int = 4) -> str:
    """A number with the few digits that count, a date without an empty time."""
    if isinstance(value, float):
        return f"{value:.{places}g}"
    text = str(value)
    if text.endswith(" 00:00:00"):
        text = text[: -len(" 00:00:00")]
    return cut(text, 24)


def _array(array: Any) -> Iterator[str]:
    yield f"ndarray shape {tuple(array.shape)}, {array.dtype}"
    if not array.size or array.dtype.kind not in "biuf":
        yield safe_repr(array.reshape(-1)[:6].tolist(), 200)
        return
    flat = array.reshape(-1) if array.flags["C_CONTIGUOUS"] else array.flat[:SCAN_LIMIT_CELLS]
    step = max(1, flat.size // SCAN_LIMIT_CELLS)
    seen = flat[::step]
    missing = int((seen != seen).sum())
    fine = seen[seen == seen]
    if fine.size:
        mean = _scalar(float(fine.mean()))
        gaps = f", NaN {missing}" if missing else ""
        sampled = f" (of every {step}th value)" if step > 1 else ""
        low, high = _scalar(fine.min().item()), _scalar(fine.max().item())
        yield f"min {low}, mean {mean}, max {high}{gaps}{sampled}"
    yield f"first: {', '.join(_scalar(value) for value in seen[:6].tolist())}"


def _figure(figure: Any) -> Iterator[str]:
    yield f"Figure with {len(figure.axes)} axes"
    for axes in figure.axes[:6]:
        labels = f"title {axes.get_title()!r}, x {axes.get_xlabel()!r}, y {axes.get_ylabel()!r}"
        drawn = {
            "lines": axes.lines,
            "patches": axes.patches,
            "collections": axes.collections,
            "images": axes.images,
        }
        counts = ", ".join(f"{len(found)} {name}" for name, found in drawn.items() if len(found))
        yield f"{labels}: {counts or 'empty'}"


def _mapping(mapping: Any) -> Iterator[str]:
    yield f"{type(mapping).__name__} of {len(mapping)}"
    for key, item in itertools.islice(mapping.items(), 12):
        yield f"{safe_repr(key, 60)}: {type(item).__name__} {headline(item)}"
    if len(mapping) > 12:
        yield f"… {len(mapping) - 12} more"


def _sequence(sequence: Any) -> Iterator[str]:
    types: dict[str, int] = {}
    for item in itertools.islice(sequence, 10_000):
        types[type(item).__name__] = types.get(type(item).__name__, 0) + 1
    mixed = ", ".join(f"{name} x {count}" for name, count in sorted(types.items())[:6])
    yield f"{type(sequence).__name__} of {len(sequence)} ({mixed})"
    for item in itertools.islice(sequence, 6):
        yield f"- {cut(headline(item), 100)}"
    if len(sequence) > 6:
        yield f"… {len(sequence) - 6} more"
