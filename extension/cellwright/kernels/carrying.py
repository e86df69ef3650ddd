"""Carries what a cell came to in a sandboxed copy over to the kernel that was copied.

Runs inside kernels that may not have cellwright, as ``snapshots`` does. The copy can never leave
its sandbox, so its process cannot become the kernel; its variables can. Both are forks of one
process, so an object that both have is at the same address in both.

- In the copy, ``begin`` notes all objects that variables lead to, before the cell runs.
- In the copy, ``pack`` finds those that are other than before, and writes what changed into a file.
  What is as it was is named by its address. What cannot be carried is named instead.
- In the kernel, ``arm`` reads the file. Nothing is changed yet; what cannot be read is told.
- When the kernel is given that cell, it is not executed: its files, variables and outputs are put
  in place of it. Where something has run in between, the cell ends with an error that says so; the
  person agreed to the result, not to running the code.

Trust: a pickle can run any code while it is read. ``arm`` is called once the person has agreed to
the result of a cell whose code they were shown, and that code made the pickle. To read it gives the
code no more than to run it, which is what the same person could have answered.

What this does not carry: what libraries keep for themselves (caches, handlers, generators of random
numbers but for those of ``random`` and numpy), and whatever is not reached from a variable.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import shutil
import stat
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import awakening, obstacles
from .carried_pickles import CarryingPickler, CarryingUnpickler, words_of
from .object_states import Objects, Sum, TooMuchError
from .sandbox import NotCarriedError, Sandbox

REGISTRY = "_cellwright_carrying"
"""The module that holds what is shared: the source may be there twice, for magics and for panel."""
PACKED, ABOUT, SHOWN = "variables.pickle", "result.json", "shown.json"
CARRIED_BYTES = 500_000_000
CHECKED_BYTES = 50_000_000
"""What is packed is read back in the copy, up to this size."""
STALE = (
    "Something has run since the preview, so its result was not put in place, and the code was not "
    "run either. Run the cell again to run its code."
)
NOTE = "Taken over from its preview; the code did not run again."
DISPENSABLE = ("loky", "resource_tracker", "joblib", "forkserver")
"""What is in the command line of programs that libraries start anew when they need them."""
SETTINGS_OF_MATPLOTLIB = ("backend", "backend_fallback", "interactive")
"""They belong to the process."""

Answer = dict[str, Any]


def registry() -> Any:
    """What this process knows of results that are carried."""
    found: Any = sys.modules.get(REGISTRY)
    if found is None:
        found = sys.modules[REGISTRY] = types.ModuleType(REGISTRY)
        found.ran, found.is_counting, found.disregarded = 0, False, set()
        found.armed = found.baseline = found.landing = None
    return found


# Whether anything has run since the copy was made.


def count_cells() -> None:
    """From now on, count what runs in this kernel; before it is copied."""
    state, shell = registry(), _shell()
    if not state.is_counting:
        state.is_counting = True
        shell.events.register("pre_execute", _count)
        shell.events.register("pre_run_cell", _begin_cell)


def _count() -> None:
    state, message = registry(), _shell().get_parent() or {}
    if message.get("content", {}).get("comm_id") not in state.disregarded:
        state.ran += 1


def disregard(comm_id: str) -> None:
    """What a widget of ours is told changes no variable."""
    registry().disregarded.add(comm_id)


def _begin_cell(info: Any) -> None:
    state = registry()
    armed = state.armed
    if armed is not None and armed.code == info.raw_cell:
        state.armed = None
        armed.take_place(is_stale=armed.ran + 1 != state.ran)


def _shell() -> Any:
    return awakening.kernel_application().shell


NOT_THEIRS = ("__builtins__", "__builtin__")
Place = tuple[str, Any]
"""``variable`` and its name, ``out`` and its number, or ``module`` and its name and one in it."""


def _places(shell: Any) -> dict[Place, Any]:
    """What the person has, by where it is."""
    namespace, hidden = shell.user_ns, shell.user_ns_hidden
    found: dict[Place, Any] = {}
    for name, value in list(namespace.items()):
        is_hidden = name in hidden and hidden[name] is value
        if isinstance(name, str) and not is_hidden and name not in NOT_THEIRS:
            found["variable", name] = value
    for name in ("_", "__", "___", *(f"_{number}" for number in namespace.get("_oh", ()))):
        if name in namespace:
            found["variable", name] = namespace[name]
    for number, value in list(namespace.get("_oh", {}).items()):
        found["out", number] = value
    for module in _own_modules():
        for name, value in list(vars(module).items()):
            if not name.startswith("__"):
                found["module", (module.__name__, name)] = value
    return found


def _own_modules() -> Iterator[types.ModuleType]:
    """Those of the working folder: they may keep what is the person's."""
    here = os.path.join(os.getcwd(), "")
    modules: list[Any] = list(sys.modules.values())
    for module in modules:
        if not isinstance(module, types.ModuleType) or module.__name__.startswith("cellwright"):
            continue
        path = str(getattr(module, "__file__", None) or "")
        is_library = path.startswith(sys.prefix) or "site-packages" in path
        if path.startswith(here) and not is_library:
            yield module


