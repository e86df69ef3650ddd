"""The objects that variables lead to, and which of them are other than before.

Runs inside kernels that may not have cellwright, as ``snapshots`` does. A variable may be the same
object as before and have changed within: an element was set, a model was fitted. So all objects
that variables lead to are noted: those that they refer to, a sum of the memory of arrays, and of
what libraries have in C a sum of what it would write into a pickle. Of what says nothing of itself
(connections, iterators of libraries) it is known that it is not known.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import io
import mmap
import operator
import pickle
import re
import sys
import threading
import types
import warnings
import weakref
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from .sandbox import NotCarriedError

OBJECT_LIMIT = 100_000
REFERENCE_LIMIT = 10_000_000
COMPARED_BYTES = 2_000_000_000
"""So much memory of arrays is read before the cell and after it, to tell which have changed."""
OPAQUE_BYTES = 50_000_000
LARGE_BYTES = 1 << 20
"""Of larger arrays the system is asked which pages were written to."""
PAGE_BYTES, PAGE_ENTRY_BYTES = mmap.PAGESIZE, 8
OWN_PAGE, FILE_PAGE, SWAPPED_PAGE = 1, 1 << 5, 1 << 6
"""In the last byte of a page's entry (``Documentation/admin-guide/mm/pagemap.rst``): no other
process has it, it is of a file or shared on purpose, it is not in memory."""

ATOMS = frozenset(
    (
        *(type(None), bool, int, float, complex, str, bytes, range, type(...)),
        *(type(NotImplemented), types.CodeType, types.GetSetDescriptorType),
        *(types.MemberDescriptorType, types.WrapperDescriptorType, types.MethodDescriptorType),
        *(types.ClassMethodDescriptorType, types.FrameType, types.TracebackType, weakref.ref),
        *(weakref.ProxyType, types.ModuleType, type(threading.Lock()), type(threading.RLock())),
        *(re.Pattern, re.Match),
    )
)
"""Types of what does not change, or leads to nothing of the person's."""
ATOM_MODULES = frozenset(
    (
        *("datetime", "decimal", "_decimal", "fractions", "uuid", "zoneinfo", "ipaddress"),
        *("ipykernel", "IPython", "zmq", "tornado", "asyncio", "logging", "jupyter_client", "comm"),
        *("ipywidgets", "traitlets", "cellwright", "cellwright_magics", "_cellwright", "pyarrow"),
        *("_cellwright_forks", "_contextvars", "_abc", "typing", "_typing"),
    )
)
ATOM_CLASSES = ("pandas._libs.index.", "pandas._libs.hashtable.")
LEAVES = (
    "builtins.PyCapsule",
    "pandas._libs.internals.BlockPlacement",
    "pandas._libs.internals.BlockValuesRefs",
)
"""Classes of what is carried by its address and has nothing of its own to look at."""
SINGLE = (("random", "_inst"), ("numpy.random.mtrand", "_rand"))
"""Generators of random numbers that everybody shares: their state is carried by itself."""
BUILT_IN: frozenset[type] = frozenset((list, dict, tuple, set, frozenset, types.CellType))
PLAIN = (
    *(object, dict, list, tuple, set, frozenset, BaseException, property, classmethod),
    *(staticmethod, functools.partial, types.CellType, types.MethodType, types.FunctionType),
    *(types.BuiltinFunctionType, types.MappingProxyType, types.SimpleNamespace, slice),
)
"""C classes of which ``gc.get_referents`` shows all that can change."""
PLAIN_NAMES = ("collections.deque", "collections.OrderedDict", "collections.defaultdict")
HEAP_TYPE = 1 << 9


class TooMuchError(NotCarriedError):
    """There is more than can be looked at."""


class ObjectState:
    """How an object is: the objects that it refers to, and what else tells that it changed."""

    __slots__ = ("extra", "is_opaque", "references")

    def __init__(self, references: list[Any]) -> None:
        self.references, self.is_opaque = references, False
        self.extra: Any = None

    def is_same(self, other: ObjectState) -> bool:
        if self.extra != other.extra:
            return False
        mine, others = self.references, other.references
        # What an object of a library in C refers to may be there to be faster the next time.
        return self.is_opaque or (len(mine) == len(others) and all(map(operator.is_, mine, others)))


