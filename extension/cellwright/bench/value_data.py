"""What a variable holds, as plain data, and a value made of such data again.

This source is sent to kernels (see ``ask_kernel``), which may have another Python and no
cellwright: nothing of ours is imported, and pandas and numpy only where they are loaded.

Data says what a value is worth, never how it behaves: an object of a class that is not known here
is told by its type alone, so one that calls itself equal to everything is equal to nothing.
"""

from __future__ import annotations

import ast
import base64
import datetime
import decimal
import fractions
import hashlib
import json
import pickle
import sys
import types
import zlib
from typing import Any, Callable  # noqa: UP035  # kernels may have Python 3.8

UTC = datetime.timezone.utc  # noqa: UP017  # datetime.UTC is not there before Python 3.11
LARGEST_COUNT = 4_000_000
"""So many numbers, texts and the like a value may hold."""
DEEPEST = 50
PACKED_FROM = 20_000
"""So many numbers are told as bytes: what a kernel says at a time has an end."""
PACKED = "?bBhHiIlLqQfd"
OBJECT = "object"
SAME = "same"
"""The item is an earlier one of its list."""
MASKED = "masked"
"""What numpy calls equal to whatever is expected where it is masked."""
PLAIN = (bool, int, float, str)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


class ValueTooLargeError(Exception):
    """A value holds too much to be carried."""


class ValueWriter:
    """Tells values as data that is fit for JSON.

    Args:
        kept: Gets the objects that are no data; their places in it are told.
        tells_same: Items that are one and the same are told so, for ``restore``.
    """

    def __init__(self, kept: list[Any] | None = None, *, tells_same: bool = False) -> None:
        self.kept: list[Any] = [] if kept is None else kept
        self._tells_same = tells_same
        self._left = LARGEST_COUNT

    def write(self, value: Any, depth: int = 0) -> Any:
        """The value as data.

        Raises:
            ValueTooLargeError: It holds too much, or itself.
        """
        self._take(1)
        if depth > DEEPEST:
            raise ValueTooLargeError(f"it is nested more than {DEEPEST} deep, or holds itself")
        if value is None or type(value) in (bool, float, str):
            return value
        if type(value) is int:
            return value if abs(value) < 2**53 else {"kind": "int", "value": str(value)}
        for write in (_write_array_value, _write_table, _write_scalar, _write_container):
            found = write(self, value, depth + 1)
            if found is not None:
                return found
        return self._write_object(value)

    def write_each(self, values: Any, depth: int) -> list[Any]:
        """Several values, in order."""
        return [self.write(value, depth) for value in values]

    def write_items(self, values: Any, depth: int) -> list[Any]:
        """The items of a list or tuple."""
        if not self._tells_same:
            return self.write_each(values, depth)
        places: dict[int, int] = {}
        found: list[Any] = []
        for place, value in enumerate(values):
            is_plain = value is None or isinstance(value, PLAIN)
            first = place if is_plain else places.setdefault(id(value), place)
            if first == place:
                found.append(self.write(value, depth))
            else:
                self._take(1)
                found.append({"kind": SAME, "place": first})
        return found

    def write_numbers(self, values: Any) -> Any:
        """Plain numbers of an array, nested as it is; many are packed."""
        self._take(int(values.size))
        is_plain = values.dtype.char in PACKED and values.dtype.isnative
        if values.size < PACKED_FROM or not is_plain:
            return values.tolist()
        packed = base64.b64encode(zlib.compress(values.tobytes(), 1)).decode()
        return {"packed": packed, "format": values.dtype.char, "shape": list(values.shape)}

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise ValueTooLargeError(f"it holds more than {LARGEST_COUNT} values")

    def _write_object(self, value: Any) -> Any:
        if isinstance(value, types.ModuleType):
            return {"kind": "module", "name": str(value.__name__)}
        self.kept.append(value)
        named = value if isinstance(value, FUNCTIONS) else type(value)
        is_bound = isinstance(value, types.MethodType)  # it is nowhere else what it is here
        return {
            "kind": OBJECT,
            "role": "function" if isinstance(value, FUNCTIONS) else "instance",
            "module": "" if is_bound else str(getattr(named, "__module__", "")),
            "name": str(getattr(named, "__qualname__", "")),
            "type": type(value).__name__,
            "place": len(self.kept) - 1,
        }


