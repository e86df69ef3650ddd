"""Short texts for live objects: what a model needs of a table, an array or a model.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later. Its source is
sent to kernels that do not have cellwright. Nothing here copies a large object.

To look at a variable runs no code of the person's: no ``__repr__``, property, ``__len__``,
``__getattr__`` or ``__class__`` of a class that is not known here, and nothing that would call one
in its turn, such as ``isinstance`` or the ``repr`` of a list that holds such an object. Of objects
of other classes their names and what lies in their ``__dict__`` and slots is told.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import itertools
import os
import pathlib
import re
import sys
import time
import types
import uuid
from collections import deque
from collections.abc import Iterator
from typing import Any

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
ATTRIBUTE_LIMIT = 24
DEPTH_LIMIT = 6

PLAIN = frozenset(
    {int, float, complex, bool, str, bytes, bytearray, range, type(None), type(...)}
    | {type(NotImplemented), datetime.date, datetime.timedelta, datetime.timezone, decimal.Decimal}
    | {fractions.Fraction, uuid.UUID, re.Pattern, pathlib.PurePosixPath, pathlib.PureWindowsPath}
    | {type(pathlib.Path())}
)
"""Classes whose own ``repr`` runs nobody else's code."""
PLAIN_IDS = frozenset(map(id, PLAIN))
WITH_ZONE = (datetime.datetime, datetime.time)
SCALAR_MODULES = ("pandas", "numpy", "zoneinfo")
SCALARS = frozenset(
    {"Timestamp", "Timedelta", "NaTType", "NAType", "Period", "ZoneInfo", "datetime64"}
    | {"timedelta64", "bool", "bool_", "str_", "bytes_", "half", "float16", "float32", "float64"}
    | {"longdouble", "float128", "complex64", "complex128", "int8", "int16", "int32", "int64"}
    | {"uint8", "uint16", "uint32", "uint64", "longlong", "ulonglong", "intc", "uintc"}
)
"""Names of such classes of these libraries."""
LIBRARIES = ("cupy", "geopandas", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "torch")
KERNEL_MODULES = ("IPython", "ipykernel", "jupyter_client")
OWN_DICTS = (types.GetSetDescriptorType, types.MemberDescriptorType)
"""How classes, and modules, keep the ``__dict__`` of their instances."""
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
BASES = (dict, list, tuple, set, frozenset, deque)
STRINGS = (str, bytes, bytearray)
TEXTS = (str, bytes, bool, int, float, complex)
MRO, NAME, MODULE, NAMESPACE, FLAGS = (
    type.__dict__[name] for name in ("__mro__", "__name__", "__module__", "__dict__", "__flags__")
)
"""A class is asked past its metaclass, and compared by identity alone: ``in`` would compare."""


# What an object is, without asking it


def _mro(cls: type) -> tuple[type, ...]:
    found: tuple[type, ...] = MRO.__get__(cls)
    return found


def _is_one_of(cls: Any, classes: Any) -> bool:
    return any(cls is other for other in classes)


def _is_a(value: Any, cls: type) -> bool:
    """What ``isinstance`` says where nobody lies to it; that would ask for ``__class__``."""
    return _is_one_of(cls, _mro(type(value)))


def _class_name(cls: type) -> str:
    return str.__str__(NAME.__get__(cls))


def type_name(value: Any) -> str:
    """The name of its class, which a metaclass cannot change."""
    return _class_name(type(value))


def _static(cls: type, name: str) -> Any:
    """What a class or one of its parents holds under a name; None: nothing."""
    for parent in _mro(cls):
        namespace = NAMESPACE.__get__(parent)
        if name in namespace:
            return namespace[name]
    return None


def _module_of(cls: type) -> str:
    module = MODULE.__get__(cls)
    return module if type(module) is str else ""


def is_known(cls: type) -> bool:
    """Whether the class is one of a library that is known here, and not only called like it."""
    module = _module_of(cls)
    if module.partition(".")[0] not in LIBRARIES:
        return False
    found = vars(sys.modules[module]).get(_class_name(cls)) if module in sys.modules else None
    return found is cls