# In the copy, before the cell and after it.


class _Baseline:
    """How all was before the cell ran."""

    def __init__(self) -> None:
        shell = _shell()
        self.ran = registry().ran
        self.cwd = os.getcwd()
        self.places = _places(shell)
        self.modules = {module.__name__ for module in _own_modules()}
        self.count = shell.execution_count
        self.surroundings = _surroundings()
        self.ipython = _ipython_state(shell)
        self.descriptors = _descriptors()
        self.comms = 0
        self.objects = Objects(shell.user_ns)
        self.problem = ""
        try:
            self.objects.walk(list(self.places.values()))
        except TooMuchError as error:
            self.problem = f"it cannot be told what the cell changed: {error}"
        self._watch_comms()

    def _watch_comms(self) -> None:
        """Note messages to widgets: the front end's belong to the kernel, not to the copy."""
        comms = sys.modules.get("comm.base_comm")
        kinds = [] if comms is None else [comms.BaseComm, *comms.BaseComm.__subclasses__()]
        for kind in kinds:
            usual = vars(kind).get("publish_msg")
            if usual is not None:
                kind.publish_msg = self._counting(usual)

    def _counting(self, usual: Any) -> Any:
        def publish(*arguments: Any, **options: Any) -> Any:
            self.comms += 1
            return usual(*arguments, **options)

        return publish


def begin() -> Answer:
    """In a sandboxed copy: note how all is before the cell runs."""
    registry().baseline = _Baseline()
    return {}


def pack(folder: str, sandbox: Sandbox) -> Answer:
    """In a sandboxed copy: write down what the cell came to.

    Args:
        folder: Where to; the kernel can read it. It is made.
        sandbox: Knows the files and addresses.

    Returns:
        ``{"bytes": …}``, or ``{"obstacles": […]}``: what stands in the way, by name.
    """
    before: _Baseline = registry().baseline
    found = [*_things_done(before, sandbox)]
    if before.problem:
        found.append(before.problem)
    if found:
        return {"obstacles": found}
    try:
        return _pack_into(folder, before, sandbox)
    except (NotCarriedError, sandbox.refusal) as error:
        shutil.rmtree(folder, ignore_errors=True)
        return {"obstacles": [str(error)]}


def _things_done(before: _Baseline, sandbox: Sandbox) -> Iterator[str]:
    """What cannot be carried because it is no variable and no file."""
    shell, app = _shell(), awakening.kernel_application()
    addresses = sandbox.effects()["addresses"]
    if addresses:
        yield f"it tried to reach {addresses[0]}"
    if os.getcwd() != before.cwd:
        yield "it changed the working directory"
    if before.comms:
        yield "it used widgets"
    yield from obstacles.threads(app)
    yield from obstacles.tasks()
    yield from obstacles.timers()
    yield from _children()
    changed = [key for key, value in _ipython_state(shell).items() if before.ipython[key] != value]
    yield from (f"it changed {what}" for what in changed)


def _children() -> Iterator[str]:
    """The programs that the cell has left running."""
    own = str(os.getpid())
    for number in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
            if words[1] != own or words[0] in "ZX":
                continue
            with open(f"/proc/{number}/cmdline", encoding="utf-8", errors="replace") as file:
                command = file.read().replace("\0", " ").strip()
            if not any(word in command for word in DISPENSABLE):
                yield f"it started a program that still runs ({command[:60] or number})"


def _ipython_state(shell: Any) -> dict[str, Any]:
    """What a cell may have changed of IPython itself; by its name for people."""
    callbacks = [
        (event, id(callback))
        for event, found in shell.events.callbacks.items()
        for callback in found
        if not str(getattr(callback, "__module__", "")).startswith("matplotlib")
    ]
    magics = [len(kind) for kind in shell.magics_manager.magics.values()]
    return {
        "the extensions of IPython": sorted(shell.extension_manager.loaded),
        "what IPython calls around cells": callbacks,
        "the magics of IPython": magics,
        "how IPython reads code": [*map(id, shell.ast_transformers)],
    }


