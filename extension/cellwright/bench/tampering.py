"""What code of an agent changed in its kernel's own works, looked for before and after.

This source is sent to kernels. What is found is told, and fails a check that has to run beside the
agent's code.

What this does not protect against: it looks in the process that it mistrusts. Code that knows what
is looked for can hide from it; what matters is therefore compared elsewhere.
"""

from __future__ import annotations

import builtins
import gc
import os
import signal
import sys
import threading
import types
from typing import Any

WATCHED = (
    *("builtins", "math", "cmath", "json", "json.encoder", "json.decoder", "pickle", "copy", "io"),
    *("operator", "inspect", "decimal", "fractions", "statistics", "hashlib", "random", "time"),
    *("unittest.case", "numpy", "numpy.testing", "pandas", "pandas.testing", "pandas.util"),
    *("numpy.testing._private.utils", "pandas._testing", "pandas._testing.asserters"),
    *("IPython.core.interactiveshell", "ipykernel.ipkernel", "ipykernel.kernelbase"),
    *("ipykernel.zmqshell", "jupyter_client.session", "zmq.sugar.socket", "matplotlib.figure"),
    *("sklearn.metrics", "scipy.stats"),
)
MOVES = ("builtins._", "builtins.exit", "builtins.quit", "builtins.input", "builtins.display")
"""Set by the shell itself as it runs cells."""
ADDED, SHADOW = "added ", "module "
"""Begin the names of what should not be there at all."""
CELL_WATCH = "_cellwright.cell_watch"
"""Our own, which looks at what each cell does."""
HOOKS = ("excepthook", "displayhook", "unraisablehook", "breakpointhook")
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def look(arguments: dict[str, Any], user: dict[str, Any]) -> dict[str, str]:
    """The process as it is: what could be changed, and what it is now, by name."""
    found: dict[str, str] = {}
    for name in WATCHED:
        module = sys.modules.get(name)
        if module is not None:
            _look_into(name, module, found)
    for name in HOOKS:
        found[f"sys.{name}"] = _of_cells([getattr(sys, name, None)])
    found["sys.settrace"] = str(sys.gettrace() is not None)
    found["sys.setprofile"] = str(sys.getprofile() is not None)
    found["sys.meta_path"] = _of_cells(sys.meta_path)
    found["sys.path_hooks"] = _of_cells(sys.path_hooks)
    _look_at_shell(found)
    _look_at_modules(found)
    _look_at_watchers(found)
    _look_at_classes(found)
    return found


def _look_into(name: str, module: Any, found: dict[str, str]) -> None:
    found[f"sys.modules[{name!r}]"] = f"{type(module).__name__} {id(module)}"
    for key, value in list(vars(module).items()):
        path = f"{name}.{key}"
        if path in MOVES:
            continue
        if not isinstance(value, type) and callable(value):
            found[path] = _identity(value)
        elif (
            isinstance(value, type) and value.__module__.partition(".")[0] == name.partition(".")[0]
        ):
            _look_into_class(path, value, found)


def _look_into_class(path: str, kind: type, found: dict[str, str]) -> None:
    found[path] = str(id(kind))
    for name, made in list(vars(kind).items()):
        if isinstance(made, FUNCTIONS):
            found[f"{path}.{name}"] = _identity(made)
        if _is_function_of_cell(getattr(made, "fget", made)):
            found[f"{ADDED}{path}.{name}"] = _identity(made)


def _identity(value: Any) -> str:
    # A bound method is another object each time.
    function = getattr(value, "__func__", value)
    code = getattr(function, "__code__", None)
    return f"{type(value).__name__} {id(function)} {id(code) if code is not None else ''}"


# What sees code as it runs, and could change a variable to what that code expects.


listening: list[Any] = []
heard: list[str] = []
"""Audit hooks that cells have added: Python lists none, but tells those before of new ones."""