def is_plain(value: Any) -> bool:
    """Whether its own ``repr`` runs nobody else's code."""
    cls = type(value)
    if id(cls) in PLAIN_IDS:
        return True
    if _is_one_of(cls, WITH_ZONE):
        return value.tzinfo is None or is_plain(value.tzinfo)
    module, name = _module_of(cls), _class_name(cls)
    if module.partition(".")[0] not in SCALAR_MODULES or name not in SCALARS:
        return False
    if name == "ZoneInfo":
        return "zoneinfo" in sys.modules and cls is sys.modules["zoneinfo"].ZoneInfo
    if name == "Timestamp" and not (value.tzinfo is None or _is_known_zone(value.tzinfo)):
        return False
    return is_known(cls) or not FLAGS.__get__(cls) & HEAP_TYPE


_NONE = object()
HEAP_TYPE = 1 << 9
"""The flag of classes that were made while the program runs; those of C have none."""


def _is_known_zone(zone: Any) -> bool:
    return is_plain(zone) or _module_of(type(zone)).partition(".")[0] in ("pytz", "dateutil")


def _is_known_dtype(dtype: Any) -> bool:
    """Whether its own ``repr``, and that of its values, runs nobody else's code."""
    if not (is_plain(dtype) or is_known(type(dtype))):
        return False
    return _is_known_zone(getattr(dtype, "tz", None)) and is_plain(
        getattr(dtype, "fill_value", None)
    )


def _is_of_a_library(entry: Any) -> bool:
    """Whether what a class holds is of Python or its library: people put accessors on tables."""
    if type(entry) is types.FunctionType:
        return True  # to read one runs nothing
    kept = {} if _is_a(entry, type) else _own_dict(entry)
    made_by = [kept[name] for name in ("_ns", "_accessor", "func") if name in kept]
    entry = made_by[0] if made_by else entry.fget if type(entry) is property else entry
    if type(entry) is types.FunctionType:
        module = str(entry.__globals__.get("__name__"))
    else:
        module = _module_of(entry if _is_a(entry, type) else type(entry))
    return module.partition(".")[0] in ("builtins", *SCALAR_MODULES, *LIBRARIES)


def instance_values(value: Any) -> dict[str, Any]:
    """What lies in the object's own ``__dict__`` and slots, read past all its code.

    Nothing of the kernel itself: there lies the key that its messages are signed with.
    """
    found: dict[str, Any] = {}
    origins = [_module_of(parent).partition(".")[0] for parent in _mro(type(value))]
    if origins[0] in KERNEL_MODULES and "traitlets" in origins:
        return found
    for parent in _mro(type(value)):
        for name, entry in list(NAMESPACE.__get__(parent).items()):
            if type(entry) is types.MemberDescriptorType and entry.__objclass__ is parent:
                try:
                    found.setdefault(name, entry.__get__(value))
                except AttributeError:
                    continue  # a slot that was never filled
    found.update(_own_dict(value))
    return found


def _own_dict(value: Any) -> dict[str, Any]:
    for parent in _mro(type(value)):
        entry = NAMESPACE.__get__(parent).get("__dict__")
        if _is_one_of(type(entry), OWN_DICTS) and entry.__objclass__ is parent:
            kept = entry.__get__(value)
            return dict.copy(kept) if _is_a(kept, dict) else {}
        if entry is not None:
            return {}  # the class has put something of its own there
    return {}


def _without_subclass(value: Any) -> Any:
    """A table of somebody's own subclass as one of pandas' own class, which shares its data."""
    cls = type(value)
    parent = next((parent for parent in _mro(cls) if is_known(parent)), None)
    if parent is None or parent is cls or _module_of(parent).partition(".")[0] != "pandas":
        return value
    kept = _own_dict(value)
    manager: Any = kept.get("_mgr")
    if not is_known(type(manager)) or not hasattr(parent, "_from_mgr"):
        return value  # a version of pandas that makes its tables in another way
    made = parent._from_mgr(manager, manager.axes)
    if "_name" in kept:
        object.__setattr__(made, "_name", kept["_name"])
    return made


def _base(value: Any) -> Any:
    """The built-in container that it is, or is made from; None: it is none."""
    parents = _mro(type(value))
    return next((base for base in BASES if _is_one_of(base, parents)), None)