def _loaded(name: str, has: str) -> Any:
    """A library, where it is loaded and is not a file of that name in the folder."""
    module = sys.modules.get(name)
    return module if isinstance(module, types.ModuleType) and hasattr(module, has) else None


def _write_array_value(writer: ValueWriter, value: Any, depth: int) -> Any:
    numpy = _loaded("numpy", "ndarray")
    if numpy is None:
        return None
    if isinstance(value, numpy.ndarray):
        plain = numpy.asarray(value)
        missing = value.mask.tolist() if isinstance(value, numpy.ma.MaskedArray) else None
        found: dict[str, Any] = {
            "kind": "array",
            "dtype": str(plain.dtype if plain.dtype.names is None else plain.dtype.descr),
            "shape": list(plain.shape),
        }
        found["items"] = _items(writer, plain, depth)
        if isinstance(value, numpy.matrix):
            found["is_matrix"] = True
        return found if missing is None else {**found, "mask": missing}
    if isinstance(value, numpy.dtype):
        return {"kind": "dtype", "value": str(value)}
    if isinstance(value, numpy.generic):
        if value.dtype.kind in "mM":
            return _time(value)
        return {"kind": "numpy", "dtype": str(value.dtype), "value": writer.write(value.item())}
    is_sparse = type(value).__module__.startswith("scipy.sparse") and hasattr(value, "tocoo")
    return _write_sparse(writer, value, depth) if is_sparse else None


def _write_sparse(writer: ValueWriter, value: Any, depth: int) -> Any:
    """A sparse matrix by what is set in it, zeros too where they are."""
    parts = value.tocoo()
    return {
        "kind": "sparse",
        "name": type(value).__name__,
        "shape": [int(length) for length in value.shape],
        "dtype": str(value.dtype),
        "places": writer.write_each([parts.row, parts.col], depth),
        "items": writer.write(parts.data, depth),
    }


def _items(writer: ValueWriter, array: Any, depth: int) -> Any:
    if array.dtype.kind in "buif" and array.dtype.itemsize <= 8:
        return writer.write_numbers(array)
    if array.ndim == 0:
        return writer.write(array[()], depth)
    if array.ndim == 1:
        return writer.write_each(
            list(array) if array.dtype.names is None else array.tolist(), depth
        )
    return [_items(writer, part, depth) for part in array]


def _time(value: Any) -> Any:
    """An instant or a length of time of numpy."""
    text = str(value)
    if text == "NaT":
        return {"kind": "missing", "which": "NaT"}
    if value.dtype.kind == "M":
        return {"kind": "datetime", "value": text, "zone": ""}
    return {"kind": "timedelta", "value": str(value.astype("timedelta64[ns]").astype("int64"))}


def _write_table(writer: ValueWriter, value: Any, depth: int) -> Any:
    pandas = _loaded("pandas", "DataFrame")
    if pandas is None:
        return None
    if isinstance(value, pandas.DataFrame):
        return {
            "kind": "frame",
            "columns": _index(writer, value.columns, depth),
            "index": _index(writer, value.index, depth),
            "data": [
                _column(writer, value.iloc[:, place], depth) for place in range(value.shape[1])
            ],
        }
    if isinstance(value, pandas.Series):
        return {
            "kind": "series",
            "name": writer.write(value.name, depth),
            "index": _index(writer, value.index, depth),
            "data": _column(writer, value, depth),
        }
    if isinstance(value, pandas.Index):
        return _index(writer, value, depth)
    is_array = isinstance(value, (pandas.api.extensions.ExtensionArray, pandas.Categorical))
    return _column(writer, value, depth) if is_array else None


def _index(writer: ValueWriter, index: Any, depth: int) -> Any:
    names = writer.write_each(list(index.names), depth)
    found = {"kind": "index", "names": names, "data": _column(writer, index, depth)}
    if index.nlevels > 1:
        levels = [index.get_level_values(number) for number in range(index.nlevels)]
        found["levels"] = [_column(writer, level, depth) for level in levels]
    if type(index).__name__ == "RangeIndex":
        found["range"] = [int(index.start), int(index.stop), int(index.step)]
    if type(index).__name__ in ("DatetimeIndex", "TimedeltaIndex") and index.freq is not None:
        found["freq"] = str(index.freqstr)
    return found


