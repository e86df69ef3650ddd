"""Pickles of what a copy of a kernel has and the kernel does not.

Runs inside kernels that may not have cellwright, as ``snapshots`` does. Both are forks of one
process: what the kernel has as well is named by its address, and stays the object that it is there.
Functions and classes of cells are written by value, with the person's variables for their globals;
arrays that show the same memory go on to; and frames of pandas know of each other as before.
"""

from __future__ import annotations

import functools
import marshal
import os
import pickle
import re
import sys
import types
from collections.abc import Callable
from typing import Any

from .object_states import SINGLE, attributes_of, base_of, own_dict
from .sandbox import NotCarriedError

HELD = {
    "_io.": "an open file",
    "TextIOWrapper": "an open file",
    "BufferedWriter": "an open file",
    "BufferedReader": "an open file",
    "socket": "a socket",
    "sqlite3": "a connection to a database",
    "Connection": "a connection",
    "generator": "a generator",
    "coroutine": "a coroutine",
    "lock": "a lock",
    "frame": "a frame of a running function",
}
SENTINELS = tuple(
    ("dataclasses", name)
    for name in ("MISSING", "KW_ONLY", "_FIELD", "_FIELD_CLASSVAR", "_FIELD_INITVAR")
)
"""What is asked for by its identity, and loses it in a pickle."""


def words_of(error: BaseException) -> str:
    """Why something cannot be written, for people."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = str(error)
    for part, held in HELD.items():
        if isinstance(error, (TypeError, pickle.PicklingError)) and part in text:
            return f"it holds {held}"
    return text.strip().rstrip(".") or type(error).__name__


HELPERS: dict[str, Callable[..., Any]] = {}
"""What makes things again in the kernel, by name: there this module may have another one."""


def _helper(function: Callable[..., Any]) -> Callable[..., Any]:
    HELPERS[function.__name__] = function
    return function


class CarryingPickler(pickle.Pickler):
    """Writes objects; what the kernel has as well, by its address, and what cells made by value.

    Args:
        file: Where to.
        known: Addresses of what the kernel has as well.
        namespace: The person's variables.
    """

    def __init__(self, file: Any, known: set[int], namespace: dict[str, Any]) -> None:
        super().__init__(file, 5)
        self._known, self._namespace = known, namespace

    def persistent_id(self, thing: Any) -> Any:
        if id(thing) in self._known:
            return ("known", id(thing), type(thing).__qualname__)
        if thing is self._namespace:
            return ("namespace",)
        if isinstance(thing, types.ModuleType):
            if sys.modules.get(thing.__name__) is not thing:
                raise pickle.PicklingError(f"the module {thing.__name__!r} cannot be imported")
            return ("module", thing.__name__)
        if isinstance(thing, types.FunctionType) and HELPERS.get(thing.__name__) is thing:
            return ("helper", thing.__name__)
        for module, name in (*SINGLE, *SENTINELS):
            if thing is getattr(sys.modules.get(module), name, self):
                return ("attribute", module, name)
        return None

    def reducer_override(self, thing: Any) -> Any:
        kind = type(thing)
        if isinstance(thing, type):
            is_ours = thing.__module__ != "builtins" and not _is_named(thing)
            return self._reduce_class(thing) if is_ours else NotImplemented
        reduce = REDUCERS.get(kind)
        if reduce is not None:
            return reduce(self, thing)
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(thing, numpy.ndarray):
            if isinstance(thing, numpy.memmap):
                raise pickle.PicklingError("it holds a file that is mapped into memory")
            if kind is numpy.ndarray and base_of(thing) is not None:
                return _reduce_view(thing)
        return _reduce_of_pandas(thing)

    def reduce_function(self, function: Any) -> Any:
        """A function of a cell, or one that was made by another one."""
        if _is_named(function):
            return NotImplemented
        closure = function.__closure__ or ()
        state = {
            "__defaults__": function.__defaults__,
            "__kwdefaults__": function.__kwdefaults__,
            "__annotations__": function.__annotations__,
            "__qualname__": function.__qualname__,
            "__module__": function.__module__,
            "__doc__": function.__doc__,
            "__dict__": function.__dict__,
        }
        cells = [(cell, *_content_of(cell)) for cell in closure if id(cell) not in self._known]
        made = (function.__code__, self._globals_of(function), function.__name__, closure)
        return (make_function, made, (state, cells), None, None, fill_function)

    def _globals_of(self, function: Any) -> Any:
        if function.__globals__ is self._namespace:
            return self._namespace
        if function.__globals__.get("__builtins__") == {}:
            return dict(function.__globals__)  # as those that ``namedtuple`` makes have
        module = sys.modules.get(str(function.__globals__.get("__name__")))
        if module is None or module.__dict__ is not function.__globals__:
            raise pickle.PicklingError(f"the function {function.__qualname__} has no module")
        return _GlobalsOf(module)

    def _reduce_class(self, kind: type) -> Any:
        meta = type(kind)
        if meta is not type and f"{meta.__module__}.{meta.__name__}" != "abc.ABCMeta":
            raise pickle.PicklingError(
                f"the class {kind.__qualname__}, which a cell defines, is made by {meta.__name__}"
            )
        attributes = attributes_of(kind)
        own = ("__module__", "__qualname__", "__doc__", "__slots__")
        first = {name: attributes.pop(name) for name in own if name in attributes}
        first["__qualname__"] = kind.__qualname__
        made = (meta, kind.__name__, kind.__bases__, first)
        return (make_class, made, attributes, None, None, fill_class)


class _GlobalsOf:
    """Stands for the variables of a module."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module

    def __reduce__(self) -> Any:
        return (module_globals, (self._module,))