def _descriptors() -> dict[int, str]:
    """Files of the person's and sockets that this process has open."""
    found = {}
    for number in map(int, os.listdir("/proc/self/fd")):
        with contextlib.suppress(OSError):
            mode, path = os.fstat(number).st_mode, os.readlink(f"/proc/self/fd/{number}")
            is_file = stat.S_ISREG(mode) and not path.startswith((sys.prefix, "/usr/", "/proc/"))
            is_file = (
                is_file
                and not path.startswith(("/memfd:", "/dev/shm/sem."))
                and "(deleted)" not in path
            )
            if is_file and not _is_of_ipython(path):
                found[number] = path
            elif stat.S_ISSOCK(mode) and not _is_of_loop(number):
                found[number] = "socket"
    return found


def _is_of_ipython(path: str) -> bool:
    shell = _shell()
    return path.startswith(str(shell.ipython_dir)) or path.startswith(
        os.path.dirname(str(shell.history_manager.hist_file)) or "\0"
    )


def _is_of_loop(number: int) -> bool:
    """Whether a socket has no name at either end, as those of event loops and ZeroMQ."""
    import socket

    with socket.socket(fileno=os.dup(number)) as line:
        return line.family == socket.AF_UNIX


# What is carried beside variables.


def _surroundings() -> dict[str, Any]:
    """State of the process that cells often set."""
    found: dict[str, Any] = {"environ": dict(os.environ), "path": list(sys.path)}
    random, numpy = sys.modules.get("random"), sys.modules.get("numpy")
    if random is not None:
        found["random"] = random.getstate()
    if numpy is not None and "numpy.random" in sys.modules:
        kind, keys, *rest = numpy.random.get_state()
        found["numpy.random"] = (kind, keys.tobytes(), str(keys.dtype), *rest)
    if numpy is not None:
        found["numpy"] = numpy.get_printoptions()
        found["numpy"].pop("override_repr", None)
    matplotlib = sys.modules.get("matplotlib")
    if matplotlib is not None and hasattr(matplotlib, "rcParams"):
        settings = dict.items(matplotlib.rcParams)
        found["matplotlib"] = {k: v for k, v in settings if k not in SETTINGS_OF_MATPLOTLIB}
    options = getattr(sys.modules.get("pandas._config.config"), "_registered_options", None)
    if options is not None and "pandas" in sys.modules:
        found["pandas"] = _pandas_options(options)
    return found


def _pandas_options(names: Any) -> dict[str, Any]:
    pandas, found = sys.modules["pandas"], {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):
                found[name] = pandas.get_option(name)
    return found


def _changed_surroundings(before: dict[str, Any]) -> dict[str, Any]:
    """What is other than before; of what has many settings, those."""
    found = {}
    for key, value in _surroundings().items():
        known = before.get(key)
        if known == value:
            continue
        if isinstance(value, dict) and isinstance(known, dict):
            gone = dict.fromkeys(known.keys() - value.keys())
            value = {k: v for k, v in value.items() if k not in known or known[k] != v} | gone
        found[key] = value
    return found