def _column(writer: ValueWriter, values: Any, depth: int) -> Any:
    dtype = values.dtype
    if getattr(dtype, "kind", "O") in "buif" and type(dtype).__module__.startswith("numpy"):
        items = writer.write_numbers(values.to_numpy())
    else:
        items = writer.write_each(list(values), depth)
    found = {"kind": "column", "dtype": str(dtype), "items": items}
    if str(dtype) == "category":
        found["categories"] = writer.write_each(list(dtype.categories), depth)
        found["ordered"] = bool(dtype.ordered)
    return found


def _write_scalar(writer: ValueWriter, value: Any, depth: int) -> Any:
    pandas = _loaded("pandas", "DataFrame")
    if pandas is not None:
        if value is pandas.NaT:
            return {"kind": "missing", "which": "NaT"}
        if value is getattr(pandas, "NA", None):
            return {"kind": "missing", "which": "NA"}
        if isinstance(value, pandas.Period):
            return {"kind": "period", "value": str(value), "freq": value.freqstr}
        if isinstance(value, pandas.Interval):
            ends = writer.write_each([value.left, value.right], depth)
            return {"kind": "interval", "value": str(value), "ends": ends, "closed": value.closed}
        if isinstance(value, pandas.CategoricalDtype) and value.categories is not None:
            found = {"kind": "dtype", "value": "category", "ordered": bool(value.ordered)}
            return {**found, "categories": writer.write_each(list(value.categories), depth)}
        if isinstance(value, pandas.api.extensions.ExtensionDtype):
            return {"kind": "dtype", "value": str(value)}
    for kind, write in SCALARS:
        if isinstance(value, kind):
            return write(value)
    return None


def _write_datetime(value: Any) -> Any:
    plain = {"is_plain": True} if type(value) is datetime.datetime else {}
    if value.tzinfo is None:
        return {"kind": "datetime", "value": value.isoformat(), "zone": "", **plain}
    utc = value.astimezone(UTC).isoformat().replace("+00:00", "")
    return {"kind": "datetime", "value": utc, "zone": str(value.tzinfo) or "UTC", **plain}


def _write_length(value: Any) -> Any:
    plain = {"is_plain": True} if type(value) is datetime.timedelta else {}
    nanoseconds = (value.days * 86_400 + value.seconds) * 10**9 + value.microseconds * 1_000
    text = str(nanoseconds + getattr(value, "nanoseconds", 0))
    return {"kind": "timedelta", "value": text, **plain}


def _write_bytes(value: Any) -> Any:
    return {"kind": "bytes", "value": base64.b64encode(bytes(value)).decode()}


# Subclasses too: what a class of one's own makes of a number is left out, its worth is not.
SCALARS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (datetime.datetime, _write_datetime),
    (datetime.date, lambda value: {"kind": "date", "value": datetime.date.isoformat(value)}),
    (datetime.time, lambda value: {"kind": "time", "value": datetime.time.isoformat(value)}),
    (datetime.timedelta, _write_length),
    (decimal.Decimal, lambda value: {"kind": "decimal", "value": decimal.Decimal.__str__(value)}),
    (
        fractions.Fraction,
        lambda value: {"kind": "fraction", "value": fractions.Fraction.__str__(value)},
    ),
    (bytes, _write_bytes),
    (bytearray, _write_bytes),
    (int, lambda value: {"kind": "int", "value": int.__repr__(value)}),
    (float, lambda value: float.__float__(value)),
    (str, lambda value: str.__str__(value)),
    (
        complex,
        lambda value: {
            "kind": "complex",
            "real": complex.__complex__(value).real
            if sys.version_info >= (3, 11)
            else complex(value).real,
            "imag": complex(value).imag,
        },
    ),
)