def _hear(event: str, arguments: Any) -> None:
    if event == "sys.addaudithook" and not os.path.isfile(sys._getframe(1).f_code.co_filename):
        heard.append(event)


def _look_at_watchers(found: dict[str, str]) -> None:
    if _hear not in listening:
        watch: Any = sys.modules.get(CELL_WATCH)
        if watch is not None:
            watch.hear_changes()  # its hook, which the first cell would add, is none of a cell's
        listening.append(_hear)
        sys.addaudithook(_hear)
    found["sys.addaudithook"] = str(len(heard))
    found["gc.callbacks"] = _of_cells(gc.callbacks)
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    found["signal handlers"] = _of_cells([handler for handler in handlers if callable(handler)])
    apart = (threading.get_ident(), threading.main_thread().ident)
    running = [frame for ident, frame in sys._current_frames().items() if ident not in apart]
    found["threads"] = str(sum(map(_is_of_cell, running)))


def _is_of_cell(frame: Any) -> bool:
    """Whether code of a cell runs there."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "__main__":
            return True
        frame = frame.f_back
    return False


def _look_at_classes(found: dict[str, str]) -> None:
    """Classes of cells whose objects are equal to anything."""
    for kind in _subclasses(object, set()):
        method: Any = vars(kind).get("__eq__")
        if kind.__module__ == "__main__" and _is_function_of_cell(method):
            try:
                one: Any = next(base for base in kind.__mro__ if "__new__" in vars(base))
                is_equal = bool(method(one.__new__(kind), heard))
            except BaseException:  # whatever the class raises, it is not equal
                continue
            if is_equal:
                found[f"{ADDED}{kind.__qualname__}, equal to anything"] = ""


def _subclasses(kind: Any, seen: set[type]) -> set[type]:
    below: type
    for below in type.__subclasses__(kind):
        if below not in seen:
            seen.add(below)
            _subclasses(below, seen)
    return seen


def _look_at_shell(found: dict[str, str]) -> None:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not hasattr(shell, "kernel"):
        return
    manager = shell.input_transformer_manager
    for name in ("cleanup_transforms", "line_transforms", "token_transformers"):
        found[f"IPython {name}"] = _of_cells(getattr(manager, name))
    found["IPython input_transformers_post"] = _of_cells(shell.input_transformers_post)
    found["IPython ast_transformers"] = _of_cells(shell.ast_transformers)
    for event, callbacks in shell.events.callbacks.items():
        found[f"IPython event {event}"] = _of_cells(callbacks)
    for holder in (shell, shell.kernel, shell.kernel.session):
        own = [key for key, value in list(vars(holder).items()) if _is_function_of_cell(value)]
        found[f"IPython {type(holder).__name__}"] = str(sorted(own))


def _is_function_of_cell(value: Any) -> bool:
    return isinstance(value, FUNCTIONS) and getattr(value, "__module__", "") == "__main__"


def _of_cells(hooks: Any) -> str:
    """Those that were written in a cell; libraries have some of their own."""
    own = [one for one in hooks if "__main__" in (type(one).__module__, _module_of(one))]
    return str([_identity(one) for one in own])


def _module_of(value: Any) -> str:
    function = getattr(value, "__func__", value)
    return str(getattr(function, "__module__", ""))


def _look_at_modules(found: dict[str, str]) -> None:
    """Modules out of the sample's folder that stand in the place of others."""
    folder = os.getcwd()
    libraries: Any = getattr(sys, "stdlib_module_names", ())
    for name, module in list(sys.modules.items()):
        file = str(getattr(module, "__file__", None) or "")
        is_known = name in libraries or name in (
            "numpy",
            "pandas",
            "matplotlib",
            "scipy",
            "sklearn",
        )
        if is_known and os.path.dirname(os.path.abspath(file)) == folder and file:
            found[f"{SHADOW}{name}"] = file
    if builtins.__import__.__module__ != "builtins":
        found["builtins.__import__"] = _identity(builtins.__import__)