def _put_surroundings(given: dict[str, Any]) -> None:
    for name, value in given.get("environ", {}).items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if "path" in given:
        sys.path[:] = given["path"]
    if "random" in given:
        import random

        random.setstate(given["random"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _put_settings(given)


def _put_settings(given: dict[str, Any]) -> None:
    """Those of libraries."""
    if "numpy.random" in given:
        import numpy

        kind, keys, dtype, *rest = given["numpy.random"]
        numpy.random.set_state((kind, numpy.frombuffer(keys, dtype), *rest))
    if "numpy" in given:
        import numpy

        numpy.set_printoptions(**given["numpy"])
    if "matplotlib" in given:
        import matplotlib

        matplotlib.rcParams.update(given["matplotlib"])
    if "pandas" in given:
        import pandas

        now = _pandas_options(given["pandas"])
        for name, value in given["pandas"].items():
            if now.get(name, value) != value:
                pandas.set_option(name, value)


# Packing.


def _pack_into(folder: str, before: _Baseline, sandbox: Sandbox) -> Answer:
    shell, objects = _shell(), before.objects
    now = _places(shell)
    affected = objects.leading_to(objects.changed())
    _check_unknown(before, shell)
    _check_modules(before, now, affected)
    carried, removed = {}, []
    for place, value in now.items():
        if place[0] == "module":
            continue
        is_new = place not in before.places or before.places[place] is not value
        # New results are counted and named when they are shown.
        is_result = place[0] == "out" or re.fullmatch(r"_+|_\d+", place[1]) is not None
        if (id(value) in affected or is_new) and not (is_new and is_result):
            carried[place] = value
    for place in before.places:
        if place not in now and place[0] == "variable":
            removed.append(place[1])
    results = shell.user_ns.get("_oh", {})
    has_result = before.count in results and ("out", before.count) not in before.places
    surroundings = _changed_surroundings(before.surroundings)
    content = {
        "carried": carried,
        "result": results[before.count] if has_result else None,
        "surroundings": surroundings,
    }
    os.mkdir(folder, 0o700)
    known = {key for key in objects.known if key not in affected}
    _write_pickle(os.path.join(folder, PACKED), content, known, shell.user_ns, before.count)
    size = os.path.getsize(os.path.join(folder, PACKED))
    # Not sooner: of a variable that holds one the name says more.
    for number, path in _descriptors().items():
        if before.descriptors.get(number) != path:
            held = path if path.startswith("/") else "a socket"
            raise NotCarriedError(f"it holds {held} open")
    files = sandbox.copy_files(folder, [str(shell.ipython_dir)], CARRIED_BYTES - size)
    about = {
        "ran": before.ran,
        "removed": removed,
        "has_result": has_result,
        "files": files,
        "cwd": before.cwd,
    }
    with open(os.path.join(folder, ABOUT), "w", encoding="utf-8") as file:
        json.dump(about, file)
    if size <= CHECKED_BYTES:
        try:
            _read(folder, objects.known, shell.user_ns)
        except Exception as error:
            raise NotCarriedError(f"what it made cannot be read back: {words_of(error)}") from error
    return {"bytes": size}


def _check_modules(before: _Baseline, now: dict[Place, Any], affected: set[int]) -> None:
    """Refuse where a module of the person's has changed: only variables are carried.

    Raises:
        NotCarriedError: One has, or may have since it was imported.
    """
    for module in _own_modules():
        if module.__name__ not in before.modules:
            name = module.__name__
            raise NotCarriedError(f"it imported {name}, a module of the working folder")
    for place in {*before.places, *now}:
        if place[0] != "module":
            continue
        is_same = place in before.places and place in now and before.places[place] is now[place]
        if not is_same or id(now[place]) in affected:
            raise NotCarriedError(f"it changed what the module {place[1][0]} keeps")


def _check_unknown(before: _Baseline, shell: Any) -> None:
    """Refuse where the cell may have used something of which it cannot be told.

    Raises:
        NotCarriedError: It may.
    """
    unknown = before.objects.unknown
    if not unknown:
        return
    leading = before.objects.leading_to(unknown)
    used = _names_used(shell, before)
    for (kind, name), value in before.places.items():
        if kind == "variable" and id(value) in leading and name in used:
            raise NotCarriedError(f"it cannot be told whether the cell changed `{name}`")


def _names_used(shell: Any, before: _Baseline) -> set[str]:
    """The names that the cell and the functions of cells that it names use."""
    source = shell.user_ns["_ih"][-1] if shell.user_ns.get("_ih") else ""
    found: set[str] = set()
    waiting = []
    with contextlib.suppress(SyntaxError):
        waiting = [node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        value = before.places.get(("variable", name))
        kind = value if isinstance(value, type) else type(value)
        functions = [value, *(vars(kind).values() if kind.__module__ == "__main__" else ())]
        for function in functions:
            if isinstance(function, types.FunctionType):
                waiting += _names_in(function.__code__)
    return found


def _names_in(code: types.CodeType) -> list[str]:
    inner = [name for c in code.co_consts if isinstance(c, types.CodeType) for name in _names_in(c)]
    return [*code.co_names, *inner]


class _Limited:
    """A file that takes no more than so many bytes."""

    def __init__(self, file: Any, limit_bytes: int) -> None:
        self._file, self._left = file, limit_bytes

    def write(self, data: Any) -> int:
        self._left -= memoryview(data).nbytes
        if self._left < 0:
            raise TooMuchError(f"there is more of it than {CARRIED_BYTES / 1e6:,.0f} MB")
        return int(self._file.write(data))


def _write_pickle(
    path: str, content: Any, known: set[int], namespace: dict[str, Any], count: int
) -> None:
    """Write what is carried.

    Raises:
        NotCarriedError: Something cannot be; the message names the variable.
        TooMuchError: It is too large.
    """
    try:
        with open(path, "wb") as file:
            CarryingPickler(_Limited(file, CARRIED_BYTES), known, namespace).dump(content)
    except TooMuchError:
        raise
    except Exception as error:
        for place, value in [*content["carried"].items(), (("out", count), content["result"])]:
            name = place[1] if place[0] == "variable" else f"Out[{place[1]}]"
            try:
                CarryingPickler(Sum(CARRIED_BYTES), known, namespace).dump(value)
            except Exception as why:
                raise NotCarriedError(f"`{name}` cannot be carried over: {words_of(why)}") from why
        raise NotCarriedError(f"what it made cannot be carried over: {words_of(error)}") from error


def _read(folder: str, known: dict[int, Any], namespace: dict[str, Any]) -> Any:
    with open(os.path.join(folder, PACKED), "rb") as file:
        return CarryingUnpickler(file, known, namespace).load()


# In the kernel.


def arm(folder: str, code: str) -> Answer:
    """Read what a copy has packed, and let it take the place of a cell that is about to run.

    Args:
        folder: Where it lies.
        code: The cell that was tried: the next one, if it is this one.

    Returns:
        ``{}``, or ``{"refused": …}``: why it cannot be; then nothing has changed.
    """
    state, shell = registry(), _shell()
    before, state.armed = state.armed, None
    if before is not None:
        before.close()
    try:
        with open(os.path.join(folder, ABOUT), encoding="utf-8") as file:
            about = json.load(file)
        with open(os.path.join(folder, SHOWN), encoding="utf-8") as file:
            shown = json.load(file)
        if state.ran != about["ran"]:
            raise NotCarriedError("something has run since")
        if os.getcwd() != about["cwd"]:
            raise NotCarriedError("the working directory is another one now")
        for row in about["files"]:
            if row["change"] != "folder":
                _check_file(row)
        objects = Objects(shell.user_ns)
        objects.walk(list(_places(shell).values()), with_states=False)
        content = _read(folder, objects.known, shell.user_ns)
        # From now on it is ours: whoever asked may forget it before the cell runs.
        own = tempfile.mkdtemp(prefix="cw-")
        folder = shutil.move(folder, own)
    except NotCarriedError as error:
        return {"refused": str(error)}
    except Exception as error:  # whatever the code of the person's classes does
        return {"refused": f"it cannot be read: {type(error).__name__}: {error}"}
    state.armed = _Result(code, folder, about, content, shown)
    return {}


def forget() -> None:
    """In a fork that becomes a kernel: what was about to be put in place is not, here."""
    registry().armed = None


def _check_file(row: Answer) -> None:
    """Refuse to put a file in place of one that is not as the copy saw it.

    Raises:
        NotCarriedError: It is another one, or may not be changed.
    """
    path, before = row["path"], row["before"]
    try:
        now = os.lstat(path)
    except OSError:
        now = None
    is_same = (None if now is None else [now.st_size, now.st_mtime_ns]) == before
    if not is_same:
        raise NotCarriedError(f"{path} has changed since")
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    if not os.access(folder, os.W_OK):
        raise NotCarriedError(f"{path} may not be written")


class AdoptionError(Exception):
    """The result of a preview could not be put in place; nothing has changed."""


class _Result:
    """What takes the place of a cell."""

    def __init__(self, code: str, folder: str, about: Answer, content: Any, shown: Answer) -> None:
        self.code, self.ran, self._is_stale = code, registry().ran, False
        self._shell, self._folder = _shell(), folder
        self._about, self._content, self._shown = about, content, shown

    def take_place(self, *, is_stale: bool) -> None:
        """Let the cell that begins now do this, whatever it says.

        Args:
            is_stale: Something has run since it was read; then the cell says so and does nothing.
        """
        self._is_stale = is_stale
        state, transformers = registry(), self._shell.ast_transformers
        state.landing = self
        taking = _Taking(self, transformers)
        transformers.append(taking)

        def leave(_: Any) -> None:
            self._shell.events.unregister("post_run_cell", leave)
            taking.leave()

        self._shell.events.register("post_run_cell", leave)

    def land(self) -> None:
        """Put files, variables and outputs in place.

        Raises:
            AdoptionError: A file could not be, or it is stale; nothing has changed.
        """
        registry().landing = None
        if self._is_stale:
            self.close()
            raise AdoptionError(STALE)
        try:
            _put_files(self._folder, self._about["files"])
        finally:
            self.close()
        namespace = self._shell.user_ns
        for (kind, key), value in self._content["carried"].items():
            if kind == "variable":
                namespace[key] = value
            else:
                namespace["_oh"][key] = value
        for name in self._about["removed"]:
            namespace.pop(name, None)
        for output in self._shown["messages"]:
            self._show(output)
        if self._about["has_result"]:
            hook = self._shell.displayhook
            hook.update_user_ns(self._content["result"])
            hook.fill_exec_result(self._content["result"])
        # Last: what shows something may draw random numbers.
        _put_surroundings(self._content["surroundings"])
        _note(self._shown["figures"])

    def close(self) -> None:
        """Delete its files."""
        shutil.rmtree(os.path.dirname(self._folder), ignore_errors=True)

    def _show(self, output: Answer) -> None:
        shell, kind = self._shell, output["kind"]
        if kind == "stream":
            stream = sys.stderr if output["name"] == "stderr" else sys.stdout
            stream.write(output["text"])
            stream.flush()
        elif kind == "clear_output":
            shell.display_pub.clear_output(output["wait"])
        elif kind == "execute_result":
            hook = shell.displayhook
            hook.start_displayhook()
            hook.write_output_prompt()
            hook.write_format_data(output["data"], output["metadata"])
            hook.finish_displayhook()
        elif kind in ("display_data", "update_display_data"):
            name = output["display_id"]
            shell.display_pub.publish(
                data=output["data"],
                metadata=output["metadata"],
                transient={"display_id": name} if name else {},
                update=kind == "update_display_data",
            )


class _Taking:
    """Replaces the code of one cell: an AST transformer of IPython's."""

    def __init__(self, result: _Result, transformers: list[Any]) -> None:
        self._result, self._transformers = result, transformers

    def visit(self, tree: Any) -> Any:
        self.leave()
        source = f"__import__('sys').modules[{REGISTRY!r}].landing.land()"
        return ast.parse(source)

    def leave(self) -> None:
        self._transformers[:] = [known for known in self._transformers if known is not self]


def _note(figures: Sequence[str]) -> None:
    """Say it where the cell's end is told, and what its figures showed."""
    for name in ("_cellwright.cell_watch", "cellwright.kernels.cell_watch"):
        cell = getattr(getattr(sys.modules.get(name), "STATE", None), "cell", None)
        if cell is not None:
            cell.notes.append(NOTE)
            cell.figures.seen += figures


def _put_files(folder: str, rows: Sequence[Answer]) -> None:
    """Put the files of a copy in place.

    Raises:
        AdoptionError: One could not be; all are as they were.
    """
    undo: list[Callable[[], object]] = []
    try:
        for number, row in enumerate(rows):
            _put_file(folder, row, os.path.join(folder, f"before-{number}"), undo)
        # Those within before the one around them: its rights may be none.
        for row in reversed(rows):
            if row["change"] == "folder":
                _set_mode(row["path"], row["mode"], undo)
    except OSError as error:
        for step in reversed(undo):
            with contextlib.suppress(OSError):
                step()
        raise AdoptionError(f"Nothing has changed: {error}.") from error


def _put_file(folder: str, row: Answer, spare: str, undo: list[Callable[[], object]]) -> None:
    path = row["path"]
    if row["change"] == "folder":
        if not os.path.isdir(path):
            os.makedirs(path)
            undo.append(lambda: os.rmdir(path))
        return
    if row["before"] is not None:
        shutil.copy2(path, spare, follow_symlinks=False)
        undo.append(lambda: _restore(spare, path))
    if row["change"] == "deleted":
        os.remove(path)
        return
    if row["before"] is None:
        undo.append(lambda: os.remove(path))
    if "link" in row:
        if row["before"] is not None:
            os.remove(path)
        os.symlink(row["link"], path)
        return
    if os.path.islink(path):
        os.remove(path)
    shutil.copyfile(os.path.join(folder, row["copy"]), path)
    if row["before"] is None or stat.S_IMODE(os.stat(path).st_mode) != row["mode"]:
        os.chmod(path, row["mode"])


def _set_mode(path: str, mode: int, undo: list[Callable[[], object]]) -> None:
    before = stat.S_IMODE(os.stat(path).st_mode)
    if before != mode:
        os.chmod(path, mode)
        undo.append(lambda: os.chmod(path, before))


def _restore(spare: str, path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    shutil.copy2(spare, path, follow_symlinks=False)