def _write_container(writer: ValueWriter, value: Any, depth: int) -> Any:
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            iterate: Any = kind.__iter__  # a class of one's own may tell other items
            return {"kind": kind.__name__, "items": writer.write_items(iterate(value), depth)}
    if isinstance(value, dict):
        pairs = dict.items(value)
        return {"kind": "dict", "items": [writer.write_each(pair, depth) for pair in pairs]}
    if isinstance(value, range):
        return {"kind": "list", "items": writer.write_each(value, depth)}
    if isinstance(value, slice):
        ends = [value.start, value.stop, value.step]
        return {"kind": "slice", "ends": writer.write_each(ends, depth)}
    return None


# Back again, for a process that compares or tests such values.


def unpack(data: Any) -> Any:
    """The data with all its numbers as lists."""
    if isinstance(data, list):
        return [unpack(item) if isinstance(item, (list, dict)) else item for item in data]
    if not isinstance(data, dict):
        return data
    if "packed" in data:
        reader = zlib.decompressobj()
        numbers = reader.decompress(base64.b64decode(data["packed"]), LARGEST_COUNT * 8)
        return memoryview(numbers).cast(data["format"], data["shape"]).tolist()
    return {key: unpack(item) for key, item in data.items()}


def restore(data: Any, make_object: Callable[[Any], Any]) -> Any:
    """The value of such data.

    Args:
        data: What ``ValueWriter`` told.
        make_object: Makes something of what is no data, and of a masked array: its ``value``.
    """
    if not isinstance(data, dict):
        return data
    kind = data["kind"]
    if kind in ("object", "module"):
        return make_object(data)
    if kind in RESTORERS:
        return RESTORERS[kind](data)
    if kind in ("slice", "interval"):
        return _restore_span(data, make_object)
    if kind in ("list", "tuple", "set", "frozenset"):
        items = _restore_items(data["items"], make_object)
        return {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind](items)
    if kind == "dict":
        pairs = ((restore(k, make_object), restore(v, make_object)) for k, v in data["items"])
        return dict(pairs)
    if kind in ("array", "sparse"):
        return (_restore_array if kind == "array" else _restore_sparse)(data, make_object)
    if kind == "numpy":
        return __import__("numpy").dtype(data["dtype"]).type(restore(data["value"], make_object))
    return _restore_table(data, make_object)


def _restore_items(told: Any, make_object: Callable[[Any], Any]) -> list[Any]:
    items: list[Any] = []
    for data in told:
        is_same = isinstance(data, dict) and data["kind"] == SAME
        items.append(items[data["place"]] if is_same else restore(data, make_object))
    return items


def retell(value: Any) -> Any:
    """The value as it would be if it came out of another kernel, where it is data."""
    writer = ValueWriter()
    try:
        data = writer.write(value)
    except ValueTooLargeError:
        return value
    return value if writer.kept else restore(data, _own)


def _own(data: Any) -> Any:
    return data["value"] if data["kind"] == MASKED else sys.modules[data["name"]]


def _restore_datetime(data: Any) -> Any:
    if data.get("is_plain"):
        plain = datetime.datetime.fromisoformat(data["value"])
        return plain.replace(tzinfo=UTC) if data["zone"] else plain
    pandas = __import__("pandas")
    found = pandas.Timestamp(data["value"])
    if not data["zone"]:
        return found
    try:
        return found.tz_localize("UTC").tz_convert(data["zone"])
    except Exception:  # a zone of one's own, known nowhere else
        return found.tz_localize("UTC")


def _restore_length(data: Any) -> Any:
    if data.get("is_plain"):
        return datetime.timedelta(microseconds=int(data["value"]) // 1_000)
    return __import__("pandas").Timedelta(int(data["value"]), "ns")


def _restore_missing(data: Any) -> Any:
    return getattr(__import__("pandas"), data["which"])


def _restore_span(data: Any, make_object: Callable[[Any], Any]) -> Any:
    ends = [restore(end, make_object) for end in data["ends"]]
    if data["kind"] == "slice":
        return slice(*ends)
    return __import__("pandas").Interval(*ends, closed=data["closed"])


def _restore_period(data: Any) -> Any:
    return __import__("pandas").Period(data["value"], freq=data["freq"])


def _restore_dtype(data: Any) -> Any:
    if "categories" in data:
        categories = [restore(item, lambda _: None) for item in data["categories"]]
        return __import__("pandas").CategoricalDtype(categories, data["ordered"])
    return __import__("pandas").api.types.pandas_dtype(data["value"])


RESTORERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda data: int(data["value"]),
    "complex": lambda data: complex(data["real"], data["imag"]),
    "bytes": lambda data: base64.b64decode(data["value"]),
    "decimal": lambda data: decimal.Decimal(data["value"]),
    "fraction": lambda data: fractions.Fraction(data["value"]),
    "date": lambda data: datetime.date.fromisoformat(data["value"]),
    "time": lambda data: datetime.time.fromisoformat(data["value"]),
    "timedelta": _restore_length,
    "datetime": _restore_datetime,
    "missing": _restore_missing,
    "period": _restore_period,
    "dtype": _restore_dtype,
}


