"""An author's tests, run in a kernel that the agent never touched.

This source is sent to kernels after ``value_data``. One half works in the agent's kernel: it tells
variables as data, and calls functions with data. The other half works in the clean kernel: it runs
the tests on values made of that data, on a thread that waits whenever the agent's kernel is needed.
What is expected stands in the tests alone, so the agent's kernel never has it.

What this does not protect against: what a function or method of the agent's returns is the agent's
word, told as data; a test that asks ``is_right(expected)`` hands over what it expects. Tests that
read a pickle which the agent wrote run the agent's code.
"""

from __future__ import annotations

import base64
import builtins
import concurrent.futures
import contextlib
import functools
import importlib
import importlib.util
import io
import itertools
import pickle
import queue
import re
import sys
import types
from typing import Any

from cellwright.bench.value_data import MASKED, ValueTooLargeError, ValueWriter, restore

HELD = "_cellwright_held"
UNFIT = re.compile(r"(^|\.)mock(\.|$)|__main__")
"""Objects of ``unittest.mock`` are equal to anything, and programs run when they are imported."""
OF_MASKS = ("MaskedArray", "compressed", "filled", "getmaskarray", "ma", "mask", "numpy.ma")
"""A test that says none of these does not expect masked arrays."""
ITEMS_LIMIT = 100_000
DATA_PACKAGES = ("__main__", "builtins", "collections", "datetime", "decimal", "fractions")
DATA_LIBRARIES = ("numpy", "pandas")
"""What these have is told as data, or is not what it says it is."""


# In the agent's kernel.


def answer_request(request: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """Do what the tests need done where the agent's code ran.

    Args:
        request: ``ask`` says what.
        user: The agent's variables.
    """
    return answer_with(ANSWERS, request, user)


def answer_with(
    answers: dict[str, Any], request: dict[str, Any], user: dict[str, Any]
) -> dict[str, Any]:
    """The same, where there is more that can be asked."""
    held = _held()
    try:
        told: dict[str, Any] = answers[request["ask"]](request, user, held.objects)
        return told
    except BaseException as error:  # whatever the agent's code raises, SystemExit too
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"raised": kinds, "text": str(error)[:1_000]}


def _held() -> Any:
    if HELD not in sys.modules:
        made: Any = types.ModuleType(HELD)
        made.objects = []
        sys.modules[HELD] = made
    return sys.modules[HELD]


def write_value(value: Any, objects: list[Any]) -> Any:
    """The value as data; one that is too large, or breaks when it is read, is none."""
    try:
        return ValueWriter(objects, tells_same=True).write(value)
    except ValueTooLargeError as error:
        return {"kind": "object", "role": "", "type": f"{type(value).__name__}: {error}"}
    except Exception as error:  # a class of the agent's may raise whatever it likes
        return {"kind": "object", "role": "", "type": f"{type(value).__name__}: {error!r}"}