def _is_callable(value: Any) -> bool:
    """Whether it is a function or a class."""
    return _is_one_of(type(value), FUNCTIONS) or _is_a(value, type)


def length_of(value: Any) -> Any:
    """How many items a built-in container, or one made from it, has; None: it is none."""
    base = _base(value)
    return None if base is None else _length(value, base)


def _is_environment(value: Any) -> bool:
    """Whether its values are the person's keys and passwords: it, or the dictionary in it."""
    if type(value) is os._Environ:
        return True
    inner = vars(os.environ).get("_data") if type(os.environ) is os._Environ else None
    system = getattr(sys.modules.get(os.name), "environ", None)
    return type(value) is dict and _is_one_of(value, (inner, system))


def is_module(value: Any) -> bool:
    """Whether it is a module."""
    return _is_a(value, types.ModuleType)


def _items(value: Any, base: Any) -> Iterator[Any]:
    """The items of a container, pairs of a mapping, by the built-in class alone."""
    return iter(dict.items(value)) if base is dict else iter(base.__iter__(value))


def _length(value: Any, base: Any) -> int:
    return int(base.__len__(value))


# Parts


class RunsCodeError(Exception):
    """A part that cannot be read without running code of the person's; the text says whose."""


def read_attribute(value: Any, name: str) -> Any:
    """An attribute that lies there, or one that a class known here computes.

    Raises:
        RunsCodeError: To read it would run other code.
        AttributeError: There is none.
    """
    cls = type(value)
    if is_module(value):
        return _found(_own_dict(value), name, value)
    if is_plain(value):
        return getattr(value, name)
    if is_known(cls) and _has_known_labels(value):
        if not _is_of_a_library(_static(cls, name)):
            raise RunsCodeError(f"{name!r} was put on {type_name(value)}")
        return getattr(value, name)
    kept = instance_values(value)
    if name in kept:
        return kept[name]
    entry = _static(value, name) if _is_a(value, type) else _static(cls, name)
    if entry is None:
        if _static(cls, "__getattr__") is None:
            raise AttributeError(f"{type_name(value)} has no {name!r}")
        raise RunsCodeError(f"{type_name(value)} has a __getattr__")
    if type(entry) is types.FunctionType:
        return entry
    if any("__get__" in NAMESPACE.__get__(parent) for parent in _mro(type(entry))):
        raise RunsCodeError(f"{name!r} is computed by {type_name(value)}")
    return entry


def read_item(value: Any, key: Any) -> Any:
    """The item under a constant key.

    Raises:
        RunsCodeError: To read it would run other code than that of classes known here.
        KeyError: There is none.
    """
    cls = type(value)
    base = _base(value)
    if _is_environment(value):
        raise RunsCodeError("its values are the person's keys and passwords")
    if base is dict:
        return _under(value, key)
    if base in (list, tuple, deque):
        return base.__getitem__(value, key)
    if is_plain(value) or (is_known(cls) and _has_known_labels(value)):
        return value[key]
    raise RunsCodeError(f"{type_name(value)} has a __getitem__ of its own")


def says_itself(cls: type) -> bool:
    """Whether an exception's text is made by Python or an installed library, not by a cell."""
    for parent in _mro(cls):
        if "__str__" in NAMESPACE.__get__(parent):
            return _module_of(parent) == "builtins" or is_known(parent)
    return False


def _found(kept: dict[str, Any], name: str, value: Any) -> Any:
    if name not in kept:
        raise AttributeError(f"{type_name(value)} has no {name!r}")
    return kept[name]


def _under(value: Any, key: Any) -> Any:
    """An item of a dictionary, whose other keys may be objects that compare as they like."""
    if all(map(_is_short_value, dict.keys(value))):
        found = dict.get(value, key, _NONE)  # which calls no __missing__
        if found is _NONE:
            raise KeyError(key)
        return found
    for other, item in dict.items(value):
        if type(other) is type(key) and _is_short(other) and other == key:
            return item
    raise KeyError(key)