def _restore_array(data: Any, make_object: Callable[[Any], Any]) -> Any:
    numpy = __import__("numpy")
    text = data["dtype"]
    shape, dtype = data["shape"], numpy.dtype(ast.literal_eval(text) if text[0] == "[" else text)
    if dtype.kind in "buif" and dtype.itemsize <= 8:
        found = numpy.array(unpack(data["items"]), dtype=dtype).reshape(shape)
    else:
        # One by one: numpy would look into lists and arrays that are items.
        items = _leaves(data["items"], len(shape))
        held = numpy.empty(len(items), dtype=dtype if dtype.kind in "mM" else object)
        for place, item in enumerate(items):
            held[place] = _moment(item) if dtype.kind in "mM" else restore(item, make_object)
        found = held.astype(dtype).reshape(shape)
    if data.get("is_matrix"):
        return found.view(numpy.matrix)
    if "mask" not in data:
        return found
    masked = numpy.ma.array(found, mask=data["mask"])
    return make_object({"kind": MASKED, "role": "", "type": "masked array", "value": masked})


def _moment(data: Any) -> Any:
    """An instant or a length of time of numpy again, ``NaT`` too."""
    numpy = __import__("numpy")
    text = data.get("value", "NaT")
    return numpy.timedelta64(int(text), "ns") if data["kind"] == "timedelta" else text


def _leaves(items: Any, depth: int) -> list[Any]:
    """The items of an array of so many dimensions, in order."""
    if depth == 0:
        return [items]
    return [leaf for part in items for leaf in _leaves(part, depth - 1)]


SPARSE = tuple(
    f"{name}_{kind}"
    for name in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
    for kind in ("matrix", "array")
)


def _restore_sparse(data: Any, make_object: Callable[[Any], Any]) -> Any:
    sparse = __import__("scipy.sparse", fromlist=["sparse"])
    items, *places = (restore(part, make_object) for part in (data["items"], *data["places"]))
    if data["name"] not in SPARSE:
        return make_object({"kind": OBJECT, "role": "", "type": data["name"]})
    parts = sparse.coo_matrix((items, tuple(places)), shape=data["shape"], dtype=data["dtype"])
    return getattr(sparse, data["name"])(parts)


def _restore_table(data: Any, make_object: Callable[[Any], Any]) -> Any:
    pandas = __import__("pandas")
    if data["kind"] == "column":
        return _restore_column(data, make_object).array
    if data["kind"] == "index":
        names = [restore(name, make_object) for name in data["names"]]
        column = _restore_column(data["data"], make_object)
        if "levels" in data:
            levels = [_restore_column(level, make_object) for level in data["levels"]]
            return pandas.MultiIndex.from_arrays(levels, names=names)
        if "range" in data:
            return pandas.RangeIndex(*data["range"], name=names[0])
        # Of objects it would be guessed what they are.
        dtype = object if data["data"]["dtype"] == "object" else None
        found = pandas.Index(column, name=names[0], dtype=dtype, tupleize_cols=False)
        if "freq" in data:
            found.freq = data["freq"]
        return found
    index = restore(data["index"], make_object)
    if data["kind"] == "series":
        found = _restore_column(data["data"], make_object)
        found.index, found.name = index, restore(data["name"], make_object)
        return found
    columns = [_restore_column(column, make_object) for column in data["data"]]
    numbered = dict(enumerate(columns))
    frame = pandas.DataFrame(numbered, index=range(len(index)))
    frame.index, frame.columns = index, restore(data["columns"], make_object)
    return frame