def _values(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    names = [name for name in request["names"] if name in user]
    return {"values": {name: write_value(user[name], objects) for name in names}}


def _called(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    function = objects[request["place"]]
    if request["attribute"]:
        function = getattr(function, request["attribute"])
    given, named = _unpacked(request["given"], objects)
    before = [pickled(argument) for argument in (*given, *named.values())]
    value = write_value(function(*given, **named), objects)
    changed = [
        None if was is not None and pickled(argument) == was else write_value([argument], objects)
        for was, argument in zip(before, (*given, *named.values()))  # noqa: B905  # Python 3.9
    ]
    return {"value": value, "changed": changed}


def pickled(value: Any) -> bytes | None:
    """Bytes that are others when the value is; None: it has none."""
    try:
        return pickle.dumps(value)
    except Exception:  # a function, an object of a class of the tests
        return None


class InputReader(pickle.Unpickler):
    """Reads what the tests hand over.

    Arrays of objects get numpy's own dtype, not one that is equal to it: pandas before 2.1 writes
    into those that have another one where they should be copied.
    """

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle names."""
        found = super().find_class(module, name)
        if (module, name) != ("numpy", "dtype"):
            return found
        return lambda text, *given: found("O") if text == "O8" else found(text, *given)


def _unpacked(packed: Any, objects: list[Any]) -> Any:
    """What the tests handed over."""
    if "pickle" in packed:
        return InputReader(io.BytesIO(base64.b64decode(packed["pickle"]))).load()
    return restore(packed["data"], _local(objects))


def _attribute(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    return {"value": write_value(getattr(objects[request["place"]], request["name"]), objects)}


def _items_of(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    items = list(itertools.islice(iter(objects[request["place"]]), ITEMS_LIMIT))
    return {"value": write_value(items, objects)}


def _executed(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    space = user if request["is_shared"] else {"__name__": "__main__"}
    given = _unpacked(request["space"], objects)
    space.update(given)
    before, were = dict(space), {name: pickled(value) for name, value in given.items()}
    exec(compile(request["code"], "<answer>", "exec"), space)
    told = {}
    for name in request["names"]:
        is_same = name in before and space.get(name) is before[name]
        if is_same and name in were:
            is_same = were[name] is not None and pickled(space[name]) == were[name]
        if name in space and not is_same:
            told[name] = write_value(space[name], objects)
    return {"values": told}


ANSWERS = {
    "values": _values,
    "call": _called,
    "attribute": _attribute,
    "items": _items_of,
    "execute": _executed,
}


def _local(objects: list[Any]) -> Any:
    """Makes objects out of what the tests hand back of the agent's own."""

    def make(data: Any) -> Any:
        if data["kind"] == MASKED:
            return data["value"]
        if data["kind"] == "module":
            return importlib.import_module(data["name"])
        return objects[data["place"]]

    return make


# In the clean kernel.


class NoDataError(AssertionError):
    """A test used something of the agent's that cannot be told as data."""


class RemoteError(Exception):
    """What the agent's code raised, where it is no exception of Python's own."""


class RemoteTest:
    """A test under way in the clean kernel, which needs something of the agent's now and then."""

    reads_masks = True
    """It knows of masked arrays."""

    def __init__(self) -> None:
        self._requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = concurrent.futures.ThreadPoolExecutor(1)

    def begin(self) -> Any:
        """Start it; the first request, or how it ended."""
        self._thread.submit(self._run)
        return self._requests.get()

    def go_on(self, reply: Any) -> Any:
        """Hand over the reply; the next request, or how it ended."""
        self._replies.put(reply)
        return self._requests.get()

    def ask(self, **request: Any) -> Any:
        """Have the agent's kernel do something; what it says."""
        self._requests.put(request)
        reply = self._replies.get()
        if "raised" in reply:
            raise _exception(reply)
        return reply

    def work(self) -> Any:
        """Do it; what there is to say in the end, as data."""
        raise NotImplementedError

    def _run(self) -> None:
        try:
            ended = {"ended": "passed", "text": "", "found": self.work()}
        except AssertionError as error:
            text = str(error)
            name = "" if isinstance(error, NoDataError) else "AssertionError: "
            ended = {"ended": "failed", "text": f"{name}{text}" if text else ""}
        except BaseException as error:  # a test may raise whatever it likes
            ended = {"ended": "crashed", "text": f"{type(error).__name__}: {error}"}
        self._requests.put(ended)

    def make(self, data: Any, name: str = "") -> Any:
        """Something for what is no data."""
        if data["kind"] == MASKED:
            return data["value"] if self.reads_masks else NoData(name, data["type"])
        if data["kind"] == "module":
            return _own_module(data["name"]) or NoData(name or data["name"], "module")
        if data["role"] == "function":
            return _own_object(data) or RemoteObject(self, data)
        found = _own_object(data) if data.get("module", "") not in DATA_PACKAGES else None
        is_library = isinstance(found, type)
        package = str(data.get("module", "")).partition(".")[0]
        if package in DATA_LIBRARIES or "place" not in data or (name and not is_library):
            return NoData(name, data["type"])
        return RemoteObject(self, data, found if is_library else None)

    def call(self, place: int, attribute: str, given: Any, named: Any) -> Any:
        """Call something of the agent's; what it changed of its arguments is changed here."""
        packed = _packed([list(given), named])
        reply = self.ask(ask="call", place=place, attribute=attribute, given=packed)
        arguments = (*given, *named.values())
        for argument, data in zip(arguments, reply["changed"]):  # noqa: B905  # Python 3.9
            if data is not None:
                _change(argument, restore(data, self.make)[0])
        return restore(reply["value"], self.make)

    def get(self, place: int, name: str) -> Any:
        """An attribute of something of the agent's."""
        return restore(self.ask(ask="attribute", place=place, name=name)["value"], self.make)

    def items(self, place: int) -> Any:
        """What something of the agent's yields."""
        return restore(self.ask(ask="items", place=place)["value"], self.make)


class AuthorTest(RemoteTest):
    """A test that is a program.

    Args:
        code: The test.
        space: What it sees besides the agent's variables: those of the setup.
        options: ``shared``: it sees the agent's variables; ``remote_exec``: ``exec`` in it runs in
            the agent's kernel; ``reference``: names that the reference sets; ``given``: more names.
    """

    def __init__(self, code: str, space: dict[str, Any], options: dict[str, Any]) -> None:
        super().__init__()
        self._program, self._options = compile(code, "<test>", "exec"), options
        names = _names_in(self._program)
        self._words = sorted(names | _words_in(self._program))
        self.reads_masks = not names.isdisjoint(OF_MASKS)
        self._space = {name: value for name, value in space.items() if _is_own_name(name)}
        self._space["__name__"] = "__main__"

    def work(self) -> None:
        """Run it."""
        self._fill(self._program)
        exec(self._program, self._space)

    def _fill(self, program: types.CodeType) -> None:
        """Take the agent's variables that the test names."""
        self._space.update(self._options["given"])
        if self._options["remote_exec"]:
            self._space["exec"] = self._execute
        if not self._options["shared"]:
            return
        names = [name for name in sorted(_names_in(program)) if self._is_the_agents(name)]
        values = self.ask(ask="values", names=names)["values"] if names else {}
        for name, data in values.items():
            if hasattr(builtins, name) and _is_no_data(data):
                continue  # a number may be called max, but nothing else is max
            self._space[name] = restore(data, functools.partial(self.make, name=name))
        for name in set(names) - set(values):
            if name not in self._options["given"]:
                self._space.pop(name, None)  # the agent has deleted it

    def _is_the_agents(self, name: str) -> bool:
        """Whether the test means the agent's: never a function or module of the setup."""
        if name.startswith("__") or name in self._options["given"]:
            return False
        own = self._space.get(name)
        is_tool = callable(own) or isinstance(own, types.ModuleType)
        return name in self._options["reference"] or not is_tool

    def _execute(self, code: Any, space: Any = None, locals_: Any = None) -> None:
        """``exec``, in the agent's kernel."""
        if isinstance(code, types.CodeType):
            raise NoDataError("exec was given code that is compiled, not its text")
        is_own = space is None or space is self._space
        target = self._space if space is None else space
        names = _names_in(compile(code, "<answer>", "exec"))
        given = {name: target[name] for name in names if name in target and not is_own}
        reply = self.ask(
            ask="execute",
            code=code,
            space=_packed(given),
            names=self._words,
            is_shared=is_own and self._options["shared"],
        )
        for name, data in reply["values"].items():
            target[name] = restore(data, self.make)


def _is_no_data(data: Any) -> bool:
    return isinstance(data, dict) and data["kind"] in ("object", "module")


def _is_own_name(name: str) -> bool:
    return not name.startswith("_") and name not in ("In", "Out", "get_ipython", "exit", "quit")


def _names_in(code: types.CodeType) -> set[str]:
    """All names that code says."""
    found = {*code.co_names, *code.co_varnames, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names_in(constant)
    return found


def _words_in(code: types.CodeType) -> set[str]:
    """All words in one-line texts of code: ``space["result"]`` is a name, too."""
    found: set[str] = set()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _words_in(constant)
        elif isinstance(constant, str) and "\n" not in constant:
            found |= set(re.findall(r"[^\W\d]\w*", constant))
    return found


def _exception(reply: Any) -> BaseException:
    for name in reply["raised"]:
        kind = getattr(builtins, name, None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            if kind in (Exception, BaseException):
                break
            return kind(reply["text"]) if kind in PLAIN_ERRORS else RemoteError(_said(reply))
    return RemoteError(_said(reply))


PLAIN_ERRORS = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, IndexError, KeyError),
    *(LookupError, MemoryError, ModuleNotFoundError, NameError, NotImplementedError, OSError),
    *(OverflowError, RecursionError, RuntimeError, StopIteration, TypeError, ValueError),
    *(FileNotFoundError, PermissionError, ZeroDivisionError, TimeoutError),
)


def _said(reply: Any) -> str:
    return f"{reply['raised'][0]}: {reply['text']}"


def _own_module(name: str) -> Any:
    """The module of this process; None: it has none, or one that no test should work with."""
    if UNFIT.search(name):
        return None
    try:
        return importlib.import_module(name) if importlib.util.find_spec(name) else None
    except Exception:  # what is there and cannot be imported is not there
        return None


def _own_object(data: Any) -> Any:
    """The function or class of this process that is called so; None: it has none."""
    module, name = data.get("module", ""), data.get("name", "")
    if not module or module == "__main__" or "<" in name:
        return None
    found = _own_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _written(value: Any) -> Any:
    """Data for the agent's kernel."""
    kept: list[Any] = []
    data = ValueWriter(kept).write(value)
    return _with_places(data, kept)


def _packed(value: Any) -> Any:
    """The value for the agent's kernel: whole, or as data where the agent's own is in it."""
    try:
        return {"pickle": base64.b64encode(pickle.dumps(value)).decode()}
    except Exception:  # a function of the tests, something of the agent's
        return {"data": _written(value)}


def _with_places(data: Any, kept: list[Any]) -> Any:
    """What was the agent's gets its place there again; nothing else can be handed over."""
    if isinstance(data, list):
        return [_with_places(item, kept) for item in data]
    if not isinstance(data, dict):
        return data
    if data.get("kind") == "object":
        value = kept[data["place"]]
        if not isinstance(value, RemoteObject):
            raise TypeError(f"a {data['type']} cannot be handed to the agent's kernel")
        return {"kind": "object", "place": object.__getattribute__(value, "_place")}
    return {key: _with_places(item, kept) for key, item in data.items()}


def _change(argument: Any, now: Any) -> None:
    """Make an argument what the agent's code has made of it."""
    if isinstance(argument, list):
        argument[:] = now
    elif isinstance(argument, (dict, set)):
        argument.clear()
        argument.update(now)
    elif hasattr(argument, "_update_inplace") and type(now) is type(argument):
        argument._update_inplace(now)  # a table
    elif type(argument).__name__ == "ndarray" and getattr(now, "shape", None) == argument.shape:
        with contextlib.suppress(ValueError):  # it cannot be written
            argument[...] = now


class RemoteObject:
    """A function, class or object of the agent's, which works in the agent's kernel."""

    def __init__(self, test: RemoteTest, data: Any, kind: Any = None) -> None:
        vars(self).update(_test=test, _place=data["place"], _data=data, _kind=kind)

    @property  # type: ignore[misc]  # isinstance asks for it
    def __class__(self) -> Any:
        return vars(self)["_kind"] or RemoteObject

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self._test.call(self._place, "", given, named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__") and name not in ("__name__", "__doc__"):
            raise AttributeError(name)
        return self._test.get(self._place, name)

    def __iter__(self) -> Any:
        return iter(self._test.items(self._place))

    def __repr__(self) -> str:
        return f"<{self._data['type']} of the agent's>"

    __hash__ = object.__hash__


class NoData:
    """A variable of the agent's that cannot be told as data; no test can use it."""

    def __init__(self, name: str, kind: str) -> None:
        vars(self).update(_said=f"{name or 'it'} is a {kind}, which cannot be told as data")

    def __getattr__(self, name: str) -> Any:
        raise NoDataError(vars(self)["_said"])

    __hash__ = object.__hash__


def _refuse(self: Any, *given: Any) -> Any:
    said = vars(self).get("_said") or f"{self!r} is no data, and cannot be compared"
    raise NoDataError(said)


def _forward(name: str) -> Any:
    def forwarded(self: Any, *given: Any) -> Any:
        return self._test.call(self._place, name, given, {})

    return forwarded


COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__")
USED = (
    *("__len__", "__getitem__", "__setitem__", "__delitem__", "__next__", "__str__", "__enter__"),
    *("__exit__", "__add__", "__sub__", "__mul__", "__truediv__", "__neg__", "__abs__"),
)
CONVERTED = ("__float__", "__int__", "__index__", "__array__")
for _name in COMPARED:
    setattr(RemoteObject, _name, _refuse)
for _name in (*COMPARED, *USED, *CONVERTED, "__bool__", "__iter__", "__call__"):
    setattr(NoData, _name, _refuse)
for _name in USED:
    setattr(RemoteObject, _name, _forward(_name))


TESTS = "_cellwright_tests"


def begin_test(arguments: dict[str, Any], user: dict[str, Any]) -> Any:
    """Begin a test; its first request, or how it ended."""
    shell = user.get("get_ipython", lambda: None)()
    code = arguments["code"] if shell is None else shell.transform_cell(arguments["code"])
    return begin(AuthorTest(code, user, arguments["options"]))


def begin(test: RemoteTest) -> Any:
    """Begin this test."""
    held: Any = types.ModuleType(TESTS)
    held.test = test
    sys.modules[TESTS] = held
    return test.begin()


def go_on(reply: Any, user: dict[str, Any]) -> Any:
    """Hand a reply to the test; its next request, or how it ended."""
    return sys.modules[TESTS].test.go_on(reply)