def _has_known_labels(value: Any) -> bool:
    """Whether no label of a table is an object that would be asked for its hash."""
    indexes = [getattr(value, name) for name in ("index", "columns") if _is_table(value, name)]
    return all(
        index.dtype.kind != "O" or all(map(_is_short_value, index.tolist())) for index in indexes
    )


def _is_table(value: Any, name: str) -> bool:
    what = kind(value)
    return what in ("DataFrame", "Series") and not (what == "Series" and name == "columns")


# Texts


def safe_repr(value: Any, limit: int = REPR_LIMIT, depth: int = 0) -> str:
    """The ``repr`` of what is known, else what can be told without it; cut to ``limit``."""
    try:
        if _is_environment(value):
            text = f"environ of {len(value)} names: {', '.join(sorted(map(os.fsdecode, value)))}"
        else:
            text = _repr(value, limit, depth)
    except Exception as error:
        text = f"<{type_name(value)} object; it cannot be shown: {type_name(error)}>"
    return cut(text, limit)


def own_repr(value: Any) -> str:
    """What a value says of itself: for one that a person hands over, never for looking at it."""
    if kind(value) or length_of(value) is not None:
        return safe_repr(value)
    try:
        return cut(repr(value), REPR_LIMIT)
    except Exception as error:
        return f"<{type_name(value)} object; its repr raises {type_name(error)}>"


def _repr(value: Any, limit: int, depth: int) -> str:
    cls = type(value)
    if _is_one_of(cls, STRINGS) and len(value) > limit:
        return repr(value[:limit]) + "…"
    if is_plain(value):
        return repr(value)
    if depth > DEPTH_LIMIT:
        return f"<{type_name(value)}>"
    base = _base(value)
    if base is not None:
        return _container_repr(value, base, limit, depth)
    for text in TEXTS:
        if _is_a(value, text):
            return f"{type_name(value)}({text.__repr__(value)})"
    if kind(value):
        return f"<{type_name(value)} {_headline(value)}>"
    if _is_callable(value):
        return f"<{'class' if _is_a(value, type) else 'function'} {_signature(value)}>"
    if cls is types.ModuleType:
        return f"<module {types.ModuleType.__getattribute__(value, '__name__')!r}>"
    return _object_repr(value, limit, depth)