def _restore_column(data: Any, make_object: Callable[[Any], Any]) -> Any:
    pandas = __import__("pandas")
    items = [restore(item, make_object) for item in unpack(data["items"])]
    if data["dtype"] == "category":
        categories = [restore(item, make_object) for item in data["categories"]]
        made = pandas.Categorical(items, categories=categories, ordered=data["ordered"])
        return pandas.Series(made)
    try:
        return pandas.Series(items, dtype=data["dtype"])
    except Exception:  # a kind of column that this process does not have
        return pandas.Series(items, dtype=object)


# What a kernel tells of itself where its variables, or those of a clean one, are asked for.


def evaluate(arguments: dict[str, Any], user: dict[str, Any]) -> Any:
    """The value of an expression, as data."""
    return ValueWriter().write(value_of(arguments["expression"]))


def value_of(expression: str) -> Any:
    """The value of an expression that may say ``pd`` and ``np``."""
    space: dict[str, Any] = {}
    for name, module in (("pd", "pandas"), ("np", "numpy")):
        if name + "." in expression:
            space[name] = __import__(module)
    return eval(expression, space)


HIDDEN = ("In", "Out", "get_ipython", "exit", "quit", "open")
LARGEST_ROWS = 100_000


def fingerprints(arguments: dict[str, Any], user: dict[str, Any]) -> dict[str, str]:
    """For each variable of a person a short text that is another one when its value is."""
    names = [name for name in user if not name.startswith("_") and name not in HIDDEN]
    return {name: _fingerprint(user[name]) for name in sorted(names)}


def _fingerprint(value: Any) -> str:
    try:
        state = _state(value, 0)
        text = json.dumps(state, sort_keys=True, default=str)
    except Exception as error:  # whatever cannot be read is told by its type alone
        text = type(error).__name__
    return f"{type(value).__name__} {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _state(value: Any, depth: int) -> Any:
    """Data of a value, and of what is no data the parts that make it what it is."""
    if depth > 4:
        return type(value).__name__
    kept: list[Any] = []
    data = _in_order(ValueWriter(kept).write(value))
    return [data, [_parts(one, depth + 1) for one in kept]]


def _in_order(data: Any) -> Any:
    """Sets have no order."""
    if isinstance(data, list):
        return [_in_order(item) for item in data]
    if not isinstance(data, dict):
        return data
    found = {key: _in_order(item) for key, item in data.items()}
    if data.get("kind") in ("set", "frozenset"):
        found["items"] = sorted(found["items"], key=lambda item: json.dumps(item, sort_keys=True))
    return found


def _parts(value: Any, depth: int) -> Any:
    if isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [
            _code(value.__code__),
            _state([value.__defaults__, value.__kwdefaults__, cells], depth),
        ]
    if isinstance(value, types.GeneratorType):
        frame = value.gi_frame
        place = None if frame is None else [frame.f_lasti, frame.f_lineno]
        own = {} if frame is None else {k: v for k, v in frame.f_locals.items() if k != ".0"}
        return [_code(value.gi_code), place, _state(own, depth)]
    if isinstance(value, type):
        own = {k: v for k, v in vars(value).items() if not k.startswith("__") or callable(v)}
        is_here = value.__module__ == "__main__"
        return [base.__name__ for base in value.__mro__] + ([_state(own, depth)] if is_here else [])
    if type(value).__module__ == "sqlite3" and hasattr(value, "iterdump"):
        return [line for line, _ in zip(value.iterdump(), range(LARGEST_ROWS))]  # noqa: B905
    return _pickled(value, depth)


def _pickled(value: Any, depth: int) -> Any:
    own = getattr(value, "__dict__", None)
    if type(value).__module__ == "__main__" and isinstance(own, dict):
        return [type(value).__name__, _state(own, depth)]
    try:
        return hashlib.sha256(pickle.dumps(value, protocol=4)).hexdigest()
    except Exception:  # a lock, a socket and the like
        return type(value).__name__


def _code(code: Any) -> Any:
    constants = [_code(one) if hasattr(one, "co_code") else repr(one) for one in code.co_consts]
    return [code.co_code.hex(), list(code.co_names), list(code.co_varnames), constants]