def _is_named(thing: Any) -> bool:
    """Whether a function or class is found by its name where it is imported."""
    if thing.__module__ in (None, "__main__"):
        return False
    found: Any = sys.modules.get(thing.__module__)
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is thing


def _content_of(cell: Any) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _reduce_view(array: Any) -> Any:
    """An array that shows memory of another one."""
    base = base_of(array)
    if not (base.flags.c_contiguous or base.flags.f_contiguous) or type(base).__name__ == "memmap":
        return NotImplemented
    offset = array.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    if base.dtype.hasobject and offset % max(1, base.itemsize):
        return NotImplemented
    layout = (offset, array.shape, array.strides, array.dtype, array.flags.writeable)
    return (make_view, (base, layout))


def _reduce_of_pandas(thing: Any) -> Any:
    """What pandas keeps to know who else shows the same memory, which has to be copied first."""
    internals = sys.modules.get("pandas._libs.internals")
    if internals is None or not hasattr(internals, "BlockValuesRefs"):
        return NotImplemented
    if isinstance(thing, internals.BlockValuesRefs):
        return (internals.BlockValuesRefs, ())
    if isinstance(thing, internals.BlockPlacement):
        return (internals.BlockPlacement, (thing.indexer,))
    is_block = isinstance(thing, internals.Block)
    own = own_dict(thing) or {}
    references = getattr(thing, "refs", None) if is_block else own.get("_references")
    if not isinstance(references, internals.BlockValuesRefs):
        return NotImplemented
    made = thing.__reduce__()
    return (make_sharing, (*made[:2], references, is_block), *made[2:])


def _reduce_code(_: CarryingPickler, code: Any) -> Any:
    return (make_code, (marshal.dumps(code), code.co_filename))


def _reduce_cell(_: CarryingPickler, cell: Any) -> Any:
    # What it holds is told by the functions that use it: it may be one of them.
    return (make_cell, ())


def _reduce_property(_: CarryingPickler, thing: Any) -> Any:
    return (property, (thing.fget, thing.fset, thing.fdel, thing.__doc__))


def _reduce_method(_: CarryingPickler, thing: Any) -> Any:
    return (type(thing), (thing.__func__,))


def _reduce_cached(_: CarryingPickler, thing: Any) -> Any:
    if _is_named(thing):
        return NotImplemented
    return (make_cached, (thing.__wrapped__, thing.cache_parameters()))


def _reduce_cached_property(_: CarryingPickler, thing: Any) -> Any:
    return (make_cached_property, (thing.func, thing.attrname))


def _reduce_proxy(_: CarryingPickler, thing: Any) -> Any:
    return (make_proxy, (dict(thing),))


REDUCERS: dict[type, Callable[[CarryingPickler, Any], Any]] = {
    types.FunctionType: CarryingPickler.reduce_function,
    types.CodeType: _reduce_code,
    types.CellType: _reduce_cell,
    types.MappingProxyType: _reduce_proxy,
    property: _reduce_property,
    classmethod: _reduce_method,
    staticmethod: _reduce_method,
    functools.cached_property: _reduce_cached_property,
    type(functools.lru_cache(len)): _reduce_cached,
}


