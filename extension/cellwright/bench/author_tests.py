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

import builtins
import concurrent.futures
import contextlib
import functools
import importlib
import importlib.util
import itertools
import queue
import sys
import types
from typing import Any

from cellwright.bench.value_data import ValueTooLargeError, ValueWriter, restore

HELD = "_cellwright_held"
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
    held = _held()
    try:
        return ANSWERS[request["ask"]](request, user, held.objects)
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
        return ValueWriter(objects).write(value)
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
    given, named = (restore(request[key], _local(objects)) for key in ("arguments", "keywords"))
    value = write_value(function(*given, **named), objects)
    return {"value": value, "arguments": [write_value(argument, objects) for argument in given]}


def _attribute(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    return {"value": write_value(getattr(objects[request["place"]], request["name"]), objects)}


def _items_of(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    items = list(itertools.islice(iter(objects[request["place"]]), ITEMS_LIMIT))
    return {"value": write_value(items, objects)}


def _executed(request: Any, user: Any, objects: Any) -> dict[str, Any]:
    space = user if request["is_shared"] else {"__name__": "__main__"}
    space.update(restore(request["space"], _local(objects)))
    before = dict(space)
    exec(compile(request["code"], "<answer>", "exec"), space)
    names = [name for name in space if name != "__builtins__"]
    made = [name for name in names if name not in before or space[name] is not before[name]]
    changed = [name for name in request["given"] if name in space]
    told = {*made, *changed}
    return {"values": {name: write_value(space[name], objects) for name in told}}


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
        if data["kind"] == "module":
            return importlib.import_module(data["name"])
        return objects[data["place"]]

    return make


# In the clean kernel.


class NoDataError(AssertionError):
    """A test used something of the agent's that cannot be told as data."""


class RemoteError(Exception):
    """What the agent's code raised, where it is no exception of Python's own."""


class AuthorTest:
    """One test under way.

    Args:
        code: The test.
        space: What it sees besides the agent's variables: those of the setup.
        options: ``shared``: it sees the agent's variables; ``remote_exec``: ``exec`` in it runs in
            the agent's kernel; ``reference``: names that the reference sets; ``given``: more names.
    """

    def __init__(self, code: str, space: dict[str, Any], options: dict[str, Any]) -> None:
        self._code, self._options = code, options
        self._space = {name: value for name, value in space.items() if _is_own_name(name)}
        self._space["__name__"] = "__main__"
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

    def _run(self) -> None:
        try:
            program = compile(self._code, "<test>", "exec")
            self._fill(program)
            exec(program, self._space)
            ended = {"ended": "passed", "text": ""}
        except AssertionError as error:
            text = str(error)
            name = "" if isinstance(error, NoDataError) else "AssertionError: "
            ended = {"ended": "failed", "text": f"{name}{text}" if text else ""}
        except BaseException as error:  # a test may raise whatever it likes
            ended = {"ended": "crashed", "text": f"{type(error).__name__}: {error}"}
        self._requests.put(ended)

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
            self._space[name] = restore(data, functools.partial(self._make, name=name))
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

    def _make(self, data: Any, name: str = "") -> Any:
        """Something for what is no data."""
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
        """Call something of the agent's; lists and the like that it changed are changed here."""
        reply = self.ask(
            ask="call",
            place=place,
            attribute=attribute,
            arguments=_written(list(given)),
            keywords=_written(named),
        )
        for argument, data in zip(given, reply["arguments"]):  # noqa: B905  # Python 3.9 as well
            _change(argument, data, self._make)
        return restore(reply["value"], self._make)

    def get(self, place: int, name: str) -> Any:
        """An attribute of something of the agent's."""
        return restore(self.ask(ask="attribute", place=place, name=name)["value"], self._make)

    def items(self, place: int) -> Any:
        """What something of the agent's yields."""
        return restore(self.ask(ask="items", place=place)["value"], self._make)

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
            space=_written(given),
            given=sorted(given),
            is_shared=is_own and self._options["shared"],
        )
        for name, data in reply["values"].items():
            target[name] = restore(data, self._make)


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
    """The module of this process; None: it has none."""
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


def _change(argument: Any, data: Any, make: Any) -> None:
    if isinstance(argument, list):
        argument[:] = restore(data, make)
    elif isinstance(argument, (dict, set)):
        now = restore(data, make)
        argument.clear()
        argument.update(now)
    elif type(argument).__name__ == "ndarray" and getattr(argument, "flags", None) is not None:
        now = restore(data, make)
        if getattr(now, "shape", None) == argument.shape:
            with contextlib.suppress(ValueError):  # it cannot be written
                argument[...] = now


class RemoteObject:
    """A function, class or object of the agent's, which works in the agent's kernel."""

    def __init__(self, test: AuthorTest, data: Any, kind: Any = None) -> None:
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
    test = AuthorTest(code, user, arguments["options"])
    held: Any = types.ModuleType(TESTS)
    held.test = test
    sys.modules[TESTS] = held
    return test.begin()


def go_on(reply: Any, user: dict[str, Any]) -> Any:
    """Hand a reply to the test; its next request, or how it ended."""
    return sys.modules[TESTS].test.go_on(reply)