UNKNOWN, OPAQUE = "unknown", "opaque"


class Objects:
    """All objects that some places lead to; those that cannot change are left out.

    Args:
        namespace: The person's variables, in which the functions of cells look names up.
    """

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.known: dict[int, Any] = {}
        self.states: dict[int, ObjectState] = {}
        self._namespace = namespace
        self._bytes = self._references = 0
        self._is_made: dict[type, bool] = {}
        self._are_atoms: dict[type, bool] = {}
        singles = (getattr(sys.modules.get(module), name, None) for module, name in SINGLE)
        self._singles = {id(single) for single in singles if single is not None}
        self._dealloc = _dealloc_of(Objects)

    def walk(self, roots: Sequence[Any], *, with_states: bool = True) -> None:
        """Go to all objects.

        Raises:
            TooMuchError: There are too many.
        """
        with _without_collector():
            waiting = list(roots)
            while waiting:
                found = waiting.pop()
                if id(found) in self.known or self.is_atom(found):
                    continue
                if len(self.known) >= OBJECT_LIMIT:
                    raise TooMuchError(f"your variables hold more than {OBJECT_LIMIT:,} objects")
                self.known[id(found)] = found
                state = ObjectState(self._look(found))
                waiting += state.references
                if with_states:
                    self.states[id(found)] = state
            for key, state in self.states.items():
                self._add_extra(state, self.known[key])

    def changed(self) -> set[int]:
        """Addresses of those that are other than they were.

        Raises:
            TooMuchError: They have grown so much that it cannot be told.
        """
        self._bytes = self._references = 0
        found = set()
        with _without_collector():
            for key, thing in self.known.items():
                now = ObjectState(self._look(thing))
                self._add_extra(now, thing)
                if not self.states[key].is_same(now):
                    found.add(key)
        return found

    def leading_to(self, wanted: set[int]) -> set[int]:
        """Addresses of those that lead to one of some, themselves included."""
        if not wanted:
            return set()
        back: dict[int, list[int]] = {}
        for key, state in self.states.items():
            for reference in state.references:
                if id(reference) in self.known:
                    back.setdefault(id(reference), []).append(key)
        found, waiting = set(wanted), list(wanted)
        while waiting:
            for key in back.get(waiting.pop(), ()):
                if key not in found:
                    found.add(key)
                    waiting.append(key)
        return found

    @property
    def unknown(self) -> set[int]:
        """Addresses of those of which it cannot be told whether they change."""
        return {key for key, state in self.states.items() if state.extra == UNKNOWN}

    def is_atom(self, thing: Any) -> bool:
        """Whether nothing behind it is the person's, or it cannot change."""
        kind = type(thing)
        if kind in ATOMS or thing is self._namespace:
            return True
        if isinstance(thing, type):
            return thing.__module__ != "__main__"
        found = self._are_atoms.get(kind)
        if found is None:
            found = self._are_atoms[kind] = _is_atom_class(kind)
        return found or id(thing) in self._singles

    def _look(self, thing: Any) -> list[Any]:
        references = self._references_of(thing)
        self._references += len(references)
        if self._references > REFERENCE_LIMIT:
            raise TooMuchError("your variables hold too many objects to look at")
        return references

    def _add_extra(self, state: ObjectState, thing: Any) -> None:
        state.extra = self._extra(thing)
        if state.extra is OPAQUE:
            state.extra, state.is_opaque = self._opaque(thing), True

    def _references_of(self, thing: Any) -> list[Any]:
        if type(thing) in BUILT_IN:
            return gc.get_referents(thing)
        if _name_of(type(thing)) in LEAVES:
            return []
        if isinstance(thing, type):
            return [*thing.__bases__, *attributes_of(thing).values()]
        own = own_dict(thing)  # first: to ask for it makes it
        if isinstance(thing, types.FunctionType):
            return [r for r in gc.get_referents(thing) if r is not thing.__globals__]
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(thing, numpy.ndarray):
            elements = _elements(thing) if thing.dtype.hasobject else ()
            return [*(own or {}).values(), base_of(thing), *elements]
        if isinstance(thing, _generators()):
            _frame_of(thing)  # first: to ask for it makes it
            return gc.get_referents(thing)
        found = gc.get_referents(thing)
        if own is None:
            return found
        cached = own.get("_cache") if type(thing).__module__.partition(".")[0] == "pandas" else None
        values = [value for value in own.values() if value is not cached or cached is None]
        return [*(r for r in found if r is not own and r is not cached), *values]

    def _extra(self, thing: Any) -> Any:
        """What tells that it changed, beside what it refers to."""
        kind = type(thing)
        if kind in BUILT_IN or _name_of(kind) in LEAVES:
            return None
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(thing, numpy.ndarray):
            layout = (thing.shape, thing.strides, str(thing.dtype), thing.flags.writeable)
            return (layout, None if thing.dtype.hasobject else self._check_sum(thing))
        if isinstance(thing, (bytearray, memoryview)) or kind.__module__ == "array":
            with contextlib.suppress(ValueError, TypeError):
                return self._sum_of(memoryview(thing))
            return UNKNOWN
        if isinstance(thing, type):
            return tuple(attributes_of(thing))
        if isinstance(thing, io.IOBase):
            return _position(thing)
        if isinstance(thing, _generators()):
            frame = _frame_of(thing)
            return None if frame is None else frame.f_lasti
        if self._is_plain(kind):
            own = own_dict(thing)
            return None if own is None else tuple(name for name in own if name != "_cache")
        return OPAQUE

    def _check_sum(self, array: Any) -> Any:
        numpy = sys.modules["numpy"]
        if not array.size or base_of(array) is not None:
            return None  # what it shows is its base's, which is looked at
        try:
            view = memoryview(array.ravel("K").view(numpy.uint8))
        except (TypeError, ValueError):
            return UNKNOWN
        address = array.__array_interface__["data"][0]
        first, last = (-address) % PAGE_BYTES, (address + array.nbytes) % PAGE_BYTES
        if array.nbytes < LARGE_BYTES or not (array.flags.c_contiguous or array.flags.f_contiguous):
            return self._sum_of(view)
        inner = (address + first, array.nbytes - first - last)
        if not self._are_shared(*inner):
            # After the cell this is no sum of before: the array counts as changed.
            return self._sum_of(view)
        return (*inner, self._sum_of(view[:first]), self._sum_of(view[array.nbytes - last :]))

    def _are_shared(self, address: int, length: int) -> bool:
        """Whether nobody has written to these pages since this process was forked.

        Memory of gigabytes would take seconds to read, before each cell that is tried.
        """
        try:
            with open("/proc/self/pagemap", "rb", buffering=0) as file:
                file.seek(address // PAGE_BYTES * PAGE_ENTRY_BYTES)
                entries = file.read(length // PAGE_BYTES * PAGE_ENTRY_BYTES)
        except OSError:
            return False
        is_whole = len(entries) == length // PAGE_BYTES * PAGE_ENTRY_BYTES
        told = 0
        for flags in set(entries[PAGE_ENTRY_BYTES - 1 :: PAGE_ENTRY_BYTES]):
            told |= flags
        return is_whole and not told & (OWN_PAGE | FILE_PAGE | SWAPPED_PAGE)

    def _sum_of(self, view: memoryview) -> int:
        self._bytes += view.nbytes
        if self._bytes > COMPARED_BYTES:
            raise TooMuchError("your variables hold more than can be compared")
        return zlib.crc32(view.cast("B") if view.contiguous else view.tobytes())

    def _is_plain(self, kind: type) -> bool:
        """Whether all that can change of its objects is seen by what they refer to."""
        found = self._is_made.get(kind)
        if found is None:
            found = self._is_made[kind] = all(map(self._is_plain_class, kind.__mro__))
        return found

    def _is_plain_class(self, kind: type) -> bool:
        if kind in PLAIN or _name_of(kind) in PLAIN_NAMES:
            return True
        if issubclass(kind, BaseException) and not kind.__flags__ & HEAP_TYPE:
            return True
        # Whatever a ``class`` statement made is freed by the same function of the interpreter.
        return bool(kind.__flags__ & HEAP_TYPE) and _dealloc_of(kind) == self._dealloc

    def _opaque(self, thing: Any) -> Any:
        """A sum of what an object of a library in C says when it is to be written."""
        sink = Sum(OPAQUE_BYTES)
        pickler = _StatePickler(sink, thing, self.known)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                pickler.dump(thing)
        except Exception:
            return UNKNOWN
        self._bytes += sink.size
        return sink.sum


def _is_atom_class(kind: type) -> bool:
    """Whether none of its objects can change or leads to anything of the person's."""
    module = str(kind.__module__)
    if module.partition(".")[0] in ATOM_MODULES or _name_of(kind).startswith(ATOM_CLASSES):
        return True
    numpy = sys.modules.get("numpy")
    if numpy is None or not module.startswith("numpy"):
        return False
    return issubclass(kind, (numpy.generic, numpy.dtype, numpy.ufunc))


def _name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """A hundred thousand notes would make it look for garbage again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _dealloc_of(kind: type) -> int:
    """Address of the function that frees objects of a class."""
    # After the head of an object with a size: name, and two sizes.
    at = object.__basicsize__ + 8 + 3 * 8
    return ctypes.c_size_t.from_address(id(kind) + at).value


def _generators() -> tuple[type, ...]:
    return (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


def base_of(array: Any) -> Any:
    """The array whose memory this one shows; None: its own, or what is no array."""
    numpy, found = sys.modules["numpy"], None
    while True:
        base = array.base
        if isinstance(base, memoryview):
            base = base.obj
        elif base is not None and not isinstance(base, numpy.ndarray):
            base = getattr(base, "base", None)  # as of ``as_strided``
        if not isinstance(base, numpy.ndarray):
            return found
        array = found = base


def _frame_of(generator: Any) -> Any:
    frames = (getattr(generator, name, None) for name in ("gi_frame", "cr_frame", "ag_frame"))
    return next(filter(None, frames), None)


def own_dict(thing: Any) -> Any:
    """The attributes of an object that has any."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return found if type(found) is dict else None


def _elements(array: Any) -> list[Any]:
    if array.dtype.names is not None:
        return list(array.ravel().tolist())
    found = []
    for element in sys.modules["numpy"].nditer(array, flags=["refs_ok", "zerosize_ok"]):
        found.append(element.item())
    return found


def attributes_of(kind: type) -> dict[str, Any]:
    """Those of a class that it does not have by itself."""
    own = ("__dict__", "__weakref__", "_abc_impl", "__annotations_cache__")
    return {
        name: value
        for name, value in vars(kind).items()
        if name not in own and not isinstance(value, types.MemberDescriptorType)
    }


def _position(file: Any) -> Any:
    try:
        return ("closed",) if file.closed else (_number_of(file), file.tell())
    except Exception:
        return UNKNOWN


def _number_of(file: Any) -> int:
    try:
        return int(file.fileno())
    except Exception:
        return -1


class Sum:
    """A file that keeps a sum of what is written."""

    def __init__(self, limit_bytes: int) -> None:
        self.sum, self.size, self._limit = 0, 0, limit_bytes

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self.size += view.nbytes
        if self.size > self._limit:
            raise TooMuchError("too large")
        self.sum = zlib.crc32(view, self.sum)
        return view.nbytes


class _StatePickler(pickle.Pickler):
    """Writes one object; of those behind it that are looked at themselves, the address."""

    def __init__(self, file: Any, target: Any, known: dict[int, Any]) -> None:
        super().__init__(file, 5)
        self._target, self._known = target, known

    def persistent_id(self, thing: Any) -> Any:
        if thing is self._target or id(thing) not in self._known:
            return None
        return id(thing)