@_helper
def make_code(code: bytes, filename: str) -> Any:
    """A code object; IPython has its lines under the number of this process."""
    found = marshal.loads(code)  # noqa: S302 - the same trust as for the pickle that it is from
    return _renamed(found, re.sub(r"ipykernel_\d+", f"ipykernel_{os.getpid()}", filename))


def _renamed(code: Any, filename: str) -> Any:
    constants = tuple(
        _renamed(c, filename) if isinstance(c, types.CodeType) else c for c in code.co_consts
    )
    return code.replace(co_filename=filename, co_consts=constants)


@_helper
def make_function(code: Any, namespace: Any, name: str, closure: Any) -> Any:
    """A function without anything that may lead to itself."""
    return types.FunctionType(code, namespace, name, None, closure or None)


@_helper
def fill_function(function: Any, given: Any) -> None:
    """Give a function the rest."""
    state, cells = given
    function.__dict__.update(state.pop("__dict__"))
    for name, value in state.items():
        setattr(function, name, value)
    for cell, *content in cells:
        if content:
            cell.cell_contents = content[0]


@_helper
def make_class(meta: Any, name: str, bases: Any, first: Any) -> Any:
    """A class without anything that may lead to itself."""
    return types.new_class(name, bases, {"metaclass": meta}, lambda body: body.update(first))


@_helper
def fill_class(kind: Any, attributes: Any) -> None:
    """Give a class the rest."""
    for name, value in attributes.items():
        setattr(kind, name, value)


@_helper
def make_cell() -> Any:
    """What functions share a variable by."""
    return types.CellType()


@_helper
def make_proxy(given: Any) -> Any:
    """A view of a dictionary that cannot change it."""
    return types.MappingProxyType(given)


@_helper
def module_globals(module: Any) -> Any:
    """The variables of a module."""
    return module.__dict__


@_helper
def make_cached(function: Any, parameters: Any) -> Any:
    """A function that remembers; it has to begin anew."""
    return functools.lru_cache(**parameters)(function)


@_helper
def make_cached_property(function: Any, name: Any) -> Any:
    """A property that is worked out once."""
    made = functools.cached_property(function)
    made.attrname = name
    return made


@_helper
def make_view(base: Any, layout: Any) -> Any:
    """An array that shows memory of another one."""
    import numpy

    offset, shape, strides, dtype, is_writeable = layout
    flat = base.ravel("K")
    if dtype.hasobject:
        start = flat[offset // dtype.itemsize :]
        made = numpy.lib.stride_tricks.as_strided(start, shape, strides)
    else:
        made = numpy.ndarray(shape, dtype, flat.view(numpy.uint8), offset, strides)
    if made.flags.writeable and not is_writeable:
        made.flags.writeable = False
    return made


@_helper
def make_sharing(make: Any, given: Any, references: Any, is_block: bool) -> Any:
    """A block or index of pandas, with the others that show the same memory."""
    made = make(*given)
    if is_block:
        made.refs = references
        references.add_reference(made)
    else:
        made._references = references
        references.add_index_reference(made)
    return made


class CarryingUnpickler(pickle.Unpickler):
    """Reads what ``CarryingPickler`` wrote.

    Args:
        file: Where from.
        known: What is here already, by its address.
        namespace: The person's variables.
    """

    def __init__(self, file: Any, known: dict[int, Any], namespace: dict[str, Any]) -> None:
        super().__init__(file)
        self._known, self._namespace = known, namespace

    def persistent_load(self, given: Any) -> Any:
        kind, *rest = given
        if kind == "known":
            found = self._known.get(rest[0], self)
            if found is self or type(found).__qualname__ != rest[1]:
                raise NotCarriedError("your variables are not as they were")
            return found
        if kind == "namespace":
            return self._namespace
        if kind == "helper":
            return HELPERS[rest[0]]
        __import__(rest[0])
        module = sys.modules[rest[0]]
        return module if kind == "module" else getattr(module, rest[1])

    def find_class(self, module: str, name: str) -> Any:
        if module == "__main__":
            # What has this name here is another one.
            raise NotCarriedError(f"`{name}` cannot be carried over")
        return super().find_class(module, name)