def _object_repr(value: Any, limit: int, depth: int) -> str:
    """An object of any other class: its class and what it holds."""
    kept = instance_values(value)
    names = [name for name in kept if type(name) is str]
    shown = [name for name in names if not name.startswith("_")] or names
    share = max(SHALLOW_LIMIT, limit // max(4, len(shown)))
    parts = [f"{name}={_item(kept[name], share, depth)}" for name in shown[:ATTRIBUTE_LIMIT]]
    more = ", …" if len(shown) > len(parts) else ""
    return (
        f"{type_name(value)}({', '.join(parts)}{more})" if parts else f"<{type_name(value)} object>"
    )


def cut(text: str, limit: int) -> str:
    """The text, or its beginning and a mark."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def headline(value: Any) -> str:
    """Shape, length or a short value, in one line."""
    try:
        return _headline(value)
    except Exception as error:
        return f"(cannot be looked at: {type_name(error)})"


def describe(value: Any) -> str:
    """A compact text: for a table its columns, for an array its range, else what it holds."""
    try:
        return "\n".join(_describe(value))
    except Exception:
        return f"{type_name(value)}: {safe_repr(value)}"


def kind(value: Any) -> str:
    """What sort of thing it is, without importing the library it is from."""
    cls = type(value)
    origin, name = _module_of(cls).partition(".")[0], _class_name(cls)
    if origin not in LIBRARIES or not is_known(cls):
        return ""
    if name in ("DataFrame", "Series") and origin in ("pandas", "polars", "geopandas"):
        return ("polars " if origin == "polars" else "") + name
    if name == "GeoDataFrame":
        return "DataFrame"
    if origin == "pandas" and name.endswith("Index"):
        return "Index"
    if name == "ndarray" and origin in ("numpy", "cupy"):
        return "ndarray"
    if name == "Figure" and origin == "matplotlib":
        return "Figure"
    return "tensor" if origin == "torch" and name in ("Tensor", "Parameter") else ""


def _container_repr(value: Any, base: Any, limit: int, depth: int) -> str:
    """Of a container the first items: its own ``repr`` could take minutes, and run anything."""
    length = _length(value, base)
    first = list(itertools.islice(_items(value, base), 12))
    is_pairs = base is dict
    if _is_one_of(type(value), BASES) and length <= 12 and all(_is_short(item) for item in first):
        return repr(value)
    fields = _static(type(value), "_fields") if base is tuple else None
    if type(fields) is tuple and len(fields) == length:
        named = [f"{n}={_item(x, 40, depth)}" for n, x in zip(fields, first)]  # noqa: B905 - 3.8
        return f"{type_name(value)}({', '.join(named)})"
    if limit <= SHALLOW_LIMIT:
        return f"{type_name(value)} of {length}"
    share = max(SHALLOW_LIMIT, limit // 12)
    shown = [_pair(item, share, depth) if is_pairs else _item(item, share, depth) for item in first]
    more = ", …" if length > len(shown) else ""
    return f"{type_name(value)} of {length}: {', '.join(shown)}{more}"


def _is_short(item: Any) -> bool:
    if type(item) is tuple:
        return all(_is_short(part) for part in item)
    return is_plain(item) and (not _is_one_of(type(item), STRINGS) or len(item) < 200)


def _pair(item: Any, share: int, depth: int) -> str:
    return f"{safe_repr(item[0], share, depth + 1)}: {_item(item[1], share, depth)}"


def _item(item: Any, share: int, depth: int) -> str:
    if kind(item):
        return f"<{type_name(item)} {headline(item)}>"
    return safe_repr(item, share, depth + 1)


def _headline(value: Any) -> str:
    value = _without_subclass(value)
    what = kind(value)
    if what.endswith("DataFrame"):
        return f"{value.shape[0]} rows x {value.shape[1]} columns"
    if what.endswith("Series") or what == "Index":
        return f"{len(value)} values, {_dtype_text(value)}"
    if what in ("ndarray", "tensor"):
        return f"shape {tuple(value.shape)}, {value.dtype}"
    base = _base(value)
    if base is not None and _length(value, base) > 6:
        return f"{_length(value, base)} items"
    if _is_callable(value):
        return _signature(value)
    return cut(" ".join(safe_repr(value, 200).split()), 80)


def _signature(function: Any) -> str:
    """A function's or a class's name and arguments, from its code alone."""
    cls = type(function)
    if cls is types.MethodType:
        return _signature(function.__func__)
    if cls is types.FunctionType:
        name = str.__str__(function.__name__)
        return cut(f"{name}({_arguments(function)}){_returned(function)}", 80)
    if cls is types.BuiltinFunctionType:
        return str(function.__name__)
    name = _class_name(function)
    begin = _static(function, "__init__")
    if type(begin) is types.FunctionType:
        return cut(f"{name}({_arguments(begin, skipped=1)})", 80)
    return f"{name}()" if FLAGS.__get__(function) & HEAP_TYPE else name


def _arguments(function: types.FunctionType, skipped: int = 0) -> str:
    code = function.__code__
    names = code.co_varnames
    count, keywords = code.co_argcount, code.co_kwonlyargcount
    # Somebody may have put an object of their own class there.
    given_defaults, keyword_defaults = function.__defaults__, function.__kwdefaults__
    defaults = () if given_defaults is None else tuple.__getitem__(given_defaults, slice(None))
    kept = {} if keyword_defaults is None else dict.copy(keyword_defaults)
    parts = []
    for place in range(count):
        given = place - (count - len(defaults))
        has, default = given >= 0, defaults[given] if given >= 0 else None
        parts.append(_argument(function, names[place], has, default))
        if place + 1 == code.co_posonlyargcount:
            parts.append("/")
    rest = count + keywords
    if code.co_flags & 4:
        parts.append(f"*{names[rest]}")
        rest += 1
    elif keywords:
        parts.append("*")
    for name in names[count : count + keywords]:
        parts.append(_argument(function, name, name in kept, kept.get(name)))
    if code.co_flags & 8:
        parts.append(f"**{names[rest]}")
    return ", ".join(parts[skipped:])


def _argument(function: types.FunctionType, name: str, has_default: bool, default: Any) -> str:
    said = _annotation(function, name)
    annotated = f"{name}: {said}" if said else name
    if not has_default:
        return annotated
    return f"{annotated}{' = ' if said else '='}{safe_repr(default, 40)}"


def _returned(function: types.FunctionType) -> str:
    said = _annotation(function, "return")
    return f" -> {said}" if said else ""


def _annotation(function: types.FunctionType, name: str) -> str:
    if sys.version_info >= (3, 14):
        return ""  # to read annotations would run them
    found = dict.get(function.__annotations__, name)
    if type(found) is str:
        return repr(found)
    return _class_name(found) if type(found) is type else ""


def _describe(value: Any) -> Iterator[str]:
    value = _without_subclass(value)
    what = kind(value)
    if _is_environment(value):
        yield from _anything(value)
    elif what == "DataFrame":
        yield from _pandas_frame(value)
    elif what == "polars DataFrame":
        yield from _polars_frame(value)
    elif what.endswith("Series"):
        yield f"Series {_headline(value)}{_named(value)}"
        yield _column_text(value, _deadline(), roomy=True)
    elif what == "Index":
        yield from _index(value)
    elif what == "ndarray":
        yield from _array(value)
    elif what == "Figure":
        yield from _figure(value)
    elif what != "tensor" and _base(value) is dict:
        yield from _mapping(value)
    elif what != "tensor" and _base(value) is not None:
        yield from _sequence(value)
    else:
        yield from _anything(value)


def _anything(value: Any) -> Iterator[str]:
    cls = type(value)
    size = f" of {len(value)} characters" if _is_one_of(cls, STRINGS) else ""
    if _is_callable(value):
        yield type_name(value)
        yield _signature(value)
        documentation = (
            getattr(value, "__doc__", None)
            if _is_one_of(cls, FUNCTIONS)
            else _static(value, "__doc__")
        )
        if type(documentation) is str and documentation.strip():
            yield cut(documentation.strip().splitlines()[0], 160)
        return
    yield f"{type_name(value)}{size}: {safe_repr(value)}"


def _deadline() -> float:
    return time.monotonic() + SCAN_SECONDS


def _named(series: Any) -> str:
    return f", name {safe_repr(series.name, 60)}" if series.name is not None else ""


def _pandas_frame(frame: Any) -> Iterator[str]:
    rows, columns = frame.shape
    if _has_foreign_columns(frame):
        yield f"{type_name(frame)} {rows} rows x {columns} columns (of a class that is not known)"
        return
    index = type_name(frame.index)
    labelled = "" if index == "RangeIndex" else f", index {_index_text(frame.index)}"
    step = max(1, rows * min(columns, COLUMN_LIMIT) // SCAN_LIMIT_CELLS)
    sampled = f" (ranges from every {step}th row)" if step > 1 else ""
    yield f"{type_name(frame)} {rows} rows x {columns} columns{labelled}{sampled}"
    roomy = columns <= ROOMY_COLUMNS
    if rows:
        numbers = "numbers: min/median/max; text: unique values" if roomy else "min..max; unique"
        yield f"({numbers}: most frequent)"
    until = _deadline()
    for place in range(min(columns, COLUMN_LIMIT)):
        column = frame.iloc[:, place]
        name = cut(_text(frame.columns[place]), NAME_LIMIT)
        text = _column_text(column.iloc[::step], until, roomy=roomy)
        yield f"{name} {text}"
    if columns > COLUMN_LIMIT:
        rest = ", ".join(_text(name) for name in frame.columns[COLUMN_LIMIT : COLUMN_LIMIT + 60])
        yield f"{columns - COLUMN_LIMIT} more columns: {cut(rest, 600)}"


def _polars_frame(frame: Any) -> Iterator[str]:
    yield f"polars DataFrame {frame.shape[0]} rows x {frame.shape[1]} columns"
    step = max(1, frame.shape[0] * min(frame.shape[1], COLUMN_LIMIT) // SCAN_LIMIT_CELLS)
    until = _deadline()
    for name in frame.columns[:COLUMN_LIMIT]:
        column = frame.get_column(name).gather_every(step)
        text = _column_text(column, until, roomy=frame.shape[1] <= ROOMY_COLUMNS)
        yield f"{cut(name, NAME_LIMIT)} {text}"


def _index(index: Any) -> Iterator[str]:
    yield f"{type_name(index)} {_headline(index)}{_named(index)}"
    if _is_known_dtype(index.dtype):
        yield f"first: {safe_repr(index[:6].tolist(), 200)}"


def _index_text(index: Any) -> str:
    if not len(index) or not _is_known_dtype(index.dtype):
        return type_name(index)
    name = f"{_text(index.name)} " if index.name is not None else ""
    return f"{name}{_scalar(index[0])}..{_scalar(index[-1])}"


def _column_text(column: Any, until: float, *, roomy: bool) -> str:
    """Type, missing values and range of one column, in a few words."""
    kind_of_values = _short_type(_dtype_text(column))
    if time.monotonic() > until or not _is_known_dtype(column.dtype):
        return kind_of_values
    try:
        return " ".join([kind_of_values, *_column_facts(column, kind_of_values, roomy)])
    except Exception:
        return kind_of_values


def _dtype_text(column: Any) -> str:
    """The type of a column's values; of a class that is not known only its name."""
    dtype = column.dtype
    return str(dtype) if _is_known_dtype(dtype) else type_name(dtype)


def _text(value: Any) -> str:
    """A name or a value as it is shown in a table, in one line."""
    if is_plain(value):
        return " ".join(str(value).splitlines())
    return safe_repr(value, 60)


def _has_foreign_columns(frame: Any) -> bool:
    """Whether columns are kept in arrays of a class that is not known."""
    blocks = getattr(getattr(frame, "_mgr", None), "blocks", ())
    return any(not is_known(type(block.values)) for block in blocks)


def _column_facts(column: Any, kind_of_values: str, roomy: bool) -> Iterator[str]:
    is_polars = _module_of(type(column)).partition(".")[0] not in ("pandas", "geopandas")
    values = (
        (column.to_list() if is_polars else column.tolist())
        if _is_text_like(kind_of_values)
        else []
    )
    strange = next((value for value in values if not _is_short_value(value)), None)
    if strange is not None:
        yield safe_repr(strange, 40)
        return
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
        yield from _frequent(values, roomy)


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


def _is_text_like(kind_of_values: str) -> bool:
    """Whether values of any class may stand in it."""
    numbers = ("int", "uint", "float", "f8", "i8", "complex", "Int", "Float", "UInt")
    return not kind_of_values.startswith((*numbers, "date", "timedelta", "Date", "time"))


def _is_short_value(value: Any) -> bool:
    return is_plain(value) or (type(value) is tuple and all(map(_is_short_value, value)))


def _frequent(values: Any, roomy: bool) -> Iterator[str]:
    counts: dict[Any, int] = {}
    for value in values:
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
    if _is_a(value, float) and is_plain(value):
        return f"{value:.{places}g}"
    text = _text(value)
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
        if not is_known(type(axes)):
            yield f"axes of the class {type_name(axes)}"
            continue
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
    length = _length(mapping, dict)
    yield f"{type_name(mapping)} of {length}"
    for key, item in itertools.islice(_items(mapping, dict), 12):
        yield f"{safe_repr(key, 60)}: {type_name(item)} {headline(item)}"
    if length > 12:
        yield f"… {length - 12} more"


def _sequence(sequence: Any) -> Iterator[str]:
    base = _base(sequence)
    names: dict[str, int] = {}
    for item in itertools.islice(_items(sequence, base), 10_000):
        names[type_name(item)] = names.get(type_name(item), 0) + 1
    mixed = ", ".join(f"{name} x {count}" for name, count in sorted(names.items())[:6])
    yield f"{type_name(sequence)} of {_length(sequence, base)} ({mixed})"
    for item in itertools.islice(_items(sequence, base), 6):
        yield f"- {cut(headline(item), 100)}"
    if _length(sequence, base) > 6:
        yield f"… {_length(sequence, base) - 6} more"
